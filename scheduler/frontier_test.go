package scheduler

import "testing"

func TestASeedBecomesAStoredPage(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("1"))
		if s := k.check(); s.Pending != 2 || s.Stats["dupefilter/filtered"] != 1 || s.Seen != 2 || s.Done != 1 {
			t.Errorf("after the seed: %+v", s)
		}
		leases := k.lease(10)
		if got := paths(leases); got != "1 2" {
			t.Fatalf("leased %s", got)
		}
		k.check()
		k.commit(&Outcome{Lease: leases[0], Items: [][]byte{[]byte(`{"a":1}`)}, Stats: map[string]int64{"item_scraped_count": 1}})
		k.check()
		k.commit(&Outcome{Lease: leases[1], Dead: []DeadLetter{{Kind: DeadRequest, Reason: ReasonCallbackError}}})
		s := k.check()
		if s.Items != 1 || s.Done != 2 || s.Dead != 1 || s.DeadLetters != 1 || s.Stats["item_scraped_count"] != 1 {
			t.Errorf("at the end: %+v", s)
		}
		idle, err := k.Idle(k.ctx)
		if err != nil || !idle.Done() || idle.Dequeued != 3 {
			t.Errorf("idle: %+v, %v", idle, err)
		}
	})
}
