package engine_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"luacrawl/engine"
	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// redirectWith sends a client on, with cookies.
func redirectWith(w http.ResponseWriter, r *http.Request, path string, cookies ...string) {
	for _, c := range cookies {
		w.Header().Add("Set-Cookie", c+"; Path=/")
	}
	http.Redirect(w, r, path, http.StatusFound)
}

// comebacks are sites that send the crawl back to where it has been.
var comebacks = map[string]struct {
	serve http.HandlerFunc
	seeds []string
	most  int // of requests
	pages []string
}{
	"the way sets it": {func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/way":
			redirectWith(w, r, "/a", "a=1")
		case r.Header.Get("Cookie") == "":
			redirectWith(w, r, "/way")
		}
	}, []string{"/a"}, 3, []string{"/a"}},
	"the page sets it, the way does not": {func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/way":
			redirectWith(w, r, "/a")
		case r.Header.Get("Cookie") == "":
			redirectWith(w, r, "/way", "a=1")
		}
	}, []string{"/a"}, 3, []string{"/a"}},
	"two more, with two cookies": {func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/1":
			redirectWith(w, r, "/2", "a=1")
		case r.URL.Path == "/2":
			redirectWith(w, r, "/a", "b=1")
		case r.Header.Get("Cookie") != "a=1; b=1":
			redirectWith(w, r, "/1")
		}
	}, []string{"/a"}, 4, []string{"/a"}},
	"many at once, with one cookie for all": {func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/way":
			redirectWith(w, r, r.URL.RawQuery, "a=1")
		case r.Header.Get("Cookie") == "":
			redirectWith(w, r, "/way?"+r.URL.Path)
		}
	}, []string{"/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"}, 24, []string{"/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"}},
	"many at once to themselves, with one cookie for all": {func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") == "" {
			redirectWith(w, r, r.URL.Path, "a=1")
		}
	}, []string{"/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"}, 16, []string{"/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"}},
	"round without a cookie": {func(w http.ResponseWriter, r *http.Request) {
		redirectWith(w, r, map[string]string{"/a": "/b", "/b": "/a"}[r.URL.Path])
	}, []string{"/a"}, 2, nil},
	"round with one": {func(w http.ResponseWriter, r *http.Request) {
		redirectWith(w, r, map[string]string{"/a": "/b", "/b": "/a"}[r.URL.Path], "a=1")
	}, []string{"/a"}, 4, nil},
	"round with another each time": {func(w http.ResponseWriter, r *http.Request) {
		redirectWith(w, r, map[string]string{"/a": "/b", "/b": "/a"}[r.URL.Path], "a="+r.Header.Get("Cookie"))
	}, []string{"/a"}, 21, nil}, // redirect_max_times
	"to a page that others have had": {func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/old":
			redirectWith(w, r, "/older", "a=1")
		case "/older":
			redirectWith(w, r, "/a", "b=1")
		}
	}, []string{"/a", "/old"}, 3, []string{"/a"}},
}

// TestARedirectThatComesBackWithACookieIsFollowed: over pages that set it and back; the filter knows the page, and its callback gets it all the
// same, once. Where no cookie has changed it does not go round.
func TestARedirectThatComesBackWithACookieIsFollowed(t *testing.T) {
	t.Parallel()
	for name, c := range comebacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var asked, pages []string
			base := serveAll(t, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked = append(asked, r.URL.Path)
				mu.Unlock()
				c.serve(w, r)
			})
			var seeds []string
			for _, s := range c.seeds {
				seeds = append(seeds, base+s)
			}
			spider := passing()
			spider.seed = func(seed string) (*engine.Output, error) { return follow(&scheduler.Request{URL: seed}), nil }
			spider.callbacks["parse"] = func(r *engine.Response) (*engine.Output, error) {
				mu.Lock()
				defer mu.Unlock()
				pages = append(pages, strings.TrimPrefix(r.URL, base))
				return follow(), nil
			}
			fleet(t, redistest.URL(t, "miniredis"), spider, 1, cookieSettingsFor(len(seeds)), seeds...)
			slices.Sort(pages)
			if !slices.Equal(pages, c.pages) || len(asked) > c.most {
				t.Errorf("callbacks had %q, want %q; asked for %q, at most %d", pages, c.pages, asked, c.most)
			}
		})
	}
}

// cookieSettingsFor so many pages at once.
func cookieSettingsFor(n int) engine.Settings {
	s := cookieSettings()
	s.ConcurrentRequests, s.ConcurrentRequestsPerDomain = n, n
	return s
}
