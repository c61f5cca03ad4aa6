package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"luacrawl/engine"
	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// cookieSite is a server whose pages do what their query says (set: a Set-Cookie header; many: so many of them; status; once: it holds for the
// first visit only; to: where a redirect leads; self: back to the page) and which notes what it was asked with.
type cookieSite struct {
	url, port string

	mu   sync.Mutex
	seen map[string]int // guarded by mu
	got  []string       // guarded by mu: "path Cookie-header"
}

func newCookieSite(t *testing.T) *cookieSite {
	s := &cookieSite{seen: map[string]int{}}
	s.url = serveAll(t, s.serve)
	s.port = s.url[strings.LastIndexByte(s.url, ':'):]
	return s
}

func (s *cookieSite) serve(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	host, _, _ := strings.Cut(r.Host, ":")
	if host == "127.0.0.1" {
		host = ""
	}
	s.got = append(s.got, strings.TrimSpace(host+r.URL.Path+" "+strings.Join(r.Header["Cookie"], " | ")))
	s.seen[r.URL.Path]++
	first := s.seen[r.URL.Path] == 1
	s.mu.Unlock()
	for _, line := range q["set"] {
		w.Header().Add("Set-Cookie", line)
	}
	var many int
	_, _ = fmt.Sscan(q.Get("many"), &many)
	for i := range many {
		w.Header().Add("Set-Cookie", fmt.Sprintf("many%04d=%d", i, i))
	}
	var code int
	_, _ = fmt.Sscan(q.Get("status"), &code)
	switch {
	case q.Has("to"):
		http.Redirect(w, r, q.Get("to"), http.StatusFound)
	case q.Has("self"):
		http.Redirect(w, r, r.URL.String(), http.StatusFound)
	case code > 0 && (first || q.Get("once") == ""):
		w.WriteHeader(code)
	}
}

func (s *cookieSite) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// at is the URL of a page of a host of the site, "" for its address, that does the given things: "set", "a=1", "status", "401" ...
func (s *cookieSite) at(host, path string, do ...string) string {
	base := s.url
	if host != "" {
		base = "http://" + host + s.port
	}
	q := url.Values{}
	for i := 0; i+1 < len(do); i += 2 {
		q.Add(do[i], do[i+1])
	}
	if len(q) == 0 {
		return base + path
	}
	return base + path + "?" + q.Encode()
}

// chain is a spider that asks for one page after another, whatever becomes of each.
func chain(requests ...*scheduler.Request) *goSpider {
	next := func() *engine.Output {
		if len(requests) == 0 {
			return &engine.Output{Revision: "rev1"}
		}
		r := *requests[0]
		r.Errback, r.DontFilter, requests = "err", true, requests[1:]
		return follow(&r)
	}
	return &goSpider{
		seed:      func(string) (*engine.Output, error) { return next(), nil },
		callbacks: map[string]func(*engine.Response) (*engine.Output, error){"parse": func(*engine.Response) (*engine.Output, error) { return next(), nil }},
		errbacks:  map[string]func(*engine.Failure) (*engine.Output, error){"err": func(*engine.Failure) (*engine.Output, error) { return next(), nil }},
	}
}

func cookieSettings() engine.Settings {
	s := openSettings()
	s.ConcurrentRequests, s.RetryTimes = 1, 0
	s.Resolve = map[string][]netip.Addr{}
	for _, name := range []string{"www.shop.test", "shop.test", "other.org", "a.co.uk", "b.co.uk"} {
		s.Resolve[name] = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	}
	return s
}

func meta(text string) json.RawMessage { return json.RawMessage(text) }

