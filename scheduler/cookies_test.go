package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// jarCopy is what a worker makes of the news.
type jarCopy map[string]string

func (k *kit) news(f *Frontier, into jarCopy) (all bool) {
	k.t.Helper()
	news, err := f.NewCookies(k.ctx, false)
	if err != nil {
		k.t.Fatal(err)
	}
	if news.All {
		clear(into)
	}
	for _, c := range news.Changes {
		if into[c.Jar+" "+c.Key] = c.Value; c.Value == "" {
			delete(into, c.Jar+" "+c.Key)
		}
	}
	return news.All
}

// redisCookies is what lies in Redis.
func (k *kit) redisCookies() jarCopy {
	k.t.Helper()
	all := jarCopy{}
	for field, value := range k.rdb.HGetAll(k.ctx, k.keys.cookies).Val() {
		all[strings.Replace(field, "\n", " ", 1)] = value
	}
	return all
}

func set(jar, key, value string) CookieChange { return CookieChange{Jar: jar, Key: key, Value: value} }

func TestCookiesComeWithTheCommitAndReachOthers(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		other := k.join()
		k.add(get("1"), get("2"), get("3"))
		x := k.exchange(k.Frontier, nil, 3, 0)
		if x.Cookies {
			t.Error("there is news before there is a cookie")
		}
		l := x.Leases
		k.commit(&Outcome{Lease: l[0], Cookies: []CookieChange{set("", "a", "1"), set("", "b", "1"), set("x\ny", "a", "2")}, Children: []Child{get("child")}})
		x = k.exchange(other, nil, 1, 0)
		if !x.Cookies || len(x.Leases) != 1 {
			t.Fatalf("the other is told %v, with %d leases", x.Cookies, len(x.Leases))
		}
		mine, theirs := jarCopy{}, jarCopy{}
		if !k.news(other, theirs) || !maps.Equal(theirs, jarCopy{" a": "1", " b": "1", "x\ny a": "2"}) {
			t.Errorf("the other has %q", theirs)
		}
		k.exchange(other, []*Outcome{{Lease: x.Leases[0], Cookies: []CookieChange{set("", "b", ""), set("", "c", "3"), set("", "gone", "")}}}, 0, 0)
		k.exchange(k.Frontier, []*Outcome{
			{Lease: l[1], Cookies: []CookieChange{set("", "a", "4")}}, {Lease: l[2], Cookies: []CookieChange{set("", "a", "5"), set("", "d", "5")}},
		}, 1, 0)
		want := jarCopy{" a": "5", " c": "3", " d": "5", "x\ny a": "2"}
		for name, f := range map[string]*Frontier{"mine": k.Frontier, "other": other} {
			into := map[string]jarCopy{"mine": mine, "other": theirs}[name]
			if k.news(f, into); !maps.Equal(into, want) {
				t.Errorf("%s has %q, want %q", name, into, want)
			}
			if x := k.exchange(f, nil, 1, 0); x.Cookies {
				t.Errorf("%s is told of news that it knows", name)
			}
		}
		if all := k.news(other, theirs); all || !maps.Equal(theirs, want) {
			t.Errorf("without news: all %v, %q", all, theirs)
		}
	})
}

// TestACookieThatIsThereIsNoChange: pages tell of every cookie that their site sets, and few sites set another one each time.
func TestACookieThatIsThereIsNoChange(t *testing.T) {
	for name, c := range map[string]struct {
		pages [][]CookieChange // of a commit each
		want  string           // number of changes
		left  jarCopy
	}{
		"again":               {[][]CookieChange{{set("", "a", "1")}, {set("", "a", "1")}, {set("", "a", "1"), set("", "a", "1")}}, "1", jarCopy{" a": "1"}},
		"beside another":      {[][]CookieChange{{set("", "a", "1")}, {set("", "a", "1"), set("", "b", "1")}}, "2", jarCopy{" a": "1", " b": "1"}},
		"in another jar":      {[][]CookieChange{{set("", "a", "1")}, {set("j", "a", "1")}}, "2", jarCopy{" a": "1", "j a": "1"}},
		"removed unknown":     {[][]CookieChange{{set("", "a", "1")}, {set("", "b", "")}, {set("", "a", "")}, {set("", "a", "")}}, "2", jarCopy{}},
		"back to what it was": {[][]CookieChange{{set("", "a", "1")}, {set("", "a", "2"), set("", "a", "1")}}, "2", jarCopy{" a": "1"}}, // a worker may have had them the other way round
		"gone and back":       {[][]CookieChange{{set("", "a", "1")}, {set("", "a", "")}, {set("", "a", "1")}}, "3", jarCopy{" a": "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, Config{}, func(t *testing.T, k *kit) {
				for i, changes := range c.pages {
					k.add(get(fmt.Sprint(i)))
					k.commit(&Outcome{Lease: k.lease(1)[0], Cookies: changes})
				}
				if got := k.rdb.HGet(k.ctx, k.keys.meta, "cookies").Val(); got != c.want || !maps.Equal(k.redisCookies(), c.left) {
					t.Errorf("%s changes, want %s; left %q", got, c.want, k.redisCookies())
				}
				want := 0
				for key, value := range c.left {
					want += len(key) + len(value)
				}
				if got := k.rdb.HGet(k.ctx, k.keys.meta, "cookies_bytes").Val(); got != fmt.Sprint(want) {
					t.Errorf("%s bytes, want %d", got, want)
				}
			})
		})
	}
}

