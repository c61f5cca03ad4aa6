package scheduler

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// on is a child on a host of its own name.
func on(host string, i int) Child {
	return Child{Request: &Request{URL: fmt.Sprintf("http://%s.test/%d", host, i)}}
}

func (k *kit) score(slot string) float64 {
	k.t.Helper()
	v, err := k.rdb.ZScore(k.ctx, k.keys.slots, slot).Result()
	if err != nil {
		k.t.Fatalf("slot %s: %v", slot, err)
	}
	return v
}

func TestDelayPerSlot(t *testing.T) {
	const delay = 80 * time.Millisecond
	each(t, Config{Delay: delay}, func(t *testing.T, k *kit) {
		two := k.join()
		k.add(on("a", 1), on("a", 2), on("a", 3), on("b", 1))
		began := time.Now() // before the first lease: a slow machine only makes it longer
		if got := len(k.lease(10)); got != 2 {
			t.Fatalf("%d leases at once of two slots", got)
		}
		k.check()
		first := k.score("a.test")
		k.await(two, 1)
		k.await(k.Frontier, 1)
		if took := time.Since(began); took < 2*delay-2*time.Millisecond {
			t.Errorf("two more starts after %s", took)
		}
		if second := k.score("a.test"); second < first+float64(2*delay.Milliseconds()) {
			t.Errorf("next starts %v and %v", first, second)
		}
	})
}

func TestDelayHoldsForASlotRefilledAfterEmpty(t *testing.T) {
	each(t, Config{Delay: 10 * time.Second}, func(t *testing.T, k *kit) {
		k.add(on("a", 1))
		leases := k.lease(10)
		k.commit(&Outcome{Lease: leases[0], Children: []Child{on("a", 2)}})
		if x := k.exchange(k.Frontier, nil, 10, 0); len(x.Leases) != 0 || x.Wait < 500*time.Millisecond {
			t.Errorf("leased %s, wait %s", paths(x.Leases), x.Wait)
		}
		k.check()
	})
}

func TestEmptySlotGoesWhenItsTimeHasPassed(t *testing.T) {
	each(t, Config{Delay: 20 * time.Millisecond}, func(t *testing.T, k *kit) {
		k.add(on("a", 1))
		k.finish(k.lease(10))
		for k.check().Slots > 0 {
			sleep(k.ctx, k.exchange(k.Frontier, nil, 1, 0).Wait)
		}
	})
}

func TestConcurrencyParks(t *testing.T) {
	each(t, Config{Concurrency: 2}, func(t *testing.T, k *kit) {
		k.add(on("a", 1), on("a", 2), on("a", 3), on("a", 4), on("b", 1))
		leases := k.lease(10)
		if len(leases) != 3 {
			t.Fatalf("leased %s", paths(leases))
		}
		if k.score("a.test") < 1e15 {
			t.Error("a slot at its limit is not parked")
		}
		k.check()
		if x := k.exchange(k.Frontier, nil, 10, 0); len(x.Leases) != 0 {
			t.Errorf("leased %s over the limit", paths(x.Leases))
		}
		k.commit(&Outcome{Lease: leases[0]})
		if k.score("a.test") >= 1e15 {
			t.Error("still parked after a commit")
		}
		if got := k.lease(10); len(got) != 1 {
			t.Errorf("leased %s", paths(got))
		}
		k.check()
	})
}

func TestUnparkByReleaseAndExpiry(t *testing.T) {
	each(t, Config{Concurrency: 1}, func(t *testing.T, k *kit) {
		k.add(on("a", 1))
		if err := k.Release(k.ctx, ids(k.lease(1))); err != nil {
			t.Fatal(err)
		}
		if k.score("a.test") >= 1e15 {
			t.Error("parked after a release")
		}
		k.expire(k.lease(1)[0])
		if l := k.lease(1); len(l) != 1 || l[0].Attempts != 1 {
			t.Errorf("after expiry: %+v", l)
		}
		k.check()
	})
}

func TestParkedSlotKeepsItsTime(t *testing.T) {
	each(t, Config{Concurrency: 1, Delay: 10 * time.Second}, func(t *testing.T, k *kit) {
		k.add(on("a", 1), on("a", 2))
		l := k.lease(1)[0]
		parked := k.score("a.test")
		k.commit(&Outcome{Lease: l})
		if got := k.score("a.test"); got != parked-1e15 {
			t.Errorf("parked %f, then %f", parked, got)
		}
	})
}

