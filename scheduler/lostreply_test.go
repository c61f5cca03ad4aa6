package scheduler

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"luacrawl/scheduler/redistest"
)

// cuttingProxy passes connections on to a server, reply by reply. Once armed, it breaks the next connection that runs scripts after some
// of their replies: all of them have been carried out, and the other replies are lost.
type cuttingProxy struct {
	server string
	url    string
	armed  atomic.Bool
	pass   atomic.Int32 // replies that come through before the cut
	cuts   atomic.Int32
}

func newCuttingProxy(t *testing.T, server string) *cuttingProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &cuttingProxy{server: strings.TrimSuffix(strings.TrimPrefix(server, "redis://"), "/0"), url: "redis://" + l.Addr().String() + "/0"}
	var open sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); l.Close(); open.Wait() })
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { p.relay(ctx, conn) })
		}
	})
	return p
}

// cutAfter loses what comes after so many replies to the next scripts.
func (p *cuttingProxy) cutAfter(replies int) {
	p.pass.Store(int32(replies))
	p.armed.Store(true)
}

func (p *cuttingProxy) relay(ctx context.Context, client net.Conn) {
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		client.Close()
		return
	}
	stop := context.AfterFunc(ctx, func() { client.Close(); server.Close() })
	defer stop()
	var both sync.WaitGroup
	var cutting atomic.Bool
	both.Go(func() {
		defer server.Close()
		buf := make([]byte, 1<<20)
		for {
			n, err := client.Read(buf)
			if err != nil {
				return
			}
			if bytes.Contains(bytes.ToLower(buf[:n]), []byte("evalsha")) && p.armed.CompareAndSwap(true, false) {
				cutting.Store(true)
			}
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
	})
	both.Go(func() {
		defer client.Close()
		replies := bufio.NewReader(server)
		for {
			reply, err := readReply(replies)
			if err != nil {
				return
			}
			if cutting.Load() && p.pass.Add(-1) < 0 {
				p.cuts.Add(1)
				return
			}
			if _, err := client.Write(reply); err != nil {
				return
			}
		}
	})
	both.Wait()
}

// readReply reads one whole reply, of RESP2 or RESP3, as it is on the wire.
func readReply(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(line[1:])))
	switch line[0] {
	case '$', '=', '!':
		if n < 0 {
			return line, nil
		}
		text := make([]byte, n+2)
		_, err := io.ReadFull(r, text)
		return append(line, text...), err
	case '%':
		n *= 2
	case '*', '~', '>':
	default:
		return line, nil
	}
	for range n {
		part, err := readReply(r)
		if err != nil {
			return nil, err
		}
		line = append(line, part...)
	}
	return line, nil
}