func TestCookiesOfALatePageAreNotStored(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"))
		l := k.await(k.Frontier, 2)
		if err := k.Release(k.ctx, []string{l[0].ID}); err != nil {
			t.Fatal(err)
		}
		x := k.exchange(k.Frontier, []*Outcome{
			{Lease: l[0], Cookies: []CookieChange{set("", "late", "1")}}, {Lease: l[1], Cookies: []CookieChange{set("", "good", "1")}},
		}, 0, 0)
		if x.Stored[0] || !x.Stored[1] || !maps.Equal(k.redisCookies(), jarCopy{" good": "1"}) {
			t.Errorf("stored %v, redis has %q", x.Stored, k.redisCookies())
		}
	})
}

// TestCookiesGoBeforeTheChunksOfALargePage: no child may be leased before them.
func TestCookiesGoBeforeTheChunksOfALargePage(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		l := k.lease(1)
		o := &Outcome{Lease: l[0]}
		for i := range 3000 {
			o.Children = append(o.Children, get(fmt.Sprint("child", i)))
		}
		for i := range 200 { // more bytes than half a commit
			o.Cookies = append(o.Cookies, set("", fmt.Sprint(i), strings.Repeat("x", 4000)))
		}
		o.Prepare()
		s := newSending([]*Outcome{o})
		first, rest := k.next(s)
		if !rest || len(first.cookies) != 4*200 || first.children == 0 {
			t.Fatalf("the first commit has %d children and %d arguments of cookies; more follow: %v", first.children, len(first.cookies), rest)
		}
		k.commit(o)
		if n := k.rdb.HLen(k.ctx, k.keys.cookies).Val(); n != 200 {
			t.Errorf("%d cookies", n)
		}
		if got := k.rdb.HGet(k.ctx, k.keys.meta, "cookies").Val(); got != "200" {
			t.Errorf("they were written %s times", got)
		}
	})
}

// TestCookiesCountForTheSizeOfACommit: pages that fit by all else go in several.
func TestCookiesCountForTheSizeOfACommit(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		var outs []*Outcome
		for i := range 8 {
			outs = append(outs, &Outcome{Lease: Lease{ID: fmt.Sprint(i, "/x")}, Cookies: []CookieChange{set("", fmt.Sprint(i), strings.Repeat("x", 300<<10))}})
		}
		if c, rest := k.next(newSending(outs)); len(c.parts) != 3 || !rest {
			t.Errorf("%d of 8 pages with 300 KB of cookies each go in one commit", len(c.parts))
		}
	})
}