func TestRules(t *testing.T) {
	each(t, Config{Delay: 10 * time.Second, Concurrency: 1}, func(t *testing.T, k *kit) {
		k.rdb.HSet(k.ctx, k.keys.rules, "a.test", "0 3", "b.test", "nonsense")
		k.add(on("a", 1), on("a", 2), on("a", 3), on("a", 4), on("b", 1), on("b", 2))
		count := map[string]int{}
		for _, l := range k.lease(10) {
			count[l.Slot]++
		}
		if count["a.test"] != 3 || count["b.test"] != 1 {
			t.Errorf("leased %v", count)
		}
		k.check()
	})
}

func TestHold(t *testing.T) {
	each(t, Config{Delay: 5 * time.Second}, func(t *testing.T, k *kit) {
		k.add(on("a", 1), on("a", 2), on("b", 1), on("b", 2), on("c", 1))
		now := k.rdb.Time(k.ctx).Val().UnixMilli()
		for _, l := range k.lease(10) {
			o := &Outcome{Lease: l}
			switch l.Slot {
			case "a.test":
				o.Hold = time.Minute
			case "b.test":
				o.Hold = time.Millisecond // the slot's own time is later
			case "c.test":
				o.Hold = time.Minute // its queue is empty
			}
			k.commit(o)
		}
		for slot, least := range map[string]float64{"a.test": 60_000, "b.test": 5_000, "c.test": 60_000} {
			if got := k.score(slot) - float64(now); got < least || got > least+5_000 {
				t.Errorf("%s is due in %v ms, want %v", slot, got, least)
			}
		}
		k.check()
	})
}

func TestDueLongestGoesFirst(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(on("big", 1), on("big", 2), on("big", 3))
		k.rdb.ZAdd(k.ctx, k.keys.slots, z(1, "big.test"))
		k.add(on("small", 1))
		k.rdb.ZAdd(k.ctx, k.keys.slots, z(0, "small.test"))
		if l := k.lease(1); l[0].Slot != "small.test" {
			t.Errorf("first %s", l[0].Slot)
		}
	})
}

func TestDelayed(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		later, soon, past := get("later"), get("soon"), get("past")
		later.Request.NotBefore = k.rdb.Time(k.ctx).Val().Add(time.Hour)
		later.Delay = time.Millisecond
		soon.Delay = 300 * time.Millisecond
		past.Request.NotBefore = time.UnixMilli(1)
		k.add(later, soon, past)
		if s := k.check(); s.Delayed != 2 || s.Pending != 1 {
			t.Errorf("%+v", s)
		}
		if got := paths(k.lease(1)); got != "past" {
			t.Errorf("leased %s", got)
		}
		if got := paths(k.await(k.Frontier, 1)); got != "soon" {
			t.Errorf("leased %s", got)
		}
		if s := k.check(); s.Delayed != 1 {
			t.Errorf("%+v", s)
		}
		if x := k.exchange(k.Frontier, nil, 1, 0); len(x.Leases) != 0 || x.Pending != 1 {
			t.Errorf("leased %s, pending %d", paths(x.Leases), x.Pending)
		}
	})
}

func TestPaused(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"))
		k.expire(k.lease(1)...)
		k.rdb.HSet(k.ctx, k.keys.meta, "paused", 1)
		if x := k.exchange(k.Frontier, nil, 5, 5); len(x.Leases) != 0 || !x.Paused || x.Pending != 2 {
			t.Errorf("paused: %+v", x) // expiry goes on
		}
		if idle, _ := k.Idle(k.ctx); idle.Done() || !idle.Paused {
			t.Errorf("a paused crawl with work: %+v", idle)
		}
		k.rdb.HDel(k.ctx, k.keys.meta, "paused")
		if got := paths(k.lease(5)); got != "1 2" {
			t.Errorf("leased %s", got)
		}
	})
}

func TestSlotOfPartitionNoneStaysWhenAnotherSlotIsEmpty(t *testing.T) {
	each(t, Config{Partition: PartitionNone, Delay: 10 * time.Second}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"))
		if err := k.Release(k.ctx, ids(k.lease(2))); err != nil {
			t.Fatal(err)
		}
		if err := k.rdb.ZAdd(k.ctx, k.keys.slots, redis.Z{Score: 1, Member: seedsSlot}).Err(); err != nil {
			t.Fatal(err)
		}
		if got := k.lease(10); len(got) != 0 { // only the slot of seeds is due, and it is empty
			t.Errorf("leased %s", paths(got))
		}
		k.check()
	})
}
