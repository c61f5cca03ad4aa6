package scheduler

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// page is the outcome of a page that its callback got.
func page(l Lease, children ...Child) *Outcome {
	return &Outcome{Lease: l, Children: children, Stats: map[string]int64{"response_received_count": 1, "item_scraped_count": 1}}
}

func (k *kit) stat(name string) int64 {
	k.t.Helper()
	s, err := k.client.Status(k.ctx, k.cfg.Spider, Keys{})
	if err != nil {
		k.t.Fatal(err)
	}
	return s.Stats[name]
}

func TestABudgetOfPagesPerSlot(t *testing.T) {
	each(t, Config{PagesPerSlot: 2}, func(t *testing.T, k *kit) {
		var children []Child
		for i := range 1000 {
			children = append(children, on("a", i))
		}
		k.add(append(children, on("b", 1), on("b", 2), on("b", 3))...)
		leases := k.lease(20)
		if len(leases) != 4 {
			t.Fatalf("%d leases of two slots that may have two pages each", len(leases))
		}
		if got := k.slot("a.test"); got.Wait != WaitBudget || got.Pages != 0 {
			t.Errorf("with two in flight: %+v", got)
		}
		for _, l := range leases {
			switch {
			case l.Slot == "a.test":
				k.commit(page(l, on("a", 5000))) // later requests go, too
			case l.Request.URL == "http://b.test/1":
				k.commit(&Outcome{Lease: l}) // a redirect, say: no page
			default:
				k.commit(page(l))
			}
		}
		k.check()
		var spent []string
		var last []Lease
		for i := 0; i < 100 && k.check().Pending > 0; i++ {
			x := k.exchange(k.Frontier, nil, 20, 0)
			spent = append(spent, x.Spent...)
			last = append(last, x.Leases...)
		}
		if len(last) != 1 || last[0].Slot != "b.test" {
			t.Errorf("leased then: %v", last)
		}
		k.finish(last)
		if fmt.Sprint(spent) != "[a.test]" {
			t.Errorf("told of %v", spent)
		}
		if s := k.check(); s.Enqueued != s.Done || s.Slots > 1 {
			t.Errorf("%+v", s)
		}
		if got := k.stat("closespider_pagecount_per_slot/dropped"); got != 1000-2+1 {
			t.Errorf("%d dropped", got)
		}
		if idle, err := k.Idle(k.ctx); err != nil || !idle.Done() {
			t.Errorf("%+v, %v", idle, err)
		}
		k.add(on("a", 6000), on("b", 6000)) // b had one page only
		k.finish(k.await(k.Frontier, 1))
		if s := k.check(); s.Pending != 0 {
			t.Errorf("%+v", s)
		}
		if x := k.exchange(k.Frontier, nil, 20, 0); len(x.Spent) > 0 {
			t.Errorf("told again of %v", x.Spent)
		}
		if err := k.Flush(k.ctx); err != nil {
			t.Fatal(err)
		}
		k.add(on("a", 7000))
		if got := k.lease(5); len(got) != 1 {
			t.Errorf("after a flush %d leases", len(got))
		}
	})
}

// A response that no callback gets, a 404 say, is out of the budget.
func TestIgnoredResponsesAreOutOfTheBudget(t *testing.T) {
	each(t, Config{PagesPerSlot: 1}, func(t *testing.T, k *kit) {
		for i := range 6 {
			k.add(on("a", i))
		}
		for range 3 {
			for _, l := range k.await(k.Frontier, 1) {
				ignored := page(l)
				ignored.Stats["httperror/response_ignored_count"] = 1
				k.commit(ignored)
			}
		}
		if got := k.slot("a.test"); got.Pages != 0 {
			t.Errorf("%d pages", got.Pages)
		}
		k.commit(page(k.await(k.Frontier, 1)[0]))
		if got := k.slot("a.test"); got.Pages != 1 {
			t.Errorf("%d pages after one", got.Pages)
		}
		if got := k.lease(5); len(got) != 0 || k.check().Pending != 0 {
			t.Errorf("%d leases beyond the budget", len(got))
		}
	})
}

