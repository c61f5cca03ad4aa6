package scheduler

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// spread are n requests over sites.
func spread(sites, n int) []Child {
	var children []Child
	for i := range n {
		children = append(children, on(fmt.Sprint(i%sites), i))
	}
	return children
}

// setTotal sets the limit live; -1 takes it back.
func (k *kit) setTotal(n int) {
	k.t.Helper()
	change := Change{Live: map[string]string{"concurrent_requests_total": ""}}
	if n >= 0 {
		change = Change{Live: map[string]string{"concurrent_requests_total": fmt.Sprint(n)}, Total: n}
	}
	if _, err := k.client.SetControl(k.ctx, k.cfg.Spider, Keys{}, change); err != nil {
		k.t.Fatal(err)
	}
}

// The limit is the fleet's: whoever asks, and however a lease ends, which gives its place to the next.
func TestATotalOfRequestsInFlight(t *testing.T) {
	for name, end := range map[string]func(k *kit, l Lease){
		"committed": func(k *kit, l Lease) { k.commit(&Outcome{Lease: l, Children: []Child{on("new", 1)}}) },
		"expired":   func(k *kit, l Lease) { k.expire(l) },
		"landed":    func(k *kit, l Lease) { k.land(l); k.land(l) }, // a reply was lost
		"released": func(k *kit, l Lease) {
			if err := k.Release(k.ctx, []string{l.ID}); err != nil {
				k.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, Config{Total: 3, LeaseAttempts: 200}, func(t *testing.T, k *kit) {
				two := k.join()
				k.add(spread(40, 40)...)
				held := append(k.lease(2), k.exchange(two, nil, 9, 0).Leases...)
				if len(held) != 3 {
					t.Fatalf("%d leases where 3 may be", len(held))
				}
				for range 20 {
					x := k.exchange(two, nil, 9, 0)
					if len(x.Leases) > 0 || x.Wait < 500*time.Millisecond {
						t.Fatalf("%d leases beyond the limit, wait %s", len(x.Leases), x.Wait)
					}
					k.check()
					end(k, held[0])
					held = append(held[1:], k.exchange(k.Frontier, nil, 9, 0).Leases...)
					if len(held) != 3 {
						t.Fatalf("%d in flight after one has ended", len(held))
					}
				}
			})
		})
	}
}

// A page that has landed and then ends gives no second place.
func TestTheEndOfALandedPageGivesNoSecondPlace(t *testing.T) {
	each(t, Config{Total: 2}, func(t *testing.T, k *kit) {
		k.add(spread(9, 9)...)
		first := k.lease(9)
		k.land(first...)
		second := k.lease(9)
		if len(first) != 2 || len(second) != 2 {
			t.Fatalf("%d, then %d leases", len(first), len(second))
		}
		k.commit(&Outcome{Lease: first[0]})
		k.expire(first[1])
		if more := k.lease(9); len(more) > 0 {
			t.Errorf("%d leases beyond the limit", len(more))
		}
		k.check()
		k.finish(second)
		if more := k.lease(9); len(more) != 2 {
			t.Errorf("%d leases, want 2", len(more))
		}
		k.check()
	})
}

// Seeds are no requests to a site: they go on at the limit, and take no place.
func TestSeedsAreOutsideOfTheTotal(t *testing.T) {
	each(t, Config{Total: 1}, func(t *testing.T, k *kit) {
		k.add(spread(3, 3)...)
		k.PushSeedsTo(k.cfg.Spider, "one", "two", "three")
		x := k.exchange(k.Frontier, nil, 9, 9)
		var seeds, pages []Lease
		for _, l := range x.Leases {
			if l.Seed != nil {
				seeds = append(seeds, l)
			} else {
				pages = append(pages, l)
			}
		}
		if len(seeds) != 3 || len(pages) != 1 {
			t.Fatalf("%d seeds and %d pages", len(seeds), len(pages))
		}
		k.finish(pages)
		if got := k.lease(9); len(got) != 1 || got[0].Seed != nil {
			t.Errorf("leased %s beside seeds in work", paths(got))
		}
		k.land(seeds[0])
		k.finish(seeds)
		if got := k.lease(9); len(got) > 0 {
			t.Errorf("leased %s beyond the limit", paths(got))
		}
		k.PushSeedsTo(k.cfg.Spider, "four")
		if got := k.exchange(k.Frontier, nil, 9, 9).Leases; paths(got) != "four" {
			t.Errorf("leased %q at the limit", paths(got))
		}
		k.check()
	})
}

