package scheduler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// fleet is what Requeue and the like are given.
func (k *kit) fleet() Fleet {
	k.t.Helper()
	f, err := k.client.Fleet(k.ctx, k.cfg.Spider, Keys{})
	if err != nil {
		k.t.Fatal(err)
	}
	return f
}

// kill gives up leases, each with a letter for a reason.
func (k *kit) kill(leases []Lease, reason string) {
	k.t.Helper()
	for _, l := range leases {
		d := DeadLetter{Kind: DeadRequest, Reason: reason, Error: "because"}
		if l.Seed != nil {
			d.Kind = DeadSeed
		}
		d.Describe(l)
		k.commit(&Outcome{Lease: l, Dead: []DeadLetter{d}})
	}
}

// requeue must succeed.
func (k *kit) requeue(match func(*Letter) bool) Swept {
	k.t.Helper()
	s, err := k.client.Requeue(k.ctx, k.fleet(), match)
	if err != nil {
		k.t.Fatal(err)
	}
	return s
}

func everything(*Letter) bool { return true }

func byReason(reason string) func(*Letter) bool {
	return func(l *Letter) bool { return l.Reason == reason }
}

func TestRequeueMakesDeadRequestsPending(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		tried := get("2")
		tried.Request.RetryTimes, tried.Request.Priority, tried.Request.Returned, tried.Request.RedirectTimes = 2, -2, 3, 20
		tried.Request.Trail = "12ab"
		k.add(get("1"), tried, get("3"))
		k.kill(k.lease(3), ReasonCallbackError)
		before := k.check()
		if before.Dead != 3 || before.DeadLetters != 3 {
			t.Fatalf("%+v", before)
		}
		if s := k.requeue(func(l *Letter) bool { return l.Index > 1 }); s.Moved != 2 || s.Gone != 0 || s.Kept != nil {
			t.Errorf("%+v", s)
		}
		s := k.check()
		if s.Dead != 1 || s.Pending != 2 || s.DeadLetters != 1 || s.Enqueued != before.Enqueued || s.Seen != 3 {
			t.Errorf("%+v", s)
		}
		got := k.lease(5)
		if paths(got) != "3 2" {
			t.Fatalf("leased %s", paths(got))
		}
		if r := got[1].Request; r.RetryTimes+r.Priority+r.Returned+r.RedirectTimes != 0 || r.Trail != "" || got[1].Attempts != 0 {
			t.Errorf("not as new: %+v", r)
		}
		k.finish(got)
		if s := k.check(); s.Done != 3 || s.Dead != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestRequeueWakesAFinishedCrawl(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		k.kill(k.lease(1), ReasonDownload)
		if first, err := k.Finish(k.ctx, ""); err != nil || !first {
			t.Fatal(first, err)
		}
		k.requeue(everything)
		if s := k.check(); s.Finished || s.Pending != 1 {
			t.Errorf("%+v", s)
		}
		k.finish(k.lease(1))
		if first, err := k.Finish(k.ctx, ""); err != nil || !first {
			t.Errorf("its end is not announced again: %v %v", first, err)
		}
	})
}

func TestRequeueOfSeeds(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		raw := "not \xff UTF-8"
		k.rdb.RPush(k.ctx, k.keys.startURLs, raw, "plain")
		k.kill(k.exchange(k.Frontier, nil, 2, 2).Leases, ReasonBadSeed)
		if s := k.requeue(everything); s.Moved != 2 {
			t.Errorf("%+v", s)
		}
		if s := k.check(); s.Pending != 2 || s.Dead != 0 || s.Enqueued != 2 {
			t.Errorf("%+v", s)
		}
		if got := k.lease(2); paths(got) != raw+" plain" || got[0].Slot != seedsSlot {
			t.Errorf("leased %q", paths(got))
		}
	})
}

// What cannot go back stays and is told; a letter from before a flush counts as enqueued anew.
func TestRequeueKeepsWhatHasNoRequest(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"))
		l := k.lease(2)
		k.kill(l[:1], ReasonDownload)
		k.commit(&Outcome{Lease: l[1], Dead: []DeadLetter{{Kind: DeadItem, Reason: ReasonProcessItem, Item: []byte(`{}`)}}})
		k.rdb.RPush(k.ctx, k.keys.dead, "foreign", `{"kind":"request","url":"http://a.test/big"}`, `{"kind":"request","request":"junk"}`)
		if err := k.Flush(k.ctx); err != nil {
			t.Fatal(err)
		}
		s := k.requeue(everything)
		if s.Moved != 1 || len(s.Kept) != 4 {
			t.Errorf("%+v", s)
		}
		for why := range s.Kept {
			if !slices.ContainsFunc([]string{"an item", "no request", "cannot be read", "not a dead letter"}, func(w string) bool { return strings.Contains(why, w) }) {
				t.Errorf("kept: %s", why)
			}
		}
		if s := k.check(); s.Pending != 1 || s.Dead != 0 || s.Enqueued != 1 || s.DeadLetters != 4 || s.Seen != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestRequeueGoesToTheFleetsSlotAndOrder(t *testing.T) {
	each(t, Config{Partition: PartitionNone, Queue: QueueLIFO}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("3"))
		k.kill(k.lease(3), ReasonDownload) // 3 2 1
		k.requeue(everything)
		if got := paths(k.lease(3)); got != "1 2 3" {
			t.Errorf("leased %s", got)
		}
		k.check()
	})
}