// Several workers at once, with failures, lost leases and new requests: no slot has a page more than its budget, and each has all of it.
func TestTheBudgetIsExact(t *testing.T) {
	const budget, sites, workers = 17, 4, 4
	each(t, Config{PagesPerSlot: budget, Concurrency: 8, LeaseAttempts: 200}, func(t *testing.T, k *kit) {
		var children []Child
		for s := range sites {
			for i := range 150 {
				children = append(children, on(fmt.Sprint(s), i))
			}
		}
		k.add(append(children, on("small", 1))...)
		var mu sync.Mutex
		had := map[string]int{} // guarded by mu
		var wg sync.WaitGroup
		for w := range workers {
			f := k.join()
			wg.Go(func() { k.drain(f, uint64(w), &mu, had) })
		}
		wg.Wait()
		s := k.check()
		if s.Pending+s.Delayed+s.InFlight > 0 {
			t.Errorf("%+v", s)
		}
		for site := range sites {
			if slot := fmt.Sprintf("%d.test", site); had[slot] != budget || k.slot(slot).Pages != budget {
				t.Errorf("%s had %d pages, by its count %d", slot, had[slot], k.slot(slot).Pages)
			}
		}
		if had["small.test"] != 1 {
			t.Errorf("a small site had %d", had["small.test"])
		}
	})
}

// drain works until nothing is left: it commits pages, failures and requests for later, and lets leases go.
func (k *kit) drain(f *Frontier, seed uint64, mu *sync.Mutex, had map[string]int) {
	r := rand.New(rand.NewPCG(seed, 1))
	var outs []*Outcome
	for next := 10_000 * int(seed+1); ; {
		x, err := f.Exchange(k.ctx, outs, 1+r.IntN(6), 0)
		if err != nil {
			k.t.Error(err)
			return
		}
		mu.Lock()
		for i, o := range outs {
			if x.Stored[i] && o.Stats != nil {
				had[o.Lease.Slot]++
			}
		}
		mu.Unlock()
		outs = nil
		for _, l := range x.Leases {
			next++
			switch n := r.IntN(10); {
			case n == 0:
				if err := f.Release(k.ctx, []string{l.ID}); err != nil {
					k.t.Error(err)
				}
			case n == 1:
				k.rdb.ZAdd(k.ctx, k.keys.leases, z(1, redisID(l.ID))) // it expires, and the commit comes too late
				outs = append(outs, page(l))
			case n == 2:
				outs = append(outs, &Outcome{Lease: l, Children: []Child{{Request: l.Request, Force: true, Delay: time.Millisecond}}})
			case l.Slot == "small.test":
				outs = append(outs, page(l))
			default:
				outs = append(outs, page(l, on(l.Slot[:len(l.Slot)-len(".test")], next)))
			}
		}
		if len(x.Leases) == 0 {
			idle, err := f.Idle(k.ctx)
			if err != nil || idle.Done() {
				return
			}
			sleep(k.ctx, min(x.Wait, 5*time.Millisecond))
		}
	}
}

// Requests for files of items hold items: they are no pages, and are handed out whatever the budget says.
func TestABudgetKeepsItemsThatWaitForFiles(t *testing.T) {
	each(t, Config{PagesPerSlot: 1}, func(t *testing.T, k *kit) {
		var children []Child
		for i := range 600 {
			c := on("a", i)
			if i%200 == 150 {
				c.Request.Callback = FilesCallback
			}
			c.Request.Meta = []byte(`{"callback":"@files"}`) // which names no callback
			children = append(children, c)
		}
		k.add(children...)
		first := k.lease(1)
		k.commit(page(first[0]))
		var got []Lease
		for len(got) < 3 {
			got = append(got, k.await(k.Frontier, 1)...)
		}
		for _, l := range got {
			if l.Request.Callback != FilesCallback {
				t.Errorf("leased %s", l.Request.URL)
			}
			k.commit(page(l))
		}
		k.lease(5)
		if s := k.check(); s.Pending+s.InFlight > 0 || k.slot("a.test").Pages != 1 {
			t.Errorf("%+v, pages %d", s, k.slot("a.test").Pages)
		}
	})
}