func TestCookiesBeyondTheLimitGo(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("3"))
		l := k.await(k.Frontier, 3)
		var many []CookieChange
		for i := range 300 {
			many = append(many, set("j", fmt.Sprintf("%03d", i), strings.Repeat("x", 1000)))
		}
		k.commit(&Outcome{Lease: l[0], Cookies: many})
		bytes := k.rdb.HGet(k.ctx, k.keys.meta, "cookies_bytes").Val()
		if bytes != fmt.Sprint(300*(5+1000)) {
			t.Errorf("%s bytes are counted", bytes)
		}
		copied := jarCopy{}
		k.news(k.Frontier, copied)
		k.rdb.HSet(k.ctx, k.keys.meta, "cookies_bytes", 64<<20-200) // as if there were many more
		k.commit(&Outcome{Lease: l[1], Cookies: []CookieChange{set("j", "000", strings.Repeat("y", 1000)), set("new", "a", strings.Repeat("z", 5000))}})
		left := slices.Sorted(maps.Keys(k.redisCookies()))
		if len(left) != 300-5+1 || left[0] != "j 000" || left[1] != "j 006" || left[len(left)-1] != "new a" {
			t.Errorf("%d left: %q", len(left), left[:3])
		}
		if all := k.news(k.Frontier, copied); all {
			t.Error("a worker that knew what went has to read all")
		}
		fresh := jarCopy{}
		if k.news(k.join(), fresh); !maps.Equal(fresh, k.redisCookies()) {
			t.Errorf("one that joins has %d", len(fresh))
		}
		behind := k.join()
		behind.cookies.number = 3
		if all := k.news(behind, jarCopy{"old": "1"}); !all {
			t.Error("a worker that does not know what went reads changes only")
		}
	})
}

// TestTooManyCookiesGo: by number, one that is used stays. miniredis would sort them all for each step.
func TestTooManyCookiesGo(t *testing.T) {
	t.Parallel()
	k := newKit(t, redistest.URL(t, "redis"), Config{})
	k.add(get("1"))
	l := k.lease(1)
	const n = 100_000
	for i := 0; i < n; i += 10_000 {
		pipe := k.rdb.Pipeline()
		for j := i; j < i+10_000; j++ {
			pipe.Do(k.ctx, "ZADD", k.keys.cookieChanges, j+1, fmt.Sprintf("\n%06d", j))
			pipe.HSet(k.ctx, k.keys.cookies, fmt.Sprintf("\n%06d", j), "{}")
		}
		if _, err := pipe.Exec(k.ctx); err != nil {
			t.Fatal(err)
		}
	}
	k.rdb.HSet(k.ctx, k.keys.meta, "cookies", n, "cookies_until", time.Now().Add(time.Hour).UnixMilli())
	var more []CookieChange
	for i := range 250 {
		more = append(more, set("", fmt.Sprintf("new%03d", i), "{}"))
	}
	k.commit(&Outcome{Lease: l[0], Cookies: append(more, set("", "000000", "used"))})
	if hash, set := k.rdb.HLen(k.ctx, k.keys.cookies).Val(), k.rdb.ZCard(k.ctx, k.keys.cookieChanges).Val(); hash != n || set != n {
		t.Errorf("%d cookies, %d changes", hash, set)
	}
	got := k.rdb.HMGet(k.ctx, k.keys.cookies, "\n000000", "\n000001", "\n000250", "\n000251", "\nnew249").Val()
	if fmt.Sprint(got) != "[used <nil> <nil> {} {}]" {
		t.Errorf("left are %v", got)
	}
	copied := jarCopy{}
	if !k.news(k.join(), copied) || len(copied) != n {
		t.Errorf("a worker reads %d", len(copied))
	}
}

func TestCookiesEndWithAFlushAndWithTheirTime(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		k.commit(&Outcome{Lease: k.lease(1)[0], Cookies: []CookieChange{set("", "a", "1")}})
		copied := jarCopy{}
		k.news(k.Frontier, copied)
		until, _ := k.rdb.HGet(k.ctx, k.keys.meta, "cookies_until").Int64()
		if kept := time.Until(time.UnixMilli(until)); kept < 29*24*time.Hour || kept > 31*24*time.Hour {
			t.Errorf("they are kept for %s", kept)
		}
		k.rdb.HSet(k.ctx, k.keys.meta, "cookies_until", 1) // 30 days later
		if anew := (jarCopy{}); !k.news(k.join(), anew) || len(anew) != 0 {
			t.Errorf("after their time: %q", anew)
		}
		k.add(get("2"))
		k.commit(&Outcome{Lease: k.lease(1)[0], Cookies: []CookieChange{set("", "b", "2")}})
		if all := k.news(k.Frontier, copied); !all || fmt.Sprint(copied) != "map[ b:2]" || len(k.redisCookies()) != 1 {
			t.Errorf("after their time and a new one: all %v, %q, in redis %q", all, copied, k.redisCookies())
		}
		k.rdb.HSet(k.ctx, k.keys.meta, "cookies_until", 1)
		k.add(get("3"))
		k.commit(&Outcome{Lease: k.lease(1)[0], Cookies: []CookieChange{set("", "b", "2")}}) // as before, which is void
		if all := k.news(k.Frontier, copied); !all || fmt.Sprint(copied) != "map[ b:2]" {
			t.Errorf("after their time and the same once more: all %v, %q", all, copied)
		}
		if err := k.client.Flush(k.ctx, k.cfg.Spider, k.cfg.Keys, FlushOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		if x := k.exchange(k.Frontier, nil, 1, 0); !x.Cookies {
			t.Error("a flush is no news")
		}
		if all := k.news(k.Frontier, copied); !all || len(copied) != 0 || k.rdb.Exists(k.ctx, k.keys.cookies, k.keys.cookieChanges).Val() != 0 {
			t.Errorf("after a flush: all %v, %q", all, copied)
		}
	})
}

