package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// cookie is a change that sets one of e.test, as the engine writes it.
func cookie(path, name string, secure bool) CookieChange {
	sec := ""
	if secure {
		sec = `,"sec":true`
	}
	return set("", "e.test;"+path+";"+name, fmt.Sprintf(`{"n":%q,"v":"1","d":"e.test","p":%q%s,"c":1,"u":1}`, name, path, sec))
}

// overHTTP makes changes those of an http page whose worker knew mark.
func overHTTP(mark CookieMark, changes ...CookieChange) []CookieChange {
	for i := range changes {
		changes[i].Plain, changes[i].Known = true, mark
	}
	return changes
}

// yields makes changes such as give way to what came after mark.
func yields(mark CookieMark, changes ...CookieChange) []CookieChange {
	for i := range changes {
		changes[i].Yields, changes[i].Known = true, mark
	}
	return changes
}

// write stores changes as a page of its own, and gives what a worker knows after it.
func (k *kit) write(changes ...CookieChange) CookieMark {
	k.t.Helper()
	k.exchange(k.Frontier, []*Outcome{{Cookies: changes}}, 0, 0)
	k.news(k.Frontier, jarCopy{})
	return k.cookies
}

func (k *kit) refused() string { return k.rdb.HGet(k.ctx, k.keys.stats, "cookies/refused").Val() }

// TestManyPlainChangesCostTheirNumber and not its square: a site over http chooses how many there are, all of one name.
func TestManyPlainChangesCostTheirNumber(t *testing.T) {
	t.Parallel()
	took := func(guarded bool, n int, path func(page, i int) string) time.Duration {
		k := newKit(t, redistest.URL(t, "redis"), Config{})
		mark := k.write(cookie("/", "before", false))
		k.write(cookie("/", "after", false)) // so that something has changed since
		var pages []*Outcome
		for page := range n {
			var changes []CookieChange
			for i := range 360 {
				changes = append(changes, cookie(path(page, i), "a", false))
			}
			if guarded {
				overHTTP(mark, changes...)
			}
			pages = append(pages, &Outcome{Cookies: changes})
		}
		start := time.Now()
		k.exchange(k.Frontier, pages, 0, 0)
		if got := k.rdb.HLen(k.ctx, k.keys.cookies).Val(); got != int64(n*360+2) {
			t.Errorf("%d cookies", got)
		}
		return time.Since(start)
	}
	for name, c := range map[string]struct {
		pages int
		path  func(page, i int) string
	}{
		"beside each other": {32, func(page, i int) string { return fmt.Sprintf("/%d/%d", page, i) }},
		"nested":            {12, func(page, i int) string { return fmt.Sprintf("/%d%s", page, strings.Repeat("/x", i)) }},
	} {
		if with, without := took(true, c.pages, c.path), took(false, c.pages, c.path); with > 6*without+time.Second {
			t.Errorf("%s: %s, and %s without the guard", name, with, without)
		}
	}
}

// TestPlainChangesAreComparedWithinBounds: beyond them they are refused, and those that need no comparing are not.
func TestPlainChangesAreComparedWithinBounds(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		mark := k.write(cookie("/", "before", false))
		var secure, many []CookieChange
		for i := range 200 {
			secure = append(secure, cookie(fmt.Sprintf("/s%d", i), "a", true))
			many = append(many, cookie(fmt.Sprintf("/p%d", i), "a", false))
		}
		k.write(secure...)
		other := set("", "www.other.test;/;a", `{"n":"a","v":"1","d":"www.other.test","p":"/","c":1,"u":1}`)
		k.write(overHTTP(mark, append(many, cookie("/p", "b", false), other)...)...)
		if got := k.refused(); got != "150" {
			t.Errorf("%q of 200 changes that have 200 rivals each are refused; 10,000 comparisons are allowed", got)
		}
		left := k.redisCookies()
		for name, want := range map[string]bool{" e.test;/p49;a": true, " e.test;/p50;a": false, " e.test;/p;b": true, " www.other.test;/;a": true} {
			if _, there := left[name]; there != want {
				t.Errorf("%q is there: %v", name, there)
			}
		}
	})
}

