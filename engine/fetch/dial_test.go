package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestRace: who gets the connection when a name has several addresses, and when. "!" fails, "." never answers.
func TestRace(t *testing.T) {
	t.Parallel()
	type tries map[string]string
	for _, c := range []struct {
		name  string
		addrs []string
		tries tries
		want  string // "" is an error
		took  time.Duration
	}{
		{"one", []string{"1.0.0.1"}, tries{}, "1.0.0.1", 0},
		{"the first of a family", []string{"1.0.0.1", "1.0.0.2"}, tries{}, "1.0.0.1", 0},
		{"the second when the first fails", []string{"1.0.0.1", "1.0.0.2"}, tries{"1.0.0.1": "!"}, "1.0.0.2", 0},
		{"the second when the first is silent", []string{"1.0.0.1", "1.0.0.2"}, tries{"1.0.0.1": "."}, "1.0.0.2", 5 * time.Second},
		{"the better family", []string{"2000::1", "1.0.0.1"}, tries{}, "2000::1", 0},
		{"the other when the first is silent", []string{"2000::1", "1.0.0.1"}, tries{"2000::1": "."}, "1.0.0.1", headStart},
		{"the other at once when the first fails", []string{"2000::1", "1.0.0.1"}, tries{"2000::1": "!"}, "1.0.0.1", 0},
		{"all fail", []string{"2000::1", "1.0.0.1"}, tries{"2000::1": "!", "1.0.0.1": "!"}, "", 0},
		{"all are silent", []string{"2000::1", "1.0.0.1", "1.0.0.2"}, tries{"2000::1": ".", "1.0.0.1": ".", "1.0.0.2": "."}, "", 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				var addrs []netip.Addr
				for _, a := range c.addrs {
					addrs = append(addrs, netip.MustParseAddr(a))
				}
				start := time.Now()
				conn, err := race(ctx, addrs, func(ctx context.Context, a netip.Addr) (net.Conn, error) {
					switch c.tries[a.String()] {
					case "!":
						return nil, errors.New("refused")
					case ".":
						<-ctx.Done()
						return nil, ctx.Err()
					}
					return named{addr: a.String()}, nil
				})
				got := ""
				if err == nil {
					got = conn.(named).addr
				}
				if took := time.Since(start); got != c.want || took != c.took {
					t.Errorf("%q after %v (%v), want %q after %v", got, took, err, c.want, c.took)
				}
			})
		})
	}
}

type named struct {
	net.Conn
	addr string
}

// A connection that comes second is closed.
func TestRaceClosesTheLoser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var closed []string
		conn, err := race(t.Context(), []netip.Addr{netip.MustParseAddr("2000::1"), netip.MustParseAddr("1.0.0.1")}, func(_ context.Context, a netip.Addr) (net.Conn, error) {
			if a.Is6() {
				<-time.After(time.Second) // deaf to its context
			}
			return closer{a.String(), func(s string) { mu.Lock(); closed = append(closed, s); mu.Unlock() }}, nil
		})
		if err != nil || conn.(closer).addr != "1.0.0.1" {
			t.Fatalf("%v, %v", conn, err)
		}
		<-time.After(2 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(closed, []string{"2000::1"}) {
			t.Errorf("closed %v", closed)
		}
	})
}

type closer struct {
	addr string
	note func(string)
}

func (c closer) Close() error                     { c.note(c.addr); return nil }
func (closer) Read([]byte) (int, error)           { return 0, net.ErrClosed }
func (closer) Write([]byte) (int, error)          { return 0, net.ErrClosed }
func (closer) LocalAddr() net.Addr                { return nil }
func (closer) RemoteAddr() net.Addr               { return nil }
func (closer) SetDeadline(time.Time) error        { return nil }
func (closer) SetReadDeadline(t time.Time) error  { return nil }
func (closer) SetWriteDeadline(t time.Time) error { return nil }
