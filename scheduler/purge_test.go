package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func madeBy(revision, url string) Child {
	return Child{Request: &Request{URL: url, Revision: revision}}
}

// purgeable are 130 requests of each of five revisions, mixed, which is more than one page of a queue, and a delayed one.
func purgeable() (children []Child) {
	for i := range 130 {
		for _, rev := range []string{"aaaa00000000", "bbbb00000000", "cccc00000000", "", "dddd00000000"} {
			children = append(children, madeBy(rev, fmt.Sprintf("http://%d.test/%s/%d", i%3, rev, i)))
		}
	}
	later := madeBy("aaaa00000000", "http://later.test/")
	later.Request.NotBefore = time.Now().Add(time.Hour)
	return append(children, later)
}

func TestPurge(t *testing.T) {
	for _, p := range []Partition{PartitionHost, PartitionNone} {
		t.Run(string(p), func(t *testing.T) {
			each(t, Config{Partition: p}, func(t *testing.T, k *kit) {
				k.add(purgeable()...)
				if _, err := k.client.PushSeeds(k.ctx, k.cfg.Spider, Keys{}, [][]byte{[]byte("seed")}); err != nil {
					t.Fatal(err)
				}
				k.exchange(k.Frontier, nil, 0, 1) // a seed waits in its slot
				if p == PartitionNone {
					k.rdb.ZAdd(k.ctx, k.keys.requests, z(-1, "pickled"))
				}
				f := Fleet{Spider: k.cfg.Spider, Partition: p}
				purge := Purge{Gone: []string{"aaaa00000000", "bbbb00000000"}, Known: []string{"cccc00000000"}, Why: "its revision is older than cccc00000000", Author: "ann"}

				count, err := k.client.CountPurge(k.ctx, f, purge)
				if err != nil || count.Requests != 261 || count.ByRevision["aaaa00000000"] != 131 || count.ByRevision["bbbb00000000"] != 130 || count.Unknown != 260 {
					t.Errorf("counted %+v, %v", count, err)
				}
				held := k.lease(1)
				done, err := k.client.Purge(k.ctx, f, purge)
				if err != nil || done.Requests+len(held) < 261 || done.Requests > 261 {
					t.Errorf("purged %+v, %v", done, err)
				}
				if got, want := k.history(), fmt.Sprintf("purge ann: %d requests: %s", done.Requests, purge.Why); !slices.Equal(got, []string{want}) {
					t.Errorf("the history is %q, want %q", got, want)
				}
				k.rdb.ZRem(k.ctx, k.keys.requests, "pickled")
				s := k.check()
				if s.Delayed != 0 || s.Dead != int64(done.Requests) || s.DeadLetters != s.Dead || s.Pending+s.Dead+s.InFlight != 652 {
					t.Errorf("status %+v", s)
				}
				for l, err := range k.client.Letters(k.ctx, k.cfg.Spider, Keys{}) {
					if err != nil || l.Err != nil || l.Reason != ReasonPurged || l.Error != purge.Why || !strings.Contains("aaaa00000000 bbbb00000000", l.Revision) || l.URL == "" {
						t.Fatalf("letter %+v %v", l, err)
					}
				}
				if again, err := k.client.Purge(k.ctx, f, purge); err != nil || again.Requests != 0 || len(k.history()) != 1 {
					t.Errorf("again: %+v, %v", again, err)
				}
				back, err := k.client.Requeue(k.ctx, f, func(l *Letter) bool { return l.Reason == ReasonPurged })
				if err != nil || back.Moved != done.Requests {
					t.Errorf("requeued %+v, %v", back, err)
				}
				if s := k.check(); s.Dead != 0 {
					t.Errorf("status %+v", s)
				}
				purge.Unknown = true
				if all, err := k.client.Purge(k.ctx, f, purge); err != nil || all.Requests < 520 || all.Unknown != 0 {
					t.Errorf("all: %+v, %v", all, err)
				}
				k.check()
			})
		})
	}
}

// What workers lease and add while a purge is on its way hides nothing from it.
func TestPurgeWhileWorkersLease(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		var children []Child
		for i := range 400 {
			children = append(children, madeBy([]string{"aaaa00000000", "bbbb00000000"}[i%2], fmt.Sprintf("http://a.test/%d", i)))
		}
		k.add(children...)
		w := &purgeWalk{client: k.client, keys: k.keys, purge: Purge{Gone: []string{"aaaa00000000"}, Known: []string{"bbbb00000000"}}, done: Purged{ByRevision: map[string]int{}}}
		stay, old := int64(0), 0
		for step := 0; ; step++ {
			r, err := k.client.run(k.ctx, k.keys, purgeScript, "0", 50, "old", "0", stay, 1, "aaaa00000000", 1, "bbbb00000000", "=a.test")
			if err != nil {
				t.Fatal(err)
			}
			w.count(r.at(3))
			if stay = r.num(1); r.num(0) == 1 {
				break
			}
			leases := k.lease(7)
			var more []Child
			for i := range 5 {
				more = append(more, madeBy("bbbb00000000", fmt.Sprintf("http://a.test/more/%d/%d", step, i)))
			}
			for i, l := range leases {
				if l.Request.Revision == "aaaa00000000" {
					old++
				}
				o := &Outcome{Lease: l}
				if i == 0 {
					o.Children = more
				}
				k.commit(o)
			}
		}
		if w.done.Requests+old != 200 {
			t.Errorf("%d purged and %d leased of 200", w.done.Requests, old)
		}
		k.check()
	})
}

func TestOlder(t *testing.T) {
	t.Parallel()
	var events []Event
	for _, r := range []string{"aaaa1", "bbbb2", "", "cccc3", "bbbb2", "cccc4"} {
		if r != "" {
			r += strings.Repeat("0", 59)
		}
		events = append(events, Event{Revision: r})
	}
	for _, c := range []struct{ rev, gone, known, err string }{
		{"aaaa", "", "aaaa1 cccc3 bbbb2 cccc4", ""},
		{"bbbb2", "aaaa1 cccc3", "bbbb2 cccc4", ""}, // it became current again after cccc3
		{"cccc4" + strings.Repeat("0", 59), "aaaa1 cccc3 bbbb2", "cccc4", ""},
		{"current", "aaaa1 cccc3 bbbb2", "cccc4", ""},
		{"cccc", "", "", "both"},
		{"ccc", "", "", "there is no such revision"},
		{"dddd", "", "", "there is no such revision"},
	} {
		p, err := Older(events, c.rev)
		brief := func(list []string) string {
			var out []string
			for _, r := range list {
				out = append(out, r[:5])
			}
			return strings.Join(out, " ")
		}
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %v, want %q", c.rev, err, c.err)
		case c.err == "" && (err != nil || brief(p.Gone) != c.gone || brief(p.Known) != c.known):
			t.Errorf("%s: %+v, %v", c.rev, p, err)
		}
	}
	if _, err := Older(nil, "current"); !errors.Is(err, ErrNoRevision) {
		t.Errorf("no history: %v", err)
	}
}
