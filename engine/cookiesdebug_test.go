package engine_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// cookiesLog is what a crawl of some pages logs of cookies. /set sets three, one of them for another domain.
func cookiesLog(t *testing.T, level slog.Level, change func(*engine.Settings), pages ...*scheduler.Request) string {
	t.Helper()
	site := serveAll(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/set" {
			for _, line := range []string{"sid=sesame; Path=/; HttpOnly", "lang=sesame; Max-Age=60", "bad=sesame; Domain=other.org"} {
				w.Header().Add("Set-Cookie", line)
			}
		}
		for i := range 1000 {
			if r.URL.Path == "/many" {
				w.Header().Add("Set-Cookie", fmt.Sprintf("c%d=sesame", i))
			}
		}
		io.WriteString(w, "page")
	})
	for _, page := range pages {
		page.URL = site + page.URL
	}
	var lines bytes.Buffer
	var mu sync.Mutex
	logger := slog.New(slog.NewTextHandler(lockedWriter{&mu, &lines}, &slog.HandlerOptions{Level: level}))
	r := newRigWith(t, chain(pages...), func(s *engine.Settings) {
		*s = cookieSettings()
		s.CookiesDebug = true
		if change != nil {
			change(s)
		}
	}, func(o *engine.Options) { o.Logger = logger }, "seed")
	r.run(t)
	mu.Lock()
	defer mu.Unlock()
	var about []string
	for line := range strings.Lines(lines.String()) {
		if _, message, _ := strings.Cut(line, "msg="); strings.Contains(line, "sesame") || strings.Contains(message, "cookie") {
			about = append(about, strings.ReplaceAll(message, site, ""))
		}
	}
	return strings.Join(about, "")
}

func TestCookiesDebug(t *testing.T) {
	t.Parallel()
	received := `status=200 set_cookie="sid=***; Path=/; HttpOnly | lang=***; Max-Age=60 | bad=***; Domain=other.org"`
	refused := `"a cookie was not taken" url=/set error="cookie \"bad\": set by 127.0.0.1 for another domain, \"other.org\""` + "\n"
	byHand := http.Header{"Cookie": {"hand=sesame; sesame"}}
	for name, c := range map[string]struct {
		pages  []*scheduler.Request
		change func(*engine.Settings)
		want   string
	}{
		"received and sent": {[]*scheduler.Request{{URL: "/set"}, {URL: "/get"}}, nil,
			`"cookies received" url=/set ` + received + "\n" + refused + `"cookies sent" url=/get cookie="sid=***; lang=***"` + "\n"},
		"a jar of its own": {[]*scheduler.Request{{URL: "/get", Meta: meta(`{"cookiejar":"anna"}`), Cookies: scheduler.RequestCookies{{Name: "own", Value: "sesame"}}}}, nil,
			`"cookies sent" url=/get cookie="own=***" jar=anna` + "\n"},
		"kept out": {[]*scheduler.Request{{URL: "/set", Meta: meta(`{"dont_merge_cookies":true}`), Headers: byHand}}, nil,
			`"cookies sent" url=/set cookie="hand=***; ***"` + "\n" + `"cookies received and not kept" url=/set ` + received + "\n"},
		"of all requests": {[]*scheduler.Request{{URL: "/get"}}, func(s *engine.Settings) {
			s.CookiesEnabled, s.DefaultRequestHeaders = false, http.Header{"Cookie": {"all=sesame"}}
		}, `"cookies sent" url=/get cookie="all=***"` + "\n"},
		"none": {[]*scheduler.Request{{URL: "/get"}}, nil, ""},
		"off":  {[]*scheduler.Request{{URL: "/set"}, {URL: "/get"}}, func(s *engine.Settings) { s.CookiesDebug = false }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := cookiesLog(t, slog.LevelInfo, c.change, c.pages...); got != c.want {
				t.Errorf("log:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// TestCookiesDebugOfManyCookies shows the first and counts the others.
func TestCookiesDebugOfManyCookies(t *testing.T) {
	t.Parallel()
	got := cookiesLog(t, slog.LevelDebug, nil, &scheduler.Request{URL: "/many"})
	if !strings.HasSuffix(got, ` | c19=*** | 980 more"`+"\n") {
		t.Errorf("log: %s", got)
	}
}