// TestCookiesAfterRedisForgot: the numbers of changes are given anew, so a worker reads all.
func TestCookiesAfterRedisForgot(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("3"))
		l := k.await(k.Frontier, 3)
		k.commit(&Outcome{Lease: l[0], Cookies: []CookieChange{set("", "a", "1")}})
		k.news(k.Frontier, jarCopy{})
		k.rdb.Del(k.ctx, k.keys.cookies, k.keys.cookieChanges, k.keys.commits)
		k.rdb.HDel(k.ctx, k.keys.meta, "cookies", "cookies_bytes")
		x := k.exchange(k.Frontier, []*Outcome{{Lease: l[1], Cookies: []CookieChange{set("", "b", "1")}}}, 1, 0)
		copied := jarCopy{" a": "1"}
		if all := k.news(k.Frontier, copied); !x.Cookies || !all || !maps.Equal(copied, jarCopy{" b": "1"}) {
			t.Errorf("told %v, all %v, has %q", x.Cookies, all, copied)
		}
	})
}

func TestCookiesUnderAnotherType(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		l := k.lease(1)
		k.rdb.Set(k.ctx, k.keys.cookies, "theirs", 0)
		_, err := k.Exchange(k.ctx, []*Outcome{{Lease: l[0], Items: [][]byte{[]byte("{}")}, Cookies: []CookieChange{set("", "a", "1")}}}, 0, 0)
		if err == nil || !strings.Contains(err.Error(), "hotnews:cookies holds a string, not a hash") {
			t.Errorf("error: %v", err)
		}
		if n := k.rdb.LLen(k.ctx, k.keys.items).Val(); n != 0 {
			t.Error("half of the page is stored")
		}
	})
}

// TestAPlainChangeAfterRedisForgot: what a worker has compared it with says nothing about cookies whose numbers were given anew.
func TestAPlainChangeAfterRedisForgot(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		const secure = `{"n":"a","v":"1","d":"e.test","p":"/","sec":true,"c":1,"u":1}`
		k.add(get("1"), get("2"))
		l := k.await(k.Frontier, 2)
		k.commit(&Outcome{Lease: l[0], Cookies: []CookieChange{set("", "x", "1"), set("", "y", "1"), set("", "z", "1")}})
		news, err := k.NewCookies(k.ctx, false)
		if err != nil || news.Mark.number != 3 {
			t.Fatalf("knows %+v, %v", news.Mark, err)
		}
		k.rdb.Del(k.ctx, k.keys.cookies, k.keys.cookieChanges, k.keys.commits) // set back to before all that
		k.rdb.HDel(k.ctx, k.keys.meta, "cookies", "cookies_bytes")
		other := k.join()
		k.exchange(other, []*Outcome{{Cookies: []CookieChange{set("", "e.test;/;a", secure), set("", "p", "1"), set("", "q", "1"), set("", "r", "1")}}}, 0, 0)
		plain := set("", "e.test;/x;a", `{"n":"a","v":"2","d":"e.test","p":"/x","c":2,"u":2}`)
		plain.Plain, plain.Known = true, news.Mark
		k.commit(&Outcome{Lease: l[1], Cookies: []CookieChange{plain, set("", "w", "1")}})
		if got := k.redisCookies(); !maps.Equal(got, jarCopy{" e.test;/;a": secure, " w": "1", " p": "1", " q": "1", " r": "1"}) {
			t.Errorf("redis has %q", got)
		}
		if got := k.rdb.HGet(k.ctx, k.keys.stats, "cookies/refused").Val(); got != "1" {
			t.Errorf("%q are counted", got)
		}
	})
}
