package engine_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// A request's slot goes with its retries and with redirects on its site; another site has a politeness of its own.
func TestTheSlotOfARequestStaysOnItsSite(t *testing.T) {
	t.Parallel()
	other := serve(t, nil)
	var mu sync.Mutex
	failed := false
	site := serve(t, map[string]http.HandlerFunc{
		"/here":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/there", http.StatusFound) },
		"/leave": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other+"/other", http.StatusFound) },
		"/twice": func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if failed = !failed; failed {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		},
	})
	spider := &goSpider{
		seed: func(seed string) (*engine.Output, error) {
			return follow(&scheduler.Request{URL: seed, Slot: "api"}), nil
		},
		callbacks: map[string]func(*engine.Response) (*engine.Output, error){"parse": func(r *engine.Response) (*engine.Output, error) {
			return item(`{"path":%q,"slot":%q}`, r.URL[strings.LastIndex(r.URL, "/"):], r.Request.Slot), nil
		}},
	}
	r := newRig(t, spider, nil, site+"/here", site+"/leave", site+"/twice", site+"/plain")
	r.run(t)
	want := []string{`{"path":"/other","slot":""}`, `{"path":"/plain","slot":"api"}`, `{"path":"/there","slot":"api"}`, `{"path":"/twice","slot":"api"}`}
	if !slices.Equal(r.items, want) {
		t.Errorf("got %q, want %q", r.items, want)
	}
}