// cookieCases are pages that a crawl asks for one after the other, and with which cookies.
var cookieCases = []struct {
	name   string
	pages  func(s *cookieSite) []*scheduler.Request
	want   string
	change func(*engine.Settings)
}{
	{"sent back", func(s *cookieSite) []*scheduler.Request {
		return []*scheduler.Request{cookiePage(s, "/1", "set", "a=1", "set", "b=2; Path=/x"), cookiePage(s, "/2"), cookiePage(s, "/x/3")}
	}, "/1, /2 a=1, /x/3 b=2; a=1", nil},
	{"whatever the status", func(s *cookieSite) []*scheduler.Request {
		return []*scheduler.Request{cookiePage(s, "/1", "set", "a=1", "status", "401"), cookiePage(s, "/2", "set", "b=2", "status", "403"), cookiePage(s, "/3", "set", "c=3", "status", "500"), cookiePage(s, "/4")}
	}, "/1, /2 a=1, /3 a=1; b=2, /4 a=1; b=2; c=3", nil},
	{"with a redirect, whose target has them and not those of the request once more", func(s *cookieSite) []*scheduler.Request {
		r := &scheduler.Request{URL: s.at("www.shop.test", "/1", "set", "a=1; Domain=shop.test", "to", s.at("shop.test", "/2")), Meta: meta(`{"cookiejar":"j"}`)}
		r.Cookies = scheduler.RequestCookies{{Name: "own", Value: "1"}}
		return []*scheduler.Request{r, {URL: s.at("shop.test", "/3")}}
	}, "www.shop.test/1 own=1, shop.test/2 a=1, shop.test/3", nil},
	{"a retry keeps its jar and its cookies", func(s *cookieSite) []*scheduler.Request {
		r := cookiePage(s, "/1", "set", "a=1", "status", "503", "once", "1")
		r.Cookies, r.Meta = scheduler.RequestCookies{{Name: "own", Value: "1"}}, meta(`{"cookiejar":"j"}`)
		return []*scheduler.Request{r, cookiePage(s, "/2")}
	}, "/1 own=1, /1 own=1; a=1, /2", func(s *engine.Settings) { s.RetryTimes = 1 }},
	{"cookies of a request are merged", func(s *cookieSite) []*scheduler.Request {
		r := cookiePage(s, "/1")
		r.Cookies = scheduler.RequestCookies{{Name: "a", Value: "1"}, {Name: "b", Value: "2", Path: "/x"}}
		over := cookiePage(s, "/3")
		over.Cookies = scheduler.RequestCookies{{Name: "a", Value: "3"}}
		return []*scheduler.Request{r, cookiePage(s, "/x/2"), over, cookiePage(s, "/4")}
	}, "/1 a=1, /x/2 b=2; a=1, /3 a=3, /4 a=3", nil},
	{"cookies of a request for another domain, secure over http, and what cannot be sent", func(s *cookieSite) []*scheduler.Request {
		r := &scheduler.Request{URL: s.at("www.shop.test", "/1"), Cookies: scheduler.RequestCookies{
			{Name: "a", Value: "1", Domain: "shop.test"}, {Name: "b", Value: "1", Domain: "other.org"}, {Name: "c", Value: "1", Secure: new(true)}, {Name: "d", Value: "x;y"},
		}}
		return []*scheduler.Request{r, {URL: s.at("shop.test", "/2")}, {URL: s.at("other.org", "/3")}}
	}, "www.shop.test/1 a=1, shop.test/2 a=1, other.org/3", nil},
	{"jars by name, a number as its digits, inherited by nobody", func(s *cookieSite) []*scheduler.Request {
		in := func(r *scheduler.Request, jar string) *scheduler.Request {
			r.Meta = meta(`{"cookiejar":` + jar + `}`)
			return r
		}
		return []*scheduler.Request{
			in(cookiePage(s, "/1", "set", "a=1"), "1"), in(cookiePage(s, "/2", "set", "a=2"), `"x"`), cookiePage(s, "/3", "set", "a=0"), in(cookiePage(s, "/4"), `"1"`), in(cookiePage(s, "/5"), "1.0"),
			in(cookiePage(s, "/6"), `"x"`), in(cookiePage(s, "/7"), "null"), cookiePage(s, "/8"), in(cookiePage(s, "/9"), "1.5"), in(cookiePage(s, "/10"), `"a\nb"`),
		}
	}, "/1, /2, /3, /4 a=1, /5 a=1, /6 a=2, /7 a=0, /8 a=0, /9, /10", nil},
	{"a jar that is none", func(s *cookieSite) []*scheduler.Request {
		in := func(jar string) *scheduler.Request {
			r := cookiePage(s, "/1")
			r.Meta = meta(`{"cookiejar":` + jar + `}`)
			return r
		}
		return []*scheduler.Request{in("true"), in("[1]"), in(`{"a":1}`), in(`"` + strings.Repeat("x", 257) + `"`), cookiePage(s, "/2")}
	}, "/2", nil},
	{"a jar kept out", func(s *cookieSite) []*scheduler.Request {
		r := cookiePage(s, "/2", "set", "b=2")
		r.Meta, r.Headers = meta(`{"dont_merge_cookies":true}`), http.Header{"Cookie": {"hand=1"}}
		r.Cookies = scheduler.RequestCookies{{Name: "own", Value: "1"}}
		return []*scheduler.Request{cookiePage(s, "/1", "set", "a=1"), r, cookiePage(s, "/3")}
	}, "/1, /2 hand=1, /3 a=1", nil},
	{"a Cookie header by hand gives way", func(s *cookieSite) []*scheduler.Request {
		r := cookiePage(s, "/1", "set", "a=1")
		r.Headers = http.Header{"Cookie": {"hand=1"}}
		again := cookiePage(s, "/2")
		again.Headers = r.Headers
		return []*scheduler.Request{r, again}
	}, "/1, /2 a=1", nil},
	{"so does a default one", func(s *cookieSite) []*scheduler.Request {
		return []*scheduler.Request{cookiePage(s, "/1", "set", "a=1"), cookiePage(s, "/2")}
	}, "/1, /2 a=1", func(s *engine.Settings) { s.DefaultRequestHeaders = http.Header{"Cookie": {"default=1"}} }},
	{"off", func(s *cookieSite) []*scheduler.Request {
		r := cookiePage(s, "/2")
		r.Headers, r.Cookies = http.Header{"Cookie": {"hand=1"}}, scheduler.RequestCookies{{Name: "own", Value: "1"}}
		return []*scheduler.Request{cookiePage(s, "/1", "set", "a=1"), r, cookiePage(s, "/3")}
	}, "/1, /2 hand=1, /3", func(s *engine.Settings) { s.CookiesEnabled = false }},
	{"odd bytes", func(s *cookieSite) []*scheduler.Request {
		return []*scheduler.Request{cookiePage(s, "/1", "set", "\xe4=\xff\x80\"<,>é", "set", "tab=b\tc", "set", "no name"), cookiePage(s, "/2")}
	}, "/1, /2 \xe4=\xff\x80\"<,>é; tab=b\tc; no name", nil},
	{"a control character fails the page, as any header with one, and nothing else", func(s *cookieSite) []*scheduler.Request {
		return []*scheduler.Request{cookiePage(s, "/1", "set", "a=1"), cookiePage(s, "/2", "set", "b=\x01"), cookiePage(s, "/3")}
	}, "/1, /2 a=1, /3 a=1", nil},
	{"another domain, and the one above", func(s *cookieSite) []*scheduler.Request {
		return []*scheduler.Request{
			{URL: s.at("www.shop.test", "/1", "set", "a=1; Domain=other.org", "set", "b=1; Domain=shop.test", "set", "c=1")},
			{URL: s.at("other.org", "/2")}, {URL: s.at("shop.test", "/3")}, {URL: s.at("www.shop.test", "/4")},
		}
	}, "www.shop.test/1, other.org/2, shop.test/3 b=1, www.shop.test/4 b=1; c=1", nil},
	{"public suffix", func(s *cookieSite) []*scheduler.Request {
		return []*scheduler.Request{{URL: s.at("a.co.uk", "/1", "set", "a=1; Domain=co.uk", "set", "b=1")}, {URL: s.at("b.co.uk", "/2")}, {URL: s.at("a.co.uk", "/3")}}
	}, "a.co.uk/1, b.co.uk/2, a.co.uk/3 b=1", nil},
	{"over", func(s *cookieSite) []*scheduler.Request {
		return []*scheduler.Request{cookiePage(s, "/1", "set", "a=1", "set", "b=1", "set", "c=1; Max-Age=0"), cookiePage(s, "/2", "set", "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"), cookiePage(s, "/3")}
	}, "/1, /2 a=1; b=1, /3 b=1", nil},
}

