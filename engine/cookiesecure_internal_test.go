package engine

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

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
					if list, err := newJarWorker(t, redis, "D").frontier.NewCookies(t.Context(), true); err != nil || slices.ContainsFunc(list.Changes, func(n scheduler.CookieChange) bool { return n.Value == change.Value }) {
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
