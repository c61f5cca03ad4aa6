package engine_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"luacrawl/engine"
	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// TestTheBudgetOfASiteIsOfPagesThatCallbacksGet: its 404s, failures and redirects are none, with an errback or without.
func TestTheBudgetOfASiteIsOfPagesThatCallbacksGet(t *testing.T) {
	t.Parallel()
	base := serve(t, map[string]http.HandlerFunc{
		"/404/1": status(http.StatusNotFound), "/404/2": status(http.StatusNotFound), "/404/3": status(http.StatusNotFound), "/500": status(http.StatusInternalServerError),
		"/moved": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/a", http.StatusFound) },
	})
	var pages atomic.Int64
	spider := passing()
	spider.seed = func(seed string) (*engine.Output, error) {
		var list []*scheduler.Request
		for i, path := range []string{"/404/1", "/404/2", "/404/3", "/500", "/moved", "/b", "/c", "/d", "/e"} {
			r := &scheduler.Request{URL: seed + path, Priority: 100 - 10*i}
			if path == "/404/2" {
				r.Errback = "err"
			}
			list = append(list, r)
		}
		return follow(list...), nil
	}
	spider.errbacks = map[string]func(*engine.Failure) (*engine.Output, error){"err": func(*engine.Failure) (*engine.Output, error) { return follow(), nil }}
	spider.callbacks["parse"] = func(*engine.Response) (*engine.Output, error) {
		pages.Add(1)
		return follow(), nil
	}
	s := openSettings()
	s.ConcurrentRequestsPerDomain, s.RetryTimes, s.CloseSpiderPageCountPerSlot = 1, 0, 3
	stats := fleet(t, redistest.URL(t, "miniredis"), spider, 1, s, base)
	if got := pages.Load(); got != 3 {
		t.Errorf("callbacks had %d pages, want 3: %v", got, stats)
	}
	if got := stats["closespider_pagecount_per_slot/dropped"]; got != 2 {
		t.Errorf("%d dropped, want 2: %v", got, stats)
	}
}
