package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// slowSite answers when it is told to, and knows how many requests it holds.
type slowSite struct {
	*httptest.Server
	release chan struct{}

	mu   sync.Mutex
	held int // guarded by mu
}

func newSlowSite(t *testing.T) *slowSite {
	s := &slowSite{release: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s.add(1)
		defer s.add(-1)
		select {
		case <-s.release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *slowSite) add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += n
}

// holds waits until it holds n requests.
func (s *slowSite) holds(t *testing.T, n int) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	timeout := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		held := s.held
		s.mu.Unlock()
		if held == n {
			return
		}
		select {
		case <-ticker.C:
		case <-timeout:
			t.Fatalf("the site holds %d requests, want %d", held, n)
		}
	}
}

func manyPages(s *slowSite) *goSpider {
	return &goSpider{callbacks: map[string]func(*engine.Response) (*engine.Output, error){
		"parse": func(r *engine.Response) (*engine.Output, error) { return item(`{"u":%q}`, r.URL), nil },
	}, seed: func(string) (*engine.Output, error) {
		out := follow()
		for i := range 30 {
			out.Requests = append(out.Requests, &scheduler.Request{URL: fmt.Sprintf("%s/%d", s.URL, i)})
		}
		return out, nil
	}}
}

// TestConcurrencyGrowsAndShrinks while pages are in flight; all are done in the end.
func TestConcurrencyGrowsAndShrinks(t *testing.T) {
	t.Parallel()
	site := newSlowSite(t)
	r := newRig(t, manyPages(site), func(s *engine.Settings) { s.ConcurrentRequests, s.ConcurrentRequestsPerDomain = 2, 100 }, site.URL)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.run(t)
	}()
	site.holds(t, 2)
	set := func(n int) {
		s := r.settings
		s.ConcurrentRequests = n
		r.crawl.SetSettings(s)
	}
	set(9)
	site.release <- struct{}{} // the feeder hears of it with the next page at the latest
	site.holds(t, 9)
	set(3)
	for range 9 {
		site.release <- struct{}{}
	}
	site.holds(t, 3)
	close(site.release)
	<-done
	if len(r.items) != 30 {
		t.Errorf("%d items, want 30", len(r.items))
	}
}

// TestStoppedCrawlHandsBack: a state of stopped ends a crawl without waiting for its pages; nothing is lost, and the state was told.
func TestStoppedCrawlHandsBack(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(t *testing.T, r *rig, cancel context.CancelCauseFunc){
		"by its state": func(t *testing.T, r *rig, _ context.CancelCauseFunc) {
			if _, err := r.client.SetControl(t.Context(), "t", scheduler.Keys{}, scheduler.Change{State: scheduler.Stopped}); err != nil {
				t.Fatal(err)
			}
		},
		"by its context": func(_ *testing.T, _ *rig, cancel context.CancelCauseFunc) { cancel(engine.ErrStopped) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := newSlowSite(t)
			r := newRig(t, manyPages(site), func(s *engine.Settings) {
				s.Grace, s.ConcurrentRequests, s.ConcurrentRequestsPerDomain = time.Hour, 8, 4
			}, site.URL)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			ended := make(chan engine.Summary)
			go func() {
				sum, err := r.crawl.Run(ctx)
				if err != nil {
					t.Error(err)
				}
				ended <- sum
			}()
			site.holds(t, 4)
			stop(t, r, cancel)
			if sum := <-ended; sum.Reason != engine.ReasonStopped || sum.Released != 4 {
				t.Errorf("%s, %d handed back", sum.Reason, sum.Released)
			}
			if st := r.status(t); st.InFlight != 0 || st.Pending != 30 {
				t.Errorf("left: %+v", st)
			}
		})
	}
}
