package scheduler

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// letters are the dead letters of the crawl.
func (k *kit) letters() []DeadLetter {
	k.t.Helper()
	raw, err := k.client.DeadLetters(k.ctx, k.cfg.Spider, k.cfg.Keys, 0, -1)
	if err != nil {
		k.t.Fatal(err)
	}
	out := make([]DeadLetter, len(raw))
	for i := range raw {
		if err := json.Unmarshal([]byte(raw[i]), &out[i]); err != nil {
			k.t.Fatalf("%s: %v", raw[i], err)
		}
	}
	return out
}

func TestQueueOfAnotherTypeCostsItsRequests(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.rdb.Set(k.ctx, k.keys.queue("bad.test"), "a string", 0)
		delayed := on("bad", 3)
		delayed.Delay = time.Millisecond
		k.add(on("a", 1), on("bad", 1), on("a", 2), on("bad", 2), delayed)
		l := k.lease(10)
		if len(l) != 2 {
			t.Fatalf("leased %s", paths(l))
		}
		sleep(k.ctx, 2*time.Millisecond)
		k.lease(10)
		if s := k.check(); s.Dead != 3 || s.DeadLetters != 3 || s.Seen != 5 {
			t.Errorf("%+v", s)
		}
		for _, d := range k.letters() {
			if d.Reason != ReasonWrongType || d.Kind != DeadRequest || !strings.HasPrefix(d.URL, "http://bad.test/") || d.Error == "" {
				t.Errorf("%+v", d)
			}
		}
		// the queue turns bad while one of its requests is out
		k.rdb.Set(k.ctx, k.keys.queue("a.test"), "a string", 0)
		k.expire(l[0])
		k.lease(1)
		if err := k.Release(k.ctx, []string{l[1].ID}); err != nil {
			t.Fatal(err)
		}
		if s := k.check(); s.Dead != 5 || s.DeadLetters != 5 || s.InFlight != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestKeysOfAnotherTypeStopNothingHalfWay(t *testing.T) {
	names := Keys{}.of("hotnews")
	for _, key := range []string{names.items, names.dead, names.stats, names.meta, names.slots, names.busy, names.leases,
		names.inflight, names.commits, names.delayed, names.dupefilter} {
		t.Run(key, func(t *testing.T) {
			each(t, Config{}, func(t *testing.T, k *kit) {
				k.add(get("1"))
				o := full(k.lease(1)[0])
				o.Children[0].Delay = time.Hour
				o.Children = append(o.Children, get("2"))
				if err := k.rdb.Rename(k.ctx, key, "aside").Err(); err != nil && !strings.Contains(err.Error(), "no such key") {
					t.Fatal(err)
				}
				k.rdb.Set(k.ctx, key, "a string", 0)
				_, err := k.Exchange(k.ctx, []*Outcome{o}, 0, 0)
				if !errors.Is(err, ErrWrongType) || !strings.Contains(err.Error(), key+" holds a string, not a ") {
					t.Errorf("%v", err)
				}
				k.rdb.Del(k.ctx, key)
				k.rdb.Rename(k.ctx, "aside", key)
				if s := k.check(); s.Items != 0 || s.InFlight != 1 || s.Seen != 1 || s.DeadLetters != 0 {
					t.Errorf("half of it was stored: %+v", s)
				}
				k.commit(o)
				if s := k.check(); s.Items != 1 || s.Delayed != 1 || s.Pending != 1 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

func TestGarbageInAQueue(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("good"))
		q := k.keys.queue("a.test")
		k.rdb.ZAdd(k.ctx, q, z(-9, "short"), z(-8, "\x80\x04\x95 a pickle, surely"), z(-7, "00000000000000{bad json"), z(-6, ""))
		var good, bad []Lease
		for len(good) == 0 {
			for _, l := range k.lease(10) {
				if l.Err != nil {
					bad = append(bad, l)
				} else {
					good = append(good, l)
				}
			}
		}
		if paths(good) != "good" || len(bad) != 1 || string(bad[0].Raw) != "{bad json" || !strings.Contains(bad[0].Err.Error(), "a.test") {
			t.Errorf("good %s, bad %+v", paths(good), bad)
		}
		letters := k.letters()
		if len(letters) != 3 {
			t.Errorf("letters %+v", letters)
		}
		for _, d := range letters {
			if d.Reason != ReasonUnreadable {
				t.Errorf("%+v", d)
			}
		}
		k.commit(&Outcome{Lease: bad[0], Dead: []DeadLetter{{Kind: DeadRequest, Reason: ReasonUnreadable, Request: bad[0].Raw}}})
		k.finish(good)
		k.check()
		if idle, _ := k.Idle(k.ctx); !idle.Done() {
			t.Errorf("%+v", idle)
		}
	})
}

func TestGarbageInOtherKeys(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		k.rdb.ZAdd(k.ctx, k.keys.leases, z(1, "nobody's"), z(2, "spoilt"))
		k.rdb.HSet(k.ctx, k.keys.inflight, "spoilt", "no record")
		k.rdb.ZAdd(k.ctx, k.keys.delayed, z(1, "nothing"), z(2, ""))
		k.rdb.ZAdd(k.ctx, k.keys.slots, z(0, "no queue"))
		k.rdb.HSet(k.ctx, k.keys.stats, "scheduler/done", "many", "pages", "x")
		k.rdb.HSet(k.ctx, k.keys.busy, "a.test", "x")
		k.rdb.HSet(k.ctx, k.keys.commits, k.processID(), "garbage")
		var urls []string
		for range 3 {
			for _, l := range k.lease(10) {
				if l.Request != nil {
					urls = append(urls, l.Request.URL)
				}
				if x, err := k.Exchange(k.ctx, []*Outcome{full(l)}, 0, 0); err != nil || !x.Stored[0] {
					t.Errorf("%+v: %v", x, err)
				}
			}
		}
		if !slices.Contains(urls, "http://a.test/1") {
			t.Errorf("leased %v", urls)
		}
	})
}

func TestForeignRequestsAreLeftAlone(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, url string) {
		for _, p := range []Partition{PartitionHost, PartitionNone} {
			c := newKit(t, url, Config{Partition: p, Spider: "s" + string(p)})
			c.Close(c.ctx)
			pickles := 0
			for i := range 120 {
				pickles++
				c.rdb.ZAdd(c.ctx, c.keys.requests, z(float64(-i%7), "\x80\x04\x95 pickle "+strings.Repeat("x", i)))
			}
			var log bytes.Buffer
			c.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			c.Frontier = c.join()
			if !strings.Contains(log.String(), "requests of another program") || !strings.Contains(log.String(), c.keys.requests) {
				t.Errorf("%s: %s", p, &log)
			}
			c.add(get("1"), prio("2", 9), prio("3", -9))
			if got := paths(c.await(c.Frontier, 3)); got != "2 1 3" {
				t.Errorf("%s: leased %s", p, got)
			}
			if err := c.Flush(c.ctx); err != nil {
				t.Fatal(err)
			}
			if n := c.rdb.ZCard(c.ctx, c.keys.requests).Val(); n != int64(pickles) {
				t.Errorf("%s: %d of %d foreign members are left", p, n, pickles)
			}
			if s, _ := c.client.Status(c.ctx, c.cfg.Spider, Keys{}); s.Enqueued != s.Done+s.Dead {
				t.Errorf("%s: %+v", p, s)
			}
		}
	})
}

