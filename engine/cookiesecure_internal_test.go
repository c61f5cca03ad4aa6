package engine

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"luacrawl/engine/fetch/cookies"
	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// jarWorker is what of a worker has to do with cookies: its copy of the jars and its way to Redis.
type jarWorker struct {
	*cookieJars
	frontier *scheduler.Frontier
	t        *testing.T
}

func newJarWorker(t *testing.T, redis, name string) *jarWorker {
	t.Helper()
	client, err := scheduler.Dial(t.Context(), scheduler.DialOptions{URL: redis, Wait: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	frontier, err := scheduler.Open(t.Context(), client, scheduler.Config{Spider: "t", Worker: name, Concurrency: 100, Persist: true})
	if err != nil {
		t.Fatal(err)
	}
	return &jarWorker{newCookieJars(slog.New(slog.DiscardHandler)), frontier, t}
}

// received is the outcome of a page that has set cookies.
func (w *jarWorker) received(url string, lines ...string) *scheduler.Outcome {
	o := &scheduler.Outcome{}
	o.Cookies, _ = w.incoming("", url, lines)
	return o
}

// commit stores pages in their order, in one commit.
func (w *jarWorker) commit(pages ...*scheduler.Outcome) {
	w.t.Helper()
	if _, err := w.frontier.Exchange(w.t.Context(), pages, 0, 0); err != nil {
		w.t.Fatal(err)
	}
}

// sync reads what has changed.
func (w *jarWorker) sync() *jarWorker {
	w.t.Helper()
	news, err := w.frontier.NewCookies(w.t.Context(), false)
	if err != nil {
		w.t.Fatal(err)
	}
	w.learn(news)
	return w
}

// TestPlainHTTPLeavesSecureCookiesAlone also where the worker that got the plain answer has not heard of the Secure cookie: https has set it
// on another worker meanwhile (RFC 6265bis, 5.7).
func TestPlainHTTPLeavesSecureCookiesAlone(t *testing.T) {
	t.Parallel()
	const secure, plain, sub = "https://e.test/", "http://e.test/", "https://www.e.test/"
	for name, c := range map[string]struct {
		from, https string // where https sets what
		lines       []string
		at          string // asked there, ...
		want        string // ... all workers send this
	}{
		"replaced":            {secure, "a=1; Secure", []string{"a=2"}, secure, "a=1"},
		"removed":             {secure, "a=1; Secure", []string{"a=; Max-Age=0"}, secure, "a=1"},
		"shadowed below":      {secure, "a=1; Secure; Path=/", []string{"a=2; Path=/x/y"}, secure + "x/y", "a=1"},
		"shadowed by domain":  {secure, "a=1; Secure", []string{"a=2; Domain=e.test"}, secure, "a=1"},
		"of a host below":     {sub, "a=1; Secure", []string{"a=2; Domain=e.test"}, sub, "a=1"},
		"another name":        {secure, "a=1; Secure", []string{"b=2"}, secure, "b=2; a=1"},
		"not a folder below":  {secure, "a=1; Secure; Path=/x", []string{"a=2; Path=/xy"}, secure + "x", "a=1"},
		"above it":            {secure, "a=1; Secure; Path=/x", []string{"a=2; Path=/"}, secure + "x", "a=1; a=2"},
		"of another host":     {"https://other.test/", "a=1; Secure", []string{"a=2"}, plain, "a=2"},
		"not Secure":          {secure, "a=1", []string{"a=2"}, secure, "a=2"},
		"Secure and over":     {secure, "a=1; Secure; Max-Age=60", []string{"a=2"}, secure, "a=2"},
		"with a second value": {secure, "a=1; Secure", []string{"a=2", "c=3", "a=4; Path=/z"}, secure + "z", "c=3; a=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, redis string) {
				a, b := newJarWorker(t, redis, "A"), newJarWorker(t, redis, "B")
				b.commit(b.received("https://z.test/", "z=1")) // there were cookies, which both know
				a.sync()
				b.sync()
				if strings.Contains(c.https, "Max-Age") {
					a.setClock(time.Now().Add(-time.Hour)) // it ends long before Redis hears of it
				}
				late := b.received(plain, c.lines...)
				a.commit(a.received(c.from, c.https))
				b.commit(late)
				for who, w := range map[string]*jarWorker{"A": a.sync(), "B": b.sync(), "C": newJarWorker(t, redis, "C").sync()} {
					if got := w.header("", c.at); got != c.want {
						t.Errorf("worker %s sends %q, want %q", who, got, c.want)
					}
				}
			})
		})
	}
}

// TestPlainHTTPLeavesSecureCookiesAloneWithinACommit: pages of one worker are stored in another order than they were fetched in.
func TestPlainHTTPLeavesSecureCookiesAloneWithinACommit(t *testing.T) {
	t.Parallel()
	for i, lines := range [][]string{{"a=2"}, {"a=; Max-Age=0"}, {"a=2; Path=/x"}} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, redis string) {
				w := newJarWorker(t, redis, "A")
				plain := w.received("http://e.test/", lines...)
				secure := w.received("https://e.test/", "a=1; Secure")
				w.commit(secure, plain)
				for who, w := range map[string]*jarWorker{"A": w.sync(), "B": newJarWorker(t, redis, "B").sync()} {
					if got := w.header("", "https://e.test/x"); got != "a=1" {
						t.Errorf("worker %s sends %q", who, got)
					}
				}
			})
		})
	}
}

