package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestBigPageGoesInChunks(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("page"))
		l := k.lease(1)[0]
		o := &Outcome{Lease: l, Items: [][]byte{[]byte("{}")}, Stats: map[string]int64{"pages": 1}}
		for i := range 6000 {
			o.Children = append(o.Children, get(fmt.Sprint(i%5500))) // some twice
		}
		o.Children[10].Force = true
		o.Prepare()
		s := newSending([]*Outcome{o})
		commits := 0
		for ; !s.done(); commits++ {
			c, _ := k.next(s)
			if n := len(c.args); n > maxValues+100 {
				t.Errorf("a commit of %d arguments", n)
			}
			if err := k.Frontier.commit(k.ctx, s, &c, &Exchanged{}, &ask{}, false); err != nil {
				t.Fatal(err)
			}
			if st := k.check(); (st.Items == 1) != s.done() || (st.InFlight == 0) != s.done() {
				t.Errorf("after commit %d: %+v", commits, st)
			}
		}
		if st := k.check(); st.Pending != 5500 || st.Seen != 5501 || st.Stats["dupefilter/filtered"] != 500 || commits < 6 {
			t.Errorf("%d commits, %+v", commits, st)
		}
	})
}

func TestBigPageOfALostLeaseStops(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("page"))
		l := k.lease(1)[0]
		k.expire(l)
		k.lease(1)
		o := &Outcome{Lease: l}
		for i := range 3000 {
			o.Children = append(o.Children, get(fmt.Sprint(i)))
		}
		if x := k.exchange(k.Frontier, []*Outcome{o}, 0, 0); x.Stored[0] {
			t.Error("stored")
		}
		if s := k.check(); s.Pending != 0 || s.Seen != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestRollbackBetweenChunksSendsAllAgain(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("page"))
		o := &Outcome{Lease: k.lease(1)[0]}
		for i := range 2500 {
			o.Children = append(o.Children, get(fmt.Sprint(i)))
		}
		o.Prepare()
		s := newSending([]*Outcome{o})
		for i := 0; !s.done(); i++ {
			c, _ := k.next(s)
			if i == 1 { // the first chunk is forgotten
				k.rdb.HSet(k.ctx, k.keys.commits, k.processID(), "0 ")
				k.rdb.Del(k.ctx, k.keys.dupefilter, k.keys.queue("a.test"))
				k.rdb.HSet(k.ctx, k.keys.meta, "pending", 0)
			}
			if err := k.Frontier.commit(k.ctx, s, &c, &Exchanged{}, &ask{}, false); err != nil {
				t.Fatal(err)
			}
		}
		if n := k.rdb.ZCard(k.ctx, k.keys.queue("a.test")).Val(); n != 2500 {
			t.Errorf("%d of 2500 children are queued", n)
		}
	})
}

func TestManyOutcomesGoInSeveralCommits(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		var children []Child
		for i := range 200 {
			children = append(children, get(fmt.Sprint(i)))
		}
		k.add(children...)
		var outcomes []*Outcome
		for i, l := range k.lease(200) {
			o := &Outcome{Lease: l, Items: [][]byte{[]byte(strings.Repeat("x", 20_000))}}
			for j := range 50 {
				o.Children = append(o.Children, get(fmt.Sprintf("%d/%d", i, j)))
			}
			outcomes = append(outcomes, o)
		}
		x := k.exchange(k.Frontier, outcomes, 5, 0)
		for i, ok := range x.Stored {
			if !ok {
				t.Errorf("outcome %d was not stored", i)
			}
		}
		if len(x.Leases) != 5 || k.number < 5 {
			t.Errorf("%d leases, %d commits", len(x.Leases), k.number)
		}
		if s := k.check(); s.Pending != 200*50-5 || s.Items != 200 {
			t.Errorf("%+v", s)
		}
	})
}

func TestPageThatNoCommitCanCarry(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("page"))
		x := k.exchange(k.Frontier, []*Outcome{{Lease: k.lease(1)[0], Items: make([][]byte, hugeOutcome+1)}}, 0, 0)
		if s := k.check(); !x.Stored[0] || s.Items != 0 || s.Dead != 1 || k.letters()[0].Reason != ReasonTooLarge {
			t.Errorf("%+v", s)
		}
	})
}