func TestRequeueLeavesLettersOfABrokenQueue(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), on("b", 1))
		k.kill(k.await(k.Frontier, 2), ReasonDownload)
		k.rdb.Set(k.ctx, k.keys.queue("b.test"), "a string", 0)
		s := k.requeue(everything)
		if s.Moved != 1 || len(s.Kept) != 1 {
			t.Errorf("%+v", s)
		}
		k.rdb.Del(k.ctx, k.keys.queue("b.test"))
		if st := k.check(); st.Pending != 1 || st.Dead != 1 || st.DeadLetters != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// A letter that somebody else took out since the page was read moves nothing.
func TestRequeueOfALetterThatIsGone(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"))
		k.kill(k.lease(2), ReasonDownload)
		s := k.requeue(func(l *Letter) bool {
			if l.Index == 1 {
				k.rdb.LPop(k.ctx, k.keys.dead)
			}
			return true
		})
		if s.Moved != 0 || s.Gone != 2 {
			t.Errorf("%+v", s)
		}
		if st := k.check(); st.Pending != 0 || st.DeadLetters != 1 {
			t.Errorf("%+v", st)
		}
		if s := k.requeue(everything); s.Moved != 1 {
			t.Errorf("%+v", s)
		}
		k.check()
	})
}

func TestSweepOfManyLetters(t *testing.T) {
	each(t, Config{Concurrency: 5000}, func(t *testing.T, k *kit) {
		const n = 2500
		var children []Child
		for i := range n {
			children = append(children, get(fmt.Sprint(i)))
		}
		k.add(children...)
		got := k.await(k.Frontier, n)
		var outcomes []*Outcome
		for i, l := range got {
			d := DeadLetter{Kind: DeadRequest, Reason: []string{ReasonDownload, ReasonCallbackError, ReasonAttempts}[i%3]}
			d.Describe(l)
			outcomes = append(outcomes, &Outcome{Lease: l, Dead: []DeadLetter{d}})
		}
		k.exchange(k.Frontier, outcomes, 0, 0)
		if s := k.requeue(byReason(ReasonCallbackError)); s.Moved != 833 {
			t.Errorf("%+v", s)
		}
		s, err := k.client.Drop(k.ctx, k.fleet(), byReason(ReasonDownload))
		if err != nil || s.Moved != 834 {
			t.Errorf("%+v %v", s, err)
		}
		if st := k.check(); st.DeadLetters != 833 || st.Pending != 833 || st.Dead != 1667 {
			t.Errorf("%+v", st)
		}
		want := 1
		for l, err := range k.client.Letters(k.ctx, "hotnews", Keys{}) {
			if err != nil || l.Reason != ReasonAttempts || l.Index != int64(want) {
				t.Fatalf("letter %d: %+v %v", want, l, err)
			}
			want++
		}
	})
}

// Letters that come while a sweep runs are for the next one: a request that fails at once must not keep it going for ever.
func TestSweepEnds(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		k.kill(k.lease(1), ReasonDownload)
		asked := 0
		s, err := k.client.Drop(k.ctx, k.fleet(), func(*Letter) bool {
			asked++
			k.rdb.RPush(k.ctx, k.keys.dead, "another")
			return true
		})
		if err != nil || asked != 1 || s.Moved != 1 {
			t.Errorf("asked %d: %+v %v", asked, s, err)
		}
	})
}

func TestRequeueOutOfMemory(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	k := newKit(t, server.URL(), Config{})
	k.rdb.RPush(k.ctx, k.keys.startURLs, "seed")
	k.kill(k.exchange(k.Frontier, nil, 1, 1).Leases, ReasonBadSeed)
	k.rdb.ConfigSet(k.ctx, "maxmemory", "1")
	ctx, cancel := context.WithTimeout(k.ctx, 300*time.Millisecond)
	defer cancel()
	if s, err := k.client.Requeue(ctx, k.fleet(), everything); err == nil || s.Kept != nil {
		t.Errorf("%+v", s)
	}
	if st := k.check(); st.Pending != 0 || st.DeadLetters != 1 {
		t.Errorf("%+v", st)
	}
	if s, err := k.client.Drop(k.ctx, k.fleet(), everything); err != nil || s.Moved != 1 {
		t.Errorf("a drop is what helps: %+v %v", s, err)
	}
}
