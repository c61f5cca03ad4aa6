package scheduler

import (
	"fmt"
	"testing"
	"time"
)

// member is what one of several workers has in flight.
type member struct {
	*Frontier
	held []Lease
	done int
}

// turn brings the oldest page back and takes as many others as it gets.
func (h *member) turn(k *kit) {
	k.t.Helper()
	var outs []*Outcome
	if len(h.held) > 0 {
		outs, h.held = append(outs, &Outcome{Lease: h.held[0]}), h.held[1:]
		h.done++
	}
	h.held = append(h.held, k.exchange(h.Frontier, outs, 20, 0).Leases...)
}

// Whoever commits has its places again before others ask. All the same each worker gets its share, whoever was first; and none of them waits
// for one that has no use for its own.
func TestPlacesAreShared(t *testing.T) {
	for _, c := range []struct{ total, workers, least int }{{8, 2, 4}, {5, 2, 2}, {4, 3, 1}, {9, 3, 3}, {2, 2, 1}} {
		t.Run(fmt.Sprintf("%d places of %d workers", c.total, c.workers), func(t *testing.T) {
			each(t, Config{Total: c.total}, func(t *testing.T, k *kit) {
				k.add(spread(50, 500)...)
				all := []*member{{Frontier: k.Frontier}}
				for range c.workers - 1 {
					all = append(all, &member{Frontier: k.join()})
				}
				for range 30 {
					for _, h := range all {
						h.turn(k)
					}
				}
				before := make([]int, len(all))
				for i, h := range all {
					before[i] = h.done
					if len(h.held) < c.least {
						t.Errorf("worker %d has %d in flight, want %d at least", i, len(h.held), c.least)
					}
				}
				for range 30 {
					for _, h := range all {
						h.turn(k)
					}
				}
				for i, h := range all {
					if n := h.done - before[i]; n != 30 {
						t.Errorf("worker %d has done %d pages in 30 turns", i, n)
					}
				}
				k.uncrowd()
				first := all[0]
				for _, h := range all[1:] {
					for _, l := range h.held {
						k.exchange(h.Frontier, []*Outcome{{Lease: l}}, 0, 0)
					}
				}
				if first.turn(k); len(first.held) != c.total {
					t.Errorf("%d in flight, and nobody wants the rest of %d", len(first.held), c.total)
				}
				k.check()
			})
		})
	}
}

// While others have found no place lately nobody grows beyond its share; what has landed, was lost or handed back does not count as its own.
func TestAWorkerKeepsToItsShareWhileOthersWait(t *testing.T) {
	each(t, Config{Total: 4}, func(t *testing.T, k *kit) {
		k.add(spread(50, 100)...)
		one, two := &member{Frontier: k.Frontier}, &member{Frontier: k.join()}
		one.turn(k)
		two.turn(k)
		if len(one.held) != 4 || len(two.held) != 0 {
			t.Fatalf("%d and %d in flight", len(one.held), len(two.held))
		}
		k.land(one.held[0])
		k.expire(one.held[1])
		if _, err := k.Extend(k.ctx, ids(one.held)); err != nil { // it had expired only by its time
			t.Fatal(err)
		}
		if err := k.Release(k.ctx, ids(one.held[1:])); err != nil {
			t.Fatal(err)
		}
		one.held = nil
		one.turn(k)
		if len(one.held) != 2 {
			t.Errorf("%d in flight, want a share of 2", len(one.held))
		}
		if err := two.Close(k.ctx); err != nil {
			t.Fatal(err)
		}
		if one.turn(k); len(one.held) != 4 {
			t.Errorf("%d in flight of a worker that is alone, want 4", len(one.held))
		}
	})
}

// A worker alone never looks as if somebody waited, and a crawl without a limit keeps nothing of it.
func TestNobodyWaitsWhereThereIsRoom(t *testing.T) {
	for _, total := range []int{0, 3} {
		t.Run(fmt.Sprint(total), func(t *testing.T) {
			each(t, Config{Total: total}, func(t *testing.T, k *kit) {
				k.add(spread(9, 9)...)
				one := &member{Frontier: k.Frontier}
				for range 12 {
					one.turn(k)
				}
				if k.rdb.HExists(k.ctx, k.keys.meta, "crowded").Val() {
					t.Error("somebody waits")
				}
			})
		})
	}
}

// An older version's commit of a page that has landed leaves its count behind, which is gone once nothing is leased.
func TestCountsOfAnOlderVersionEnd(t *testing.T) {
	each(t, Config{Total: 2}, func(t *testing.T, k *kit) {
		k.add(spread(9, 9)...)
		k.rdb.HSet(k.ctx, k.keys.busy, "@landed", 3, "@seeds", 1)
		l := k.lease(9)
		if len(l) != 2 {
			t.Errorf("%d leases, want 2", len(l))
		}
		k.check()
		k.land(l[0])
		if got := k.lease(9); len(got) != 1 {
			t.Errorf("%d leases beside a page that has landed", len(got))
		}
		k.check()
	})
}

// Slots that are due and have nothing do not hide those behind them, however few places there are.
func TestAPlaceFindsWorkBehindEmptySlots(t *testing.T) {
	each(t, Config{Total: 1}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		for i := range 100 {
			k.rdb.ZAdd(k.ctx, k.keys.slots, z(1, fmt.Sprint("empty", i)))
		}
		if got := k.lease(200); paths(got) != "1" {
			t.Errorf("leased %q", paths(got))
		}
	})
}

// uncrowd lets the time pass for which workers keep to their share.
func (k *kit) uncrowd() {
	k.rdb.HSet(k.ctx, k.keys.meta, "crowded", k.now().Add(-1500*time.Millisecond).UnixMilli())
}