func TestFlush(t *testing.T) {
	each(t, Config{Delay: time.Hour}, func(t *testing.T, k *kit) {
		later := get("later")
		later.Delay = time.Hour
		k.add(on("a", 1), on("b", 1), on("b", 2), later)
		held := k.lease(1)[0]
		k.rdb.HSet(k.ctx, k.keys.rules, "a.test", "1 1")
		k.rdb.RPush(k.ctx, k.keys.startURLs, "seed")
		k.rdb.RPush(k.ctx, k.keys.items, "{}")
		if err := k.Flush(k.ctx); err != nil {
			t.Fatal(err)
		}
		s := k.check()
		if s.Epoch != 1 || s.Pending+s.Delayed+s.InFlight+s.Seen+s.Slots+s.Enqueued+s.Done != 0 || s.Seeds != 1 || s.Items != 1 || len(s.Stats) != 0 {
			t.Errorf("%+v", s)
		}
		left := k.rdb.Keys(k.ctx, "hotnews:*").Val()
		slices := strings.Join(left, " ")
		if strings.Contains(slices, "requests") || len(left) > 7 {
			t.Errorf("left: %v", left)
		}
		if x := k.exchange(k.Frontier, []*Outcome{full(held)}, 0, 0); x.Stored[0] {
			t.Error("an outcome of before the flush was stored")
		}
		k.rdb.Del(k.ctx, k.keys.startURLs)
		k.add(on("a", 1))
		stats, err := k.Stats(k.ctx)
		if s := k.check(); err != nil || s.Enqueued != 2 || s.Pending != 1 || stats["scheduler/enqueued"] != 2 || stats["scheduler/dequeued"] != 1 {
			t.Errorf("the next crawl: %+v, %v, %v", s, stats, err)
		}
	})
}

func TestFinishedIsAnnouncedOnce(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		announce := func(f *Frontier, want bool) {
			t.Helper()
			if first, err := f.Finish(k.ctx, ""); first != want || err != nil {
				t.Errorf("first is %v, %v", first, err)
			}
			if s := k.check(); want && !s.Finished {
				t.Error("the status does not say so")
			}
		}
		two := k.join()
		k.add(get("1"))
		announce(k.Frontier, false) // there is work
		l := k.lease(1)
		announce(two, false) // in flight
		k.finish(l)
		announce(two, true)
		announce(k.Frontier, false)
		k.rdb.RPush(k.ctx, k.keys.startURLs, "seed")
		if s := k.check(); s.Finished {
			t.Error("finished with a seed waiting")
		}
		announce(k.Frontier, false)
		l = k.exchange(k.Frontier, nil, 1, 1).Leases
		k.finish(l)
		announce(k.Frontier, true) // seeds began it anew
		k.Flush(k.ctx)
		announce(two, true)
	})
}

func TestSpidersAndItems(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.cfg.Spider = "another"
		k.join().Close(k.ctx)
		if got, err := k.client.Spiders(k.ctx); err != nil || fmt.Sprint(got) != "[another hotnews]" {
			t.Errorf("%v, %v", got, err)
		}
		k.rdb.RPush(k.ctx, "hotnews:items", "1", "2")
		if got, err := k.client.Items(k.ctx, "hotnews", Keys{}, -1, -1); err != nil || fmt.Sprint(got) != "[2]" {
			t.Errorf("%v, %v", got, err)
		}
		if s, err := k.client.Status(k.ctx, "never", Keys{}); err != nil || s.Enqueued != 0 {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

func TestRenamedKeysAndCluster(t *testing.T) {
	keys := Keys{StartURLs: "in_%(spider)s", Requests: "q", Dupefilter: "df", Items: "out:%(spider)s", Cluster: true}
	each(t, Config{Keys: keys}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		l := k.lease(1)[0]
		k.commit(&Outcome{Lease: l, Items: [][]byte{[]byte("{}")}, Children: []Child{get("2")}})
		for _, key := range []string{"out:{hotnews}", "q:a.test", "df", "{hotnews}:meta"} {
			if k.rdb.Exists(k.ctx, key).Val() == 0 {
				t.Errorf("no key %s", key)
			}
		}
		if s := k.check(); s.Items != 1 || s.Pending != 1 || s.Seen != 2 {
			t.Errorf("%+v", s)
		}
	})
}