// What fails, comes again later, or is put back has its turn with a place for one request.
func TestATotalOfOneStarvesNothing(t *testing.T) {
	each(t, Config{Total: 1, Delay: 5 * time.Millisecond}, func(t *testing.T, k *kit) {
		two := k.join()
		later := on("later", 1)
		later.Delay = 30 * time.Millisecond
		k.add(append(spread(4, 12), later)...)
		want, done := 13, map[string]bool{}
		for i := 0; len(done) < want; i++ {
			f := k.Frontier
			if i%2 == 1 {
				f = two
			}
			l := k.await(f, 1)[0]
			if more := k.lease(5); len(more) > 0 {
				t.Fatalf("%d in flight", 1+len(more))
			}
			if i < 6 { // tried again, at once or after its time
				k.exchange(f, []*Outcome{{Lease: l, Children: []Child{{Request: l.Request, Force: true, Delay: time.Duration(i%2) * 20 * time.Millisecond}}}}, 0, 0)
				continue
			}
			done[l.Request.URL] = true
			k.exchange(f, []*Outcome{{Lease: l}}, 0, 0)
		}
		if s := k.check(); s.Pending+s.Delayed+s.InFlight > 0 {
			t.Errorf("%+v", s)
		}
	})
}

// Four workers that commit, release, land and lose leases as they come have never more requests in flight than the fleet may have, and all
// is done in the end.
func TestTheTotalIsExact(t *testing.T) {
	const most, workers = 5, 4
	each(t, Config{Total: most, LeaseAttempts: 200}, func(t *testing.T, k *kit) {
		k.add(spread(40, 400)...)
		var held, busiest atomic.Int64
		var wg sync.WaitGroup
		for w := range workers {
			f := k.join()
			wg.Go(func() { k.work(f, uint64(w), &held, &busiest) })
		}
		wg.Wait()
		if got := busiest.Load(); got > most || got < 2 {
			t.Errorf("up to %d requests in flight, want %d at most", got, most)
		}
		if s := k.check(); s.Pending+s.Delayed+s.InFlight > 0 {
			t.Errorf("%+v", s)
		}
	})
}

// work ends leases in all ways until nothing is left, and counts those that all workers hold: from when they are known to be held until
// just before they are ended.
func (k *kit) work(f *Frontier, seed uint64, held, busiest *atomic.Int64) {
	r := rand.New(rand.NewPCG(seed, 1))
	var outs []*Outcome
	for mine := int64(0); ; {
		var send []*Outcome
		if len(outs) > 4 || r.IntN(2) == 0 {
			send, outs = outs, nil
			held.Add(-mine)
			mine = 0
		}
		x, err := f.Exchange(k.ctx, send, 1+r.IntN(6), 0)
		if err != nil {
			k.t.Error(err)
			return
		}
		now := held.Add(int64(len(x.Leases)))
		for was := busiest.Load(); now > was && !busiest.CompareAndSwap(was, now); was = busiest.Load() {
		}
		for _, l := range x.Leases {
			mine++
			how := r.IntN(10)
			if how < 3 {
				mine--
				held.Add(-1)
			}
			switch how {
			case 0:
				err = f.Release(k.ctx, []string{l.ID})
				continue
			case 1: // it expires, and the commit comes too late
				err = k.rdb.ZAdd(k.ctx, k.keys.leases, z(1, redisID(l.ID))).Err()
			case 2:
				err = f.Land(k.ctx, []string{l.ID})
			}
			outs = append(outs, &Outcome{Lease: l})
		}
		if err != nil {
			k.t.Error(err)
		}
		if len(x.Leases)+len(outs) == 0 {
			idle, err := f.Idle(k.ctx)
			if err != nil || idle.Done() {
				return
			}
			sleep(k.ctx, min(x.Wait, 5*time.Millisecond))
		}
	}
}

