package scheduler

import (
	"slices"
	"testing"
	"time"
)

// A deadly request takes its worker with it, and with the worker all that it was doing. After two such ends a request is
// leased only as the one suspect of a worker, so the harmless ones live on and the deadly one dies alone.
func TestDeadlyRequestTakesNoOthersWithIt(t *testing.T) {
	each(t, Config{LeaseAttempts: 4}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("deadly"), get("3"), get("4"), get("5"))
		done := map[string]bool{}
		for range 40 {
			worker := k.join()
			leases := k.exchange(worker, nil, 8, 0).Leases
			if i := slices.IndexFunc(leases, func(l Lease) bool { return paths([]Lease{l}) == "deadly" }); i >= 0 {
				k.expire(leases...) // the worker is dead
				continue
			}
			for _, l := range leases {
				done[paths([]Lease{l})] = true
				k.exchange(worker, []*Outcome{{Lease: l}}, 0, 0)
			}
			if k.check().Pending == 0 {
				break
			}
			sleep(k.ctx, 100*time.Millisecond)
		}
		s := k.check()
		if len(done) != 4 || s.Dead != 1 || s.Pending != 0 {
			t.Errorf("done %v, status %+v", done, s)
		}
	})
}

func TestOneSuspectAtATime(t *testing.T) {
	each(t, Config{LeaseAttempts: 9}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("3"))
		for range 2 {
			k.expire(k.lease(8)...)
		}
		first := k.lease(8)
		if paths(first) != "1" {
			t.Fatalf("leased %q, want one suspect", paths(first))
		}
		if other := k.exchange(k.join(), nil, 8, 0).Leases; len(other) > 1 {
			t.Errorf("another worker got %q", paths(other))
		}
		if again := k.lease(8); len(again) > 0 {
			t.Errorf("leased %q beside a suspect", paths(again))
		}
		k.finish(first)
		if next := k.await(k.Frontier, 1); len(next) != 1 {
			t.Errorf("leased %q after the suspect was done", paths(next))
		}
		k.check()
	})
}

func TestEnqueue(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		for i, want := range []int{2, 0, 1} {
			children := []Child{get("1"), get("2"), get("1")}
			if i == 2 {
				children = []Child{get("2"), get("3")}
			}
			added, _, err := k.Enqueue(k.ctx, children)
			if err != nil || added != want {
				t.Errorf("round %d: %d added (%v), want %d", i, added, err, want)
			}
		}
		if got := paths(k.lease(8)); got != "1 2 3" {
			t.Errorf("leased %q", got)
		}
		if s := k.check(); s.Enqueued != 3 || s.Done != 0 {
			t.Errorf("%+v", s)
		}
	})
}