func cookiePage(s *cookieSite, path string, do ...string) *scheduler.Request {
	return &scheduler.Request{URL: s.at("", path, do...)}
}

func TestCookies(t *testing.T) {
	t.Parallel()
	for _, c := range cookieCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newCookieSite(t)
			settings := cookieSettings()
			if c.change != nil {
				c.change(&settings)
			}
			fleet(t, redistest.URL(t, "miniredis"), chain(c.pages(s)...), 1, settings, "seed")
			if got := strings.Join(s.asked(), ", "); got != c.want {
				t.Errorf("asked for\n%q, want\n%q", got, c.want)
			}
		})
	}
}

// TestARedirectToItselfWithACookieIsFollowed: "come again with this cookie"; the filter knows the page, and it is fetched all the same. Without a
// new cookie it is not, so that it does not go round.
func TestARedirectToItselfWithACookieIsFollowed(t *testing.T) {
	t.Parallel()
	s := newCookieSite(t)
	spider := passing()
	spider.seed = func(seed string) (*engine.Output, error) { return follow(&scheduler.Request{URL: seed}), nil }
	fleet(t, redistest.URL(t, "miniredis"), spider, 1, cookieSettings(), s.at("", "/1", "set", "a=1", "self", "1"))
	if got := strings.Join(s.asked(), ", "); got != "/1, /1 a=1" {
		t.Errorf("asked for %q", got)
	}
}

