package scheduler

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"luacrawl/scheduler/redistest"
)

func TestScrapyRedisFilterCounts(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		var children []Child
		for _, v := range vectors(t) {
			k.rdb.SAdd(k.ctx, k.keys.dupefilter, v.Fingerprint)
			children = append(children, Child{Request: &Request{URL: v.Canonical, Method: v.Method, Body: v.body()}})
		}
		k.add(append(children, get("new"))...)
		if s := k.check(); s.Pending != 1 {
			t.Errorf("%d of %d known URLs were taken for new", s.Pending-1, len(children))
		}
	})
}

func TestForceSkipsTheCheckAndRecords(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		dont := get("1")
		dont.Request.DontFilter = true
		retry := get("1")
		retry.Force = true
		k.add(dont, get("1"), retry)
		if s := k.check(); s.Pending != 2 || s.Seen != 1 || s.Stats["dupefilter/filtered"] != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestCacheFiltersAndCounts(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		l := k.lease(1)
		k.rdb.Del(k.ctx, k.keys.dupefilter) // so that only the cache can know
		k.commit(&Outcome{Lease: l[0], Children: []Child{get("1"), get("2")}})
		if s := k.check(); s.Pending != 1 || s.Seen != 1 || s.Stats["dupefilter/filtered"] != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestCacheIsDroppedAtANewEpoch(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		if !k.seen.has(get("1").Request.seenKey()) {
			t.Fatal("nothing cached")
		}
		if err := k.Flush(k.ctx); err != nil {
			t.Fatal(err)
		}
		k.add(get("1"))
		if s := k.check(); s.Pending != 1 || s.Epoch != 1 {
			t.Errorf("a page of the new crawl was filtered by the cache of the old: %+v", s)
		}
	})
}

func TestCacheDropsARepeatedCommitOfAnotherEpoch(t *testing.T) {
	t.Parallel()
	f := &Frontier{seen: newSeen(10, "0")}
	f.cfg = f.cfg.withDefaults()
	o := &Outcome{Children: []Child{get("1")}}
	o.Prepare()
	known := o.Children[0].key
	commit := func(epoch string) {
		s := newSending([]*Outcome{o})
		c := &commit{parts: []part{{final: true, sent: []int{0}}}}
		r := readAnswer([]any{"DUP", int64(0), epoch, "0", "0", "1", ""})
		if err := f.answered(s, c, &r, &Exchanged{}, 1); err != nil {
			t.Fatal(err)
		}
	}
	commit("1") // stored before a flush, answered after it
	if f.seen.has(known) {
		t.Error("a child of the flushed crawl entered the cache of the new one")
	}
	commit("1")
	if !f.seen.has(known) {
		t.Error("the cache does not fill")
	}
}

func TestSeenIsBounded(t *testing.T) {
	t.Parallel()
	s := newSeen(100, "")
	print := func(i int) seenKey { return seenKey{uint64(i)} }
	for i := range 1000 {
		s.add(print(i))
		if !s.has(print(0)) {
			t.Fatalf("one that is asked for often was forgotten at %d", i)
		}
		if n := len(s.young) + len(s.old); n > 102 {
			t.Fatalf("%d entries", n)
		}
	}
	if s.has(print(500)) || !s.has(print(999)) {
		t.Error("the oldest stay or the youngest go")
	}
}

func TestDuplicatesAreLogged(t *testing.T) {
	t.Parallel()
	for debug, want := range map[bool]int{false: 1, true: 4} {
		redistest.Each(t, func(t *testing.T, url string) {
			var log bytes.Buffer
			k := newKit(t, url, Config{DupefilterDebug: debug, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			k.add(get("1"), get("1"), get("1"))
			k.add(get("1"), get("2"), get("1"))
			if got := strings.Count(log.String(), "filtered duplicate request"); got != want {
				t.Errorf("debug %v: %d lines\n%s", debug, got, &log)
			}
			if first := "url=http://a.test/1"; !strings.Contains(log.String(), first) {
				t.Errorf("no %s in %s", first, &log)
			}
		})
	}
}

func TestSeenKey(t *testing.T) {
	t.Parallel()
	a := Request{URL: "http://a.test/"}
	for _, same := range []Request{{URL: a.URL, Method: "GET"}, {URL: a.URL, Body: []byte{}, Priority: 3}} {
		if same.seenKey() != a.seenKey() {
			t.Errorf("%+v is another", same)
		}
	}
	keys := map[seenKey]bool{a.seenKey(): true}
	for _, other := range []Request{{URL: "http://a.test"}, {URL: a.URL, Method: "POST"}, {URL: a.URL, Body: []byte("x")}, {URL: a.URL, Method: "POST", Body: []byte("x")}} {
		if keys[other.seenKey()] {
			t.Errorf("%+v is the same", other)
		}
		keys[other.seenKey()] = true
	}
}

// prints are the fingerprints of paths of one host.
func prints(paths ...string) (list []Fingerprint) {
	for _, p := range paths {
		list = append(list, get(p).Request.Fingerprint())
	}
	return list
}

func TestForgottenPageIsFetchedAgain(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"))
		k.finish(k.lease(2))
		d := k.client.Dupefilter(k.fleet())
		if n, err := d.Remove(k.ctx, prints("1", "9")); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		k.lease(1) // hears of the new epoch
		k.add(get("1"), get("2"))
		if got := paths(k.lease(5)); got != "1" {
			t.Errorf("leased %s", got)
		}
		k.check()
	})
}

func TestDupefilterHasAddAll(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		d := k.client.Dupefilter(k.fleet())
		if n, err := d.Add(k.ctx, prints("1", "2", "1")); err != nil || n != 2 {
			t.Fatal(n, err)
		}
		has, err := d.Has(k.ctx, prints("2", "3"))
		if err != nil || !slices.Equal(has, []bool{true, false}) {
			t.Error(has, err)
		}
		var many []Fingerprint
		for i := range 3000 {
			many = append(many, prints(fmt.Sprint("many/", i))...)
		}
		d.Add(k.ctx, many)
		all := map[string]bool{}
		for m, err := range d.All(k.ctx) {
			if err != nil {
				t.Fatal(err)
			}
			all[m] = true
		}
		if len(all) != 3002 || !all[prints("1")[0].String()] {
			t.Errorf("%d members", len(all))
		}
		k.add(get("1"), get("3"))
		if got := paths(k.lease(5)); got != "3" {
			t.Errorf("leased %s", got)
		}
	})
}

func TestFingerprintURL(t *testing.T) {
	t.Parallel()
	want := prints("x?a=1&b=2")[0]
	for _, u := range []string{"http://a.test/x?a=1&b=2", " HTTP://A.TEST:80/y/../x?b=2&a=1#part"} {
		if f, err := FingerprintURL(u); err != nil || f != want {
			t.Errorf("%s: %s %v", u, f, err)
		}
	}
	for _, u := range []string{"", "a.test", "mailto:x@a.test", "http://"} {
		if f, err := FingerprintURL(u); err == nil {
			t.Errorf("%q is %s", u, f)
		}
	}
	if f, ok := ParseFingerprint(strings.ToUpper(want.String())); !ok || f != want {
		t.Error(f, ok)
	}
	for _, s := range []string{"", "abc", strings.Repeat("g", 40), strings.Repeat("a", 41)} {
		if _, ok := ParseFingerprint(s); ok {
			t.Errorf("%q was read", s)
		}
	}
}
