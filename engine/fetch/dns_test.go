package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var errNoHost = &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}

// asked is a resolver on a lookup that counts, and the count.
func askedResolver(fixed map[string][]netip.Addr, answer func(name string) ([]netip.Addr, time.Duration, error)) (*resolver, *atomic.Int32) {
	n := &atomic.Int32{}
	return newResolver(fixed, time.Minute, func(_ context.Context, name string) ([]netip.Addr, time.Duration, error) {
		n.Add(1)
		return answer(name)
	}), n
}

func TestAnswersAreKeptForAsLongAsTheySay(t *testing.T) {
	t.Parallel()
	one := []netip.Addr{netip.MustParseAddr("192.0.2.1")}
	for _, c := range []struct {
		name string
		ttl  time.Duration
		err  error
		want time.Duration
	}{
		{"as said", 90 * time.Second, nil, 90 * time.Second},
		{"a day is too long", 24 * time.Hour, nil, time.Hour},
		{"less than a second is too short", 10 * time.Millisecond, nil, time.Second},
		{"unknown", 0, nil, 10 * time.Second},
		{"no such name", 10 * time.Second, errNoHost, 10 * time.Second},
		{"no such name for a day", 24 * time.Hour, errNoHost, 30 * time.Second},
		{"no server answers", 0, errors.New("i/o timeout"), time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, asked := askedResolver(nil, func(string) ([]netip.Addr, time.Duration, error) { return one, c.ttl, c.err })
				want := func(n int32) {
					t.Helper()
					if _, err := r.addresses(t.Context(), "A.example"); !errors.Is(err, c.err) {
						t.Errorf("error %v", err)
					}
					if got := asked.Load(); got != n {
						t.Errorf("asked %d times, want %d", got, n)
					}
				}
				want(1)
				<-time.After(c.want - time.Nanosecond) // the bubble's clock
				want(1)
				<-time.After(time.Nanosecond)
				want(2)
			})
		})
	}
}

func TestLookupsOfOneNameAreOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r, asked := askedResolver(nil, func(string) ([]netip.Addr, time.Duration, error) {
			<-release
			return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, time.Minute, nil
		})
		impatient, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := r.addresses(impatient, "a.example"); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v of the one who left", err)
			}
		})
		synctest.Wait() // the impatient one is first
		for range 20 {
			all.Go(func() {
				if addrs, err := r.addresses(t.Context(), "a.example"); err != nil || len(addrs) != 1 {
					t.Errorf("%v, %v", addrs, err)
				}
			})
		}
		synctest.Wait()
		leave()
		synctest.Wait()
		close(release)
		all.Wait()
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestKeptNamesAreBounded(t *testing.T) {
	t.Parallel()
	r, _ := askedResolver(nil, func(string) ([]netip.Addr, time.Duration, error) { return nil, time.Hour, errNoHost })
	for i := range cachedNames + 100 {
		_, _ = r.addresses(t.Context(), fmt.Sprint("n", i, ".example"))
	}
	if n := r.cache.Len(); n != cachedNames {
		t.Errorf("%d names are kept", n)
	}
}

func TestResolveNeedsNoDNS(t *testing.T) {
	t.Parallel()
	fixed := map[string][]netip.Addr{"shop.example": {netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")}}
	r, asked := askedResolver(fixed, func(string) ([]netip.Addr, time.Duration, error) { return nil, 0, errNoHost })
	for host, want := range map[string]int{"shop.example": 2, "SHOP.example.": 2, "10.1.1.1": 1, "::1": 1, "www.shop.example": 0} {
		addrs, err := r.addresses(t.Context(), host)
		if len(addrs) != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %v, %v", host, addrs, err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}