// TestCookiesOfAFolderWithASemicolon reach other workers, and plain http cannot hide them below it.
func TestCookiesOfAFolderWithASemicolon(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, redis string) {
		a, b := newJarWorker(t, redis, "A"), newJarWorker(t, redis, "B")
		late := b.received("http://e.test/shop;pgid=1/below/item", "a=2", "b=2")
		a.commit(a.received("https://e.test/shop;pgid=1/item", "a=1; Secure", "c=3"))
		b.commit(late)
		for who, w := range map[string]*jarWorker{"A": a.sync(), "B": b.sync()} {
			if got := w.header("", "https://e.test/shop;pgid=1/below/"); got != "b=2; a=1; c=3" {
				t.Errorf("worker %s sends %q", who, got)
			}
		}
		b.commit(b.received("https://e.test/shop;pgid=1/item", "a=; Max-Age=0"))
		if got := a.sync().header("", "https://e.test/shop;pgid=1/"); got != "c=3" {
			t.Errorf("after its end worker A sends %q", got)
		}
	})
}

// TestUseOfACookieUndoesNothing: that a cookie was sent is written down with the page, and another worker's page may have changed it meanwhile.
func TestUseOfACookieUndoesNothing(t *testing.T) {
	t.Parallel()
	const page = "https://e.test/"
	for name, c := range map[string]struct{ line, want string }{
		"changed":    {"a=2", "a=2"},
		"removed":    {"a=; Max-Age=0", ""},
		"as before":  {"b=2", "a=1; b=2"},
		"made other": {"a=1; Secure", "a=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, redis string) {
				a, b := newJarWorker(t, redis, "A"), newJarWorker(t, redis, "B")
				a.commit(a.received(page, "a=1"))
				a.sync()
				b.sync()
				a.setClock(time.Now().Add(2 * time.Hour))
				used := &scheduler.Outcome{}
				_, used.Cookies, _ = a.outgoing("", &scheduler.Request{URL: page})
				if len(used.Cookies) != 1 {
					t.Fatalf("the use of a cookie is %d changes", len(used.Cookies))
				}
				b.commit(b.received(page, c.line))
				a.commit(used)
				for who, w := range map[string]*jarWorker{"A": a.sync(), "B": b.sync(), "C": newJarWorker(t, redis, "C").sync()} {
					if got := w.header("", page); got != c.want {
						t.Errorf("worker %s sends %q, want %q", who, got, c.want)
					}
				}
				noted := 0 // that it was used is known where nothing has happened to it
				for _, change := range used.Cookies {
					list, err := newJarWorker(t, redis, "D").frontier.NewCookies(t.Context(), true)
					if err != nil {
						t.Fatal(err)
					}
					if slices.ContainsFunc(list.Changes, func(n scheduler.CookieChange) bool { return n.Value == change.Value }) {
						noted++
					}
				}
				if (noted == 1) != (name == "as before") {
					t.Errorf("%d uses are noted", noted)
				}
			})
		})
	}
}

// TestMakingRoomLeavesRenewedCookies: a worker whose copy of a site is full drops a cookie that another worker's page has just renewed.
func TestMakingRoomLeavesRenewedCookies(t *testing.T) {
	t.Parallel()
	const page = "https://e.test/"
	for name, c := range map[string]struct {
		url, line string // what makes the room necessary
		crowd     int    // Secure cookies before
	}{
		"over https": {page, "more=1; Secure", cookies.MaxPerSite},
		"over http":  {"http://e.test/", "more=1", cookies.MaxPerSite + 1}, // as two workers' pages may make them
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, redis string) {
				a, b, other := newJarWorker(t, redis, "A"), newJarWorker(t, redis, "B"), newJarWorker(t, redis, "C")
				var first, rest []string
				for i := range c.crowd {
					first = append(first, fmt.Sprintf("s%03d=old; Secure", i))
				}
				first, rest = first[:cookies.MaxPerSite], first[cookies.MaxPerSite:]
				a.commit(a.received(page, first...))
				other.commit(other.received(page, rest...))
				a.sync()
				b.sync()
				late := b.received(c.url, c.line)
				if !slices.ContainsFunc(late.Cookies, func(change scheduler.CookieChange) bool { return change.Key == "e.test;/;s000" && change.Value == "" }) {
					t.Fatalf("the page makes no room: %d changes", len(late.Cookies))
				}
				a.commit(a.received(page, "s000=new; Secure"))
				b.commit(late)
				for who, w := range map[string]*jarWorker{"A": a.sync(), "B": b.sync(), "C": other.sync()} {
					if got := w.header("", page); !strings.Contains(got, "s000=new") {
						t.Errorf("worker %s has lost it: %.40q...", who, got)
					}
				}
			})
		})
	}
}

// TestAJarThatIsTooFullIsCutBeforeARequest: what other workers have put into it may be more than any request should carry.
func TestAJarThatIsTooFullIsCutBeforeARequest(t *testing.T) {
	t.Parallel()
	const page = "https://e.test/"
	redis := redistest.URL(t, "miniredis")
	for w := range 3 {
		var lines []string
		for i := range cookies.MaxPerSite {
			lines = append(lines, fmt.Sprintf("c%d_%d=1", w, i))
		}
		one := newJarWorker(t, redis, fmt.Sprint(w))
		one.commit(one.received(page, lines...))
	}
	a, b := newJarWorker(t, redis, "A").sync(), newJarWorker(t, redis, "B")
	header, changes, _ := a.outgoing("", &scheduler.Request{URL: page})
	if got := strings.Count(header, "="); got != cookies.MaxPerSite || len(changes) != 2*cookies.MaxPerSite {
		t.Errorf("the request has %d cookies, and %d changes", got, len(changes))
	}
	a.commit(&scheduler.Outcome{Cookies: changes})
	if got := strings.Count(b.sync().header("", page), "="); got != cookies.MaxPerSite {
		t.Errorf("another worker has %d cookies", got)
	}
}