// TestLeaseWhoseReplyIsLost: what was handed out in a reply that did not arrive comes with the next one, at once and not after the lease
// has expired; nothing else is handed out in its place.
func TestLeaseWhoseReplyIsLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		commit  bool // the question rides with a commit
		replies int  // that arrive before the connection breaks
	}{
		{"alone", false, 0},
		{"with the commit before it", true, 0},
		{"after that of the commit before it", true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, url string) {
				p := newCuttingProxy(t, url)
				k := newKit(t, p.url, Config{Lease: time.Hour})
				k.add(get("0"), get("1"), get("2"), get("3"), get("4"), get("5"), get("6"))
				first := k.lease(1)
				var outcomes []*Outcome
				if c.commit {
					outcomes = append(outcomes, &Outcome{Lease: first[0], Items: [][]byte{[]byte("{}")}})
				}
				p.cutAfter(c.replies)
				x := k.exchange(k.Frontier, outcomes, 3, 0)
				if n := p.cuts.Load(); n != 1 {
					t.Fatalf("%d replies were lost, want 1", n)
				}
				if got := paths(x.Leases); got != "1 2 3" {
					t.Fatalf("the lease whose reply was lost gave %q when it was asked again, want the same leases, 1 2 3", got)
				}
				if c.commit && !x.Stored[0] {
					t.Error("the outcome beside it was refused")
				}
				rest := k.lease(10)
				if got := paths(rest); got != "4 5 6" {
					t.Errorf("the next lease gave %q, want 4 5 6", got)
				}
				k.finish(append(x.Leases, rest...))
				if !c.commit {
					k.finish(first)
				}
				if s := k.check(); s.Done != 8 || s.Enqueued != 8 || s.Items != int64(len(outcomes)) {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// TestLeaseAsksForAnEarlierAnswerOnlyAfterAFailure: the search for it costs a tenth of a lease.
func TestLeaseAsksForAnEarlierAnswerOnlyAfterAFailure(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		a := ask{want: 1, nonce: nonce()}
		for _, want := range []bool{false, true} {
			if a.asked != want {
				t.Errorf("asked is %v, want %v", a.asked, want)
			}
			var x Exchanged
			if err := k.ask(k.ctx, &x, &a, nil, nil); err != nil || paths(x.Leases) != "1" {
				t.Errorf("leased %q, %v", paths(x.Leases), err)
			}
		}
	})
}

// TestLeaseThatIsAskedAgainStartsThen: its page is fetched when the second answer comes, so the slot's delay counts from there.
func TestLeaseThatIsAskedAgainStartsThen(t *testing.T) {
	for name, concurrency := range map[string]int{"free": 8, "parked": 1} {
		t.Run(name, func(t *testing.T) {
			const delay = time.Hour
			each(t, Config{Delay: delay, Concurrency: concurrency}, func(t *testing.T, k *kit) {
				k.add(get("1"), get("2"), on("b", 1), on("b", 2))
				var x Exchanged
				a := ask{want: 4, nonce: nonce()}
				if err := k.ask(k.ctx, &x, &a, nil, nil); err != nil || len(x.Leases) != 2 {
					t.Fatalf("leased %q, %v", paths(x.Leases), err)
				}
				for _, slot := range []string{"a.test", "b.test"} { // as if the delay were nearly over
					k.rdb.ZIncrBy(k.ctx, k.keys.slots, -float64(delay.Milliseconds()-1000), slot)
				}
				x = Exchanged{}
				if err := k.ask(k.ctx, &x, &a, nil, nil); err != nil || len(x.Leases) != 2 {
					t.Fatalf("leased %q when asked again, %v", paths(x.Leases), err)
				}
				for _, slot := range []string{"a.test", "b.test"} {
					next, parked := k.score(slot), 0.0
					if concurrency == 1 {
						parked = 1e15
					}
					if want := parked + float64(x.Now.Add(delay).UnixMilli()); next != want {
						t.Errorf("%s starts next at %.0f, want %.0f", slot, next, want)
					}
				}
				k.check()
			})
		})
	}
}

// TestLeaseThatIsAskedAgainTooLateGoesBack: another page of the slot has started meanwhile, and the delay after that one is not over.
func TestLeaseThatIsAskedAgainTooLateGoesBack(t *testing.T) {
	const delay = time.Hour
	each(t, Config{Delay: delay}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), on("b", 1))
		var x Exchanged
		a := ask{want: 4, nonce: nonce()}
		if err := k.ask(k.ctx, &x, &a, nil, nil); err != nil || len(x.Leases) != 2 {
			t.Fatalf("leased %q, %v", paths(x.Leases), err)
		}
		before := k.check()
		k.rdb.ZIncrBy(k.ctx, k.keys.slots, -float64(delay.Milliseconds()), "a.test") // the delay is over,
		other := k.await(k.join(), 1)                                                // and another worker starts the next one
		next := k.score("a.test")
		x = Exchanged{}
		if err := k.ask(k.ctx, &x, &a, nil, nil); err != nil || len(x.Leases) != 1 || x.Leases[0].Slot != "b.test" {
			t.Fatalf("leased %q when asked again, want that of b, %v", paths(x.Leases), err)
		}
		if now := k.score("a.test"); now != next {
			t.Errorf("the slot starts next at %.0f, want %.0f", now, next)
		}
		if s := k.check(); paths(other) != "2" || s.Pending != before.Pending || s.InFlight != 2 {
			t.Errorf("leased %q by the other, %+v", paths(other), s)
		}
	})
}