// TestPlainChangesLookBackWithinBounds: of a worker that knows nothing of what has changed lately a plain change is not taken.
func TestPlainChangesLookBackWithinBounds(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		first := k.write(cookie("/", "a", false))
		second := k.write(cookie("/", "b", false))
		var many []CookieChange
		for i := range 4999 {
			many = append(many, cookie(fmt.Sprintf("/%d", i), "x", false))
		}
		k.write(append(many, cookie("/s", "d", true))...)
		k.write(append(overHTTP(first, cookie("/", "c", false)), overHTTP(second, cookie("/", "e", false), cookie("/s/t", "d", false))...)...)
		left := k.redisCookies()
		for name, want := range map[string]bool{" e.test;/;c": false, " e.test;/;e": true, " e.test;/s/t;d": false} {
			if _, there := left[name]; there != want {
				t.Errorf("%q is there: %v", name, there)
			}
		}
	})
}

// TestEachYieldingChangeHasItsOwnMark: what one worker's page did not know says nothing of another page's cookie.
func TestEachYieldingChangeHasItsOwnMark(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		first := k.write(cookie("/", "a", false), cookie("/", "b", false))
		second := k.write(set("", "e.test;/;a", "changed"), set("", "e.test;/;b", "changed"))
		k.write(append(yields(first, set("", "e.test;/;a", "used")), yields(second, set("", "e.test;/;gone", "used"), set("", "e.test;/;b", "used"))...)...)
		if got := fmt.Sprint(k.redisCookies()); got != "map[ e.test;/;a:changed  e.test;/;b:used]" {
			t.Errorf("redis has %s", got)
		}
	})
}

// TestYieldingChangesReadNoRange: every page has one now and then, and a range may be long.
func TestYieldingChangesReadNoRange(t *testing.T) {
	t.Parallel()
	k := newKit(t, redistest.URL(t, "redis"), Config{})
	first := k.write(cookie("/", "a", false))
	k.write(cookie("/", "b", false))
	o := &Outcome{Cookies: yields(first, set("", "e.test;/;a", "used"))}
	k.rdb.ConfigResetStat(k.ctx)
	k.exchange(k.Frontier, []*Outcome{o}, 0, 0)
	info := k.rdb.Info(k.ctx, "commandstats").Val()
	if !strings.Contains(info, "cmdstat_zmscore") || strings.Contains(info, "rangebyscore") {
		t.Errorf("commands: %s", info)
	}
}

// TestARemovalYieldsWithinACommit to the cookie that a page of the same commit tells of, and its worker reads that back.
func TestARemovalYieldsWithinACommit(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		a := cookie("/", "a", true)
		mark := k.write(a)
		k.exchange(k.Frontier, []*Outcome{{Cookies: []CookieChange{a}}, {Cookies: yields(mark, set("", a.Key, ""))}}, 0, 0)
		back := jarCopy{}
		if k.news(k.Frontier, back); back[" "+a.Key] != a.Value || len(k.redisCookies()) != 1 {
			t.Errorf("read back %q, in redis %q", back, k.redisCookies())
		}
	})
}

// TestAPlainRemovalYields and leaves a Secure cookie alone, though nobody has changed it.
func TestAPlainRemovalYields(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		a, b := cookie("/", "a", true), cookie("/", "b", false)
		mark := k.write(a, b)
		k.write(overHTTP(mark, yields(mark, set("", a.Key, ""), set("", b.Key, ""))...)...)
		if got := k.redisCookies(); len(got) != 1 || got[" "+a.Key] != a.Value || k.refused() != "1" {
			t.Errorf("redis has %q; %q refused", got, k.refused())
		}
	})
}
