package engine_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// TestARefusingSiteIsSlowedForTheFleetAndRecovers: four workers together ask a site that answers 429 for two seconds no more than a few
// times, however many of its pages wait, and are soon at their old pace when it takes pages again.
func TestARefusingSiteIsSlowedForTheFleetAndRecovers(t *testing.T) {
	t.Parallel()
	const pages, perDomain = 150, 8
	run := func(t *testing.T, codes []int) (refused int, last []time.Time, left scheduler.Slot) {
		var mu sync.Mutex
		var since time.Time
		h := newHosts(t, func(w http.ResponseWriter, n int) {
			mu.Lock()
			defer mu.Unlock()
			if n == 20 {
				since = time.Now()
			}
			if n >= 20 && time.Since(since) < 2*time.Second {
				refused++
				w.WriteHeader(http.StatusTooManyRequests)
			}
		})
		s := openSettings()
		s.ConcurrentRequestsPerDomain, s.Throttling.MaxDelay, s.BackoffHTTPCodes = perDomain, time.Second, codes
		_, redis := h.visit(t, 1, pages, s)
		slots, err := dial(t.Context(), t, redis).Slot(t.Context(), "t", scheduler.Keys{}, h.slot(0))
		if err != nil || len(slots.First) != 1 {
			t.Fatalf("%v: %v", slots.First, err)
		}
		mu.Lock()
		defer mu.Unlock()
		times := h.times(0)
		return refused, times[len(times)-50:], slots.First[0]
	}
	t.Run("slowed", func(t *testing.T) {
		t.Parallel()
		refused, last, left := run(t, []int{429, 503})
		t.Logf("refused %d times; the last %d pages took %s", refused, len(last), last[len(last)-1].Sub(last[0]))
		if refused < 1 || refused > perDomain+4 {
			t.Errorf("refused %d times, want those that were on their way (up to %d) and one a second", refused, perDomain)
		}
		if took := last[len(last)-1].Sub(last[0]); took > 15*time.Second { // 50 s at the pace of the refusals
			t.Errorf("the last %d pages took %s", len(last), took)
		}
		if left.Says != scheduler.SaysAll || left.Delay != 0 {
			t.Errorf("still slowed down: %v", left)
		}
	})
	t.Run("turned off", func(t *testing.T) {
		t.Parallel()
		refused, _, _ := run(t, nil)
		t.Logf("refused %d times", refused)
		if refused <= perDomain+4 {
			t.Errorf("refused %d times: the test shows nothing", refused)
		}
	})
}

// TestOneSitesTroubleSlowsNoOther: a Retry-After is kept by all four workers, and the other sites take as long as in a fleet without
// it that runs at the same time.
func TestOneSitesTroubleSlowsNoOther(t *testing.T) {
	t.Parallel()
	const sites, pages, hold, bad = 5, 30, 3 * time.Second, 5
	refuse := func(header string) func(http.ResponseWriter, int) {
		return func(w http.ResponseWriter, n int) {
			if n != bad {
				return
			}
			switch header {
			case "seconds":
				w.Header().Set("Retry-After", fmt.Sprint(hold.Seconds()))
			case "date":
				w.Header().Set("Retry-After", time.Now().Add(hold).UTC().Format(http.TimeFormat))
			}
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}
	for name, gap := range map[string]time.Duration{"seconds": hold, "date": hold - time.Second, "none": 900 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			s := openSettings()
			s.DownloadDelay, s.ConcurrentRequestsPerDomain = 100*time.Millisecond, 1 // none is on its way when the answer comes
			s.Throttling.MaxDelay = time.Second
			var ratio float64
			for range 3 { // a machine with other work may be slow in one of them
				trouble, control := newHosts(t, refuse(name)), newHosts(t, nil)
				var wg sync.WaitGroup
				wg.Go(func() { control.visit(t, sites, pages, s) })
				trouble.visit(t, sites, pages, s)
				wg.Wait()
				times := trouble.times(0)
				if len(times) != pages+1 {
					t.Fatalf("%d requests, want %d pages and one again", len(times), pages)
				}
				if got := times[bad].Sub(times[bad-1]); got < gap {
					t.Errorf("asked again after %s, want %s", got, gap)
				}
				if ratio = trouble.others(sites).Seconds() / control.others(sites).Seconds(); ratio < 1.05 {
					t.Logf("the other sites took %.3f times as long; asked again after %s", ratio, times[bad].Sub(times[bad-1]))
					return
				}
			}
			t.Errorf("the other sites took %.3f times as long", ratio)
		})
	}
}

// others is the time from the first to the last page of each site but the first, added up.
func (h *hosts) others(sites int) (sum time.Duration) {
	for i := 1; i < sites; i++ {
		times := h.times(i)
		sum += times[len(times)-1].Sub(times[0])
	}
	return sum
}

// TestDelaysFollowTheLatency: four workers that could have eight requests at a site that takes 150 ms for a page have one, and few
// more when the machine is slow.
func TestDelaysFollowTheLatency(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set         func(*engine.Settings)
		least, most int
	}{
		"off": {func(*engine.Settings) {}, 6, 8},
		"on":  {func(s *engine.Settings) { s.Throttling.ByLatency, s.Throttling.StartDelay = true, 200*time.Millisecond }, 1, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHosts(t, func(http.ResponseWriter, int) { <-time.After(150 * time.Millisecond) })
			s := openSettings()
			c.set(&s)
			h.visit(t, 1, 30, s)
			if got := h.mostAtOnce(0); got < c.least || got > c.most {
				t.Errorf("up to %d requests at once, want %d to %d", got, c.least, c.most)
			}
		})
	}
}
