package engine_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// TestRetryAfterHoldsTheSlotForTheFleet: after the first answer no worker starts a page of the site before its time; another site goes on.
func TestRetryAfterHoldsTheSlotForTheFleet(t *testing.T) {
	t.Parallel()
	const hold = 4 * time.Second
	for name, value := range map[string]func() string{
		"seconds": func() string { return "4" },
		"date":    func() string { return time.Now().Add(hold).UTC().Format(http.TimeFormat) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var busy, other visits
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if busy.note(r.URL.Path) == 1 {
					w.Header().Set("Retry-After", value())
					w.WriteHeader(http.StatusTooManyRequests)
				}
			}))
			defer site.Close()
			free := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { other.note(r.URL.Path) }))
			defer free.Close()
			var seeds []string
			for i := range 20 {
				seeds = append(seeds, fmt.Sprintf("%s/%d", site.URL, i), fmt.Sprintf("%s/%d", free.URL, i))
			}
			s := openSettings()
			s.ConcurrentRequestsPerDomain, s.RetryTimes = 1, 1 // one at a time, so that none is on its way when the answer comes
			stats := fleet(t, redistest.Start(t, redistest.Options{}).URL(), passing(), 2, s, seeds...)
			_, times := busy.list()
			if len(times) != 21 {
				t.Fatalf("%d pages were asked for, want 21", len(times))
			}
			// A date has no fractions of a second.
			if gap := times[1].Sub(times[0]); gap < hold-time.Second || gap > hold+10*time.Second {
				t.Errorf("the second start came after %s, want %s", gap, hold)
			}
			_, others := other.list()
			if len(others) != 20 || !others[19].Before(times[1]) {
				t.Errorf("the other site has %d pages, the last at %s, after %s", len(others), others[len(others)-1], times[1])
			}
			if stats["response_received_count"] != 40 || stats["scheduler/dead"] != 0 || stats["retry/after_count"] != 1 {
				t.Errorf("counters: %v", stats)
			}
		})
	}
}

// TestAPanicDoesNotForgetRetryAfter: the site has said it, whatever becomes of its page.
func TestAPanicDoesNotForgetRetryAfter(t *testing.T) {
	t.Parallel()
	var n visits
	base := serveAll(t, func(w http.ResponseWriter, r *http.Request) {
		if n.note(r.URL.Path) == 1 {
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	spider := passing()
	spider.callbacks["parse"] = func(r *engine.Response) (*engine.Output, error) {
		if r.Status != http.StatusOK {
			panic("on purpose")
		}
		return follow(), nil
	}
	s := openSettings()
	s.ConcurrentRequests, s.ConcurrentRequestsPerDomain, s.HandleHTTPStatusAll = 1, 1, true
	fleet(t, redistest.URL(t, "miniredis"), spider, 1, s, base+"/1", base+"/2")
	paths, times := n.list()
	if len(times) != 2 {
		t.Fatalf("asked for %q", paths)
	}
	if gap := times[1].Sub(times[0]); gap < time.Second {
		t.Errorf("the second page came after %s, want 2 s", gap)
	}
}

// TestAnAnswer429UsesUpNoTry, but an eternal one ends.
func TestAnAnswer429UsesUpNoTry(t *testing.T) {
	t.Parallel()
	var n visits
	base := serve(t, map[string]http.HandlerFunc{
		"/slow": func(w http.ResponseWriter, r *http.Request) {
			switch n.note(r.URL.Path) {
			case 1, 2:
				w.WriteHeader(http.StatusTooManyRequests)
			case 3:
				w.WriteHeader(http.StatusBadGateway)
			default:
				_, _ = io.WriteString(w, "at last")
			}
		},
		"/never": status(http.StatusTooManyRequests),
	})
	spider := passing()
	spider.seed = func(seed string) (*engine.Output, error) {
		r := &scheduler.Request{URL: base + seed, DontFilter: true}
		if seed == "/never" {
			r.Throttled, r.RetryTimes = 50, 1
		}
		return follow(r), nil
	}
	r := newRig(t, spider, func(s *engine.Settings) { s.RetryTimes = 1 }, "/slow", "/never")
	sum := r.run(t)
	if got := sum.Stats["response_received_count"]; got != 1 || sum.Total["scheduler/dead"] != 1 {
		t.Errorf("%d pages, %d dead: %v", got, sum.Total["scheduler/dead"], sum.Stats)
	}
	if got := sum.Stats["retry/count"]; got != 3 {
		t.Errorf("%d retries, want 3 of /slow and none of /never", got)
	}
}