// TestFirstCopyOfAQuestionThatComesLast finds leases that run: it changes nothing, neither theirs nor their slots', though another page of
// a slot has started since.
func TestFirstCopyOfAQuestionThatComesLast(t *testing.T) {
	const delay = time.Hour
	each(t, Config{Delay: delay}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("3"), on("b", 1), on("b", 2))
		var x Exchanged
		a := ask{want: 4, nonce: nonce()}
		late := a
		if err := k.ask(k.ctx, &x, &a, nil, nil); err != nil || len(x.Leases) != 2 {
			t.Fatalf("leased %q, %v", paths(x.Leases), err)
		}
		k.rdb.ZIncrBy(k.ctx, k.keys.slots, -float64(delay.Milliseconds()), "a.test")
		k.await(k.join(), 1)
		for _, running := range []int{2, 1} {
			before, starts := k.rdb.HGetAll(k.ctx, k.keys.inflight).Val(), k.rdb.ZRangeWithScores(k.ctx, k.keys.slots, 0, -1).Val()
			copied := late
			x = Exchanged{}
			if err := k.ask(k.ctx, &x, &copied, nil, nil); err != nil || len(x.Leases) != running {
				t.Errorf("the late copy leased %q, %v", paths(x.Leases), err)
			}
			if after := k.rdb.HGetAll(k.ctx, k.keys.inflight).Val(); !maps.Equal(before, after) {
				t.Errorf("in flight: %q, before the late copy %q", after, before)
			}
			if after := k.rdb.ZRangeWithScores(k.ctx, k.keys.slots, 0, -1).Val(); !slices.Equal(starts, after) {
				t.Errorf("slots: %v, before the late copy %v", after, starts)
			}
			k.rdb.HDel(k.ctx, k.keys.inflight, a.nonce+":1") // the first of them has ended
			k.rdb.ZRem(k.ctx, k.keys.leases, a.nonce+":1")
		}
	})
}

// TestLeaseThatIsAskedAgainLastsALease: the worker begins its page now. In a slot that is held meanwhile the page goes back, with a delay or without.
func TestLeaseThatIsAskedAgainLastsALease(t *testing.T) {
	each(t, Config{Lease: time.Hour}, func(t *testing.T, k *kit) {
		k.add(get("1"), on("b", 1))
		var x Exchanged
		a := ask{want: 2, nonce: nonce()}
		if err := k.ask(k.ctx, &x, &a, nil, nil); err != nil || len(x.Leases) != 2 {
			t.Fatalf("leased %q, %v", paths(x.Leases), err)
		}
		soon := float64(time.Now().Add(time.Minute).UnixMilli())
		for i := 1; i <= 2; i++ { // as if the lease were nearly over, with the start that it began with
			k.rdb.ZAdd(k.ctx, k.keys.leases, redis.Z{Score: soon, Member: a.nonce + ":" + strconv.Itoa(i)})
		}
		k.rdb.ZAdd(k.ctx, k.keys.slots, redis.Z{Score: soon, Member: "b.test"}) // Retry-After of another page
		x = Exchanged{}
		if err := k.ask(k.ctx, &x, &a, nil, nil); err != nil || paths(x.Leases) != "1" {
			t.Fatalf("leased %q when asked again, want the page of a, %v", paths(x.Leases), err)
		}
		for _, l := range k.rdb.ZRangeWithScores(k.ctx, k.keys.leases, 0, -1).Val() {
			if want := float64(x.Now.Add(time.Hour).UnixMilli()); l.Score != want {
				t.Errorf("the lease ends at %.0f, want %.0f", l.Score, want)
			}
		}
	})
}
