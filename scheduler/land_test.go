package scheduler

import (
	"testing"
	"time"
)

// land is Land that must succeed.
func (k *kit) land(leases ...Lease) {
	k.t.Helper()
	if err := k.Land(k.ctx, ids(leases)); err != nil {
		k.t.Fatal(err)
	}
}

// A page that has landed gives its slot's place back and keeps its lease; whatever ends that gives no second one.
func TestLandedPagesLeaveTheirSlots(t *testing.T) {
	for name, end := range map[string]func(k *kit, l Lease){
		"committed": func(k *kit, l Lease) { k.commit(&Outcome{Lease: l}) },
		"expired":   func(k *kit, l Lease) { k.expire(l); k.lease(0) },
		"released": func(k *kit, l Lease) {
			if err := k.Release(k.ctx, []string{l.ID}); err != nil {
				k.t.Fatal(err)
			}
		},
	} {
		for _, partition := range []Partition{PartitionHost, PartitionNone} {
			t.Run(name+" by "+string(partition), func(t *testing.T) {
				each(t, Config{Concurrency: 2, Partition: partition}, func(t *testing.T, k *kit) {
					var all []Child
					for _, path := range []string{"1", "2", "3", "4", "5", "6"} {
						all = append(all, get(path))
					}
					k.add(all...)
					first := k.await(k.Frontier, 2)
					if more := k.lease(9); len(more) > 0 {
						t.Fatalf("leased past the concurrency: %s", paths(more))
					}
					k.land(first[0], first[0])
					k.check()
					k.land(first[0], first[0]) // a reply was lost
					k.check()
					second := k.lease(9)
					if paths(second) != "3" {
						t.Fatalf("leased %q in the place of one that has landed", paths(second))
					}
					end(k, first[0])
					k.check()
					k.land(first[0]) // too late
					if more := k.lease(9); len(more) > 0 {
						t.Errorf("the end of one that had landed gave another place: %s", paths(more))
					}
					k.commit(&Outcome{Lease: first[1]})
					k.check()
					if third := k.lease(9); len(third) != 1 {
						t.Errorf("leased %q after a commit", paths(third))
					}
					k.check()
				})
			})
		}
	}
}

// Retry-After holds a slot for the fleet also when the page that met it has landed.
func TestLandedPageHoldsItsSlot(t *testing.T) {
	each(t, Config{Concurrency: 1}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"))
		l := k.await(k.Frontier, 1)
		k.land(l...)
		k.commit(&Outcome{Lease: l[0], Hold: time.Hour})
		if more := k.lease(9); len(more) > 0 {
			t.Errorf("leased %q", paths(more))
		}
		k.check()
	})
}

// A budget of pages is exact because each lease holds its place until its page is counted.
func TestLandingBreaksNoBudget(t *testing.T) {
	each(t, Config{Concurrency: 8, PagesPerSlot: 3}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("3"), get("4"), get("5"))
		l := k.await(k.Frontier, 3)
		k.land(l...)
		if more := k.lease(9); len(more) > 0 {
			t.Errorf("leased %q past a budget of 3", paths(more))
		}
		k.check()
	})
}

// What has landed is fenced as before, and one that somebody has spoilt is left alone.
func TestLandedPagesAreFenced(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		l := k.await(k.Frontier, 1)
		k.land(l...)
		k.expire(l...)
		again := k.await(k.Frontier, 1)
		if x := k.exchange(k.Frontier, []*Outcome{full(l[0])}, 0, 0); x.Stored[0] {
			t.Error("the outcome of a lease that has expired was stored")
		}
		k.land(l...) // it has a new lease, which this does not touch
		k.check()
		if left := k.rdb.HGet(k.ctx, k.keys.busy, "a.test").Val(); left != "1" {
			t.Errorf("%q leases in flight", left)
		}
		k.rdb.HSet(k.ctx, k.keys.inflight, redisID(again[0].ID), "spoilt")
		k.land(again...)
		if left := k.rdb.HGet(k.ctx, k.keys.inflight, redisID(again[0].ID)).Val(); left != "spoilt" {
			t.Errorf("a spoilt record became %q", left)
		}
	})
}