// The leases of a worker that was killed hold their places until they expire, and no longer.
func TestPlacesOfAKilledWorkerComeBack(t *testing.T) {
	each(t, Config{Total: 2, Lease: 300 * time.Millisecond}, func(t *testing.T, k *kit) {
		killed := k.join()
		k.add(spread(4, 4)...)
		if got := k.exchange(killed, nil, 9, 0).Leases; len(got) != 2 {
			t.Fatalf("%d leases", len(got))
		}
		x := k.exchange(k.Frontier, nil, 9, 0)
		if len(x.Leases) != 0 || x.Wait > 300*time.Millisecond {
			t.Errorf("%d leases, wait %s", len(x.Leases), x.Wait)
		}
		if got := k.await(k.Frontier, 2); len(got) != 2 {
			t.Errorf("%d leases", len(got))
		}
		k.check()
	})
}

// Set live it holds for all from the next lease on: raised, lowered below what is in flight, taken back, 0.
func TestTheTotalIsLive(t *testing.T) {
	each(t, Config{Total: 2}, func(t *testing.T, k *kit) {
		k.add(spread(30, 30)...)
		held := k.lease(20)
		for _, c := range []struct{ set, most int }{{6, 6}, {3, 6}, {8, 8}, {-1, 8}, {0, 20}} {
			k.setTotal(c.set)
			held = append(held, k.lease(20-len(held))...)
			if len(held) != c.most {
				t.Errorf("set to %d: %d in flight, want %d", c.set, len(held), c.most)
			}
		}
		k.setTotal(-1)
		k.finish(held[:19])
		if got := k.lease(20); len(got) != 1 {
			t.Errorf("%d leases beside one under a limit of 2", len(got))
		}
		if left := k.rdb.HGet(k.ctx, k.keys.meta, "total").Val(); left != "2" {
			t.Errorf("the fleet's own limit is %q", left)
		}
	})
}

// A push brings another limit to workers that run.
func TestAPushedTotalHolds(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(spread(9, 9)...)
		cfg := k.cfg
		cfg.Total = 4
		if err := k.Agree(k.ctx, 0, cfg); err != nil {
			t.Fatal(err)
		}
		if got := k.lease(9); len(got) != 4 {
			t.Errorf("%d leases", len(got))
		}
	})
}

// A budget of pages empties a slot at the limit, too, once it has had them.
func TestATotalBesideABudget(t *testing.T) {
	each(t, Config{Total: 1, PagesPerSlot: 1}, func(t *testing.T, k *kit) {
		k.add(spread(3, 9)...)
		for range 3 {
			k.commit(page(k.await(k.Frontier, 1)[0]))
		}
		k.lease(9)
		if s := k.check(); s.Pending+s.InFlight > 0 {
			t.Errorf("%+v", s)
		}
	})
}

// People see that the fleet is what a site waits for, and not that the whole view is full.
func TestSlotsThatWaitForTheFleet(t *testing.T) {
	each(t, Config{Total: 1}, func(t *testing.T, k *kit) {
		k.add(spread(2, 4)...)
		if got := k.slot("0.test").Wait; got != WaitWorker {
			t.Errorf("with a place free it waits for %s", got)
		}
		l := k.lease(1)[0]
		view, err := k.client.Slots(k.ctx, k.cfg.Spider, Keys{}, 10)
		if err != nil || view.Total != 1 || view.InFlight != 1 || !view.Spent() {
			t.Fatalf("%+v, %v", view, err)
		}
		for _, s := range view.First {
			if s.Wait != WaitTotal && !s.Seeds() {
				t.Errorf("%s waits for %s", s.Name, s.Wait)
			}
		}
		k.land(l)
		if got := k.slot("0.test").Wait; got != WaitWorker {
			t.Errorf("with a place free again it waits for %s", got)
		}
	})
}

func TestATotalBelowNothingIsRefused(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		cfg := k.cfg
		cfg.Total = -1
		if _, err := Open(k.ctx, k.client, cfg); err == nil || !strings.Contains(err.Error(), "concurrent_requests_total -1: it is 0 or more") {
			t.Errorf("%v", err)
		}
	})
}