// TestFiveThousandCookies: of what a site sets 180 are kept, the last ones, here and in Redis.
func TestFiveThousandCookies(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, redis string) {
		s := newCookieSite(t)
		fleet(t, redis, chain(&scheduler.Request{URL: s.at("", "/1", "many", "5000")}, &scheduler.Request{URL: s.at("", "/2")}), 1, cookieSettings(), "seed")
		fleet(t, redis, chain(&scheduler.Request{URL: s.at("", "/3")}), 1, cookieSettings(), "another") // reads them from Redis
		got := s.asked()
		if len(got) != 3 {
			t.Fatalf("%d pages", len(got))
		}
		for _, page := range got[1:] {
			if n := strings.Count(page, "="); n != 180 || !strings.HasSuffix(page, "many4999=4999") || !strings.Contains(page, " many4820=4820;") {
				t.Errorf("%d cookies are sent: %.80s", n, page)
			}
		}
	})
}

// TestCookieValuesAreInNoLog: they are credentials.
func TestCookieValuesAreInNoLog(t *testing.T) {
	t.Parallel()
	s := newCookieSite(t)
	own := &scheduler.Request{URL: s.at("", "/2"), Cookies: scheduler.RequestCookies{{Name: "a", Value: "sesame"}, {Name: "b", Value: "sesame", Domain: "other.org"}}, Headers: http.Header{"Cookie": {"sesame"}}}
	var lines bytes.Buffer
	var mu sync.Mutex
	logger := slog.New(slog.NewTextHandler(lockedWriter{&mu, &lines}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r := newRigWith(t, chain(&scheduler.Request{URL: s.url + "/1"}, own, &scheduler.Request{URL: s.url + "/3"}), func(set *engine.Settings) { *set = cookieSettings() },
		func(o *engine.Options) { o.Logger = logger }, "seed")
	r.run(t)
	mu.Lock()
	defer mu.Unlock()
	if strings.Contains(lines.String(), "sesame") {
		t.Errorf("log:\n%s", lines.String())
	}
	for _, want := range []string{"a cookie of a request cannot be sent", `a Cookie header is not sent`} {
		if strings.Count(lines.String(), want) != 1 {
			t.Errorf("log without %q:\n%s", want, lines.String())
		}
	}
	if got := strings.Join(s.asked(), ", "); got != "/1, /2 a=sesame, /3 a=sesame" {
		t.Errorf("asked for %q", got)
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	to *bytes.Buffer
}

func (w lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}