func TestChildrenThatDoNotFitAreDead(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		big := get("big")
		big.Request.Body = bytes.Repeat([]byte("x"), MaxMember)
		k.add(get("1"), big, get("2"))
		if s := k.check(); s.Pending != 2 || s.Dead != 1 || s.Done != 1 || s.Seen != 2 {
			t.Errorf("%+v", s)
		}
		if l := k.letters(); len(l) != 1 || l[0].Reason != ReasonTooLarge || l[0].URL != big.Request.URL || !strings.Contains(l[0].Error, "at most 65522") {
			t.Errorf("%+v", l)
		}
	})
}

func TestDeadLettersAlwaysEncode(t *testing.T) {
	t.Parallel()
	d := DeadLetter{Kind: DeadSeed, Seed: "\xff", Request: json.RawMessage("{bad"), Item: json.RawMessage(`{"a":"<&>"}`)}
	var back DeadLetter
	if err := json.Unmarshal(d.encode("w", "r"), &back); err != nil {
		t.Fatal(err)
	}
	if back.Worker != "w" || back.Revision != "r" || back.Time == 0 || string(back.SeedB64) != "\xff" || string(back.Request) != `"{bad"` {
		t.Errorf("%+v", back)
	}
	if b := d.encode("", ""); !bytes.Contains(b, []byte(`"<&>"`)) {
		t.Errorf("%s", b)
	}
}

func TestFlushLeavesAListOfAnotherProgramAlone(t *testing.T) {
	each(t, Config{Partition: PartitionNone, Delay: time.Hour}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		k.finish(k.lease(1)) // the slot stays until its time has passed
		k.rdb.RPush(k.ctx, k.keys.requests, "pickle")
		if err := k.Flush(k.ctx); err != nil {
			t.Fatal(err)
		}
		if n := k.rdb.LLen(k.ctx, k.keys.requests).Val(); n != 1 {
			t.Errorf("%d of 1 request of another program is left", n)
		}
	})
}
