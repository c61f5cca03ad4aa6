package engine_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/engine/fetch/robots"
	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// obeyingSettings are openSettings that obey robots.txt.
func obeyingSettings() engine.Settings {
	s := openSettings()
	s.RobotstxtObey = true
	return s
}

// robotsSite is a site with a robots.txt, and what was asked of it.
func robotsSite(t *testing.T, robotsTxt http.HandlerFunc) (base string, asked *visits) {
	t.Helper()
	asked = &visits{}
	base = serveAll(t, func(w http.ResponseWriter, r *http.Request) {
		asked.note(r.URL.Path)
		switch {
		case r.URL.Path == "/robots.txt":
			robotsTxt(w, r)
		case strings.HasPrefix(r.URL.Path, "/to/"):
			http.Redirect(w, r, strings.TrimPrefix(r.URL.Path, "/to"), http.StatusFound)
		}
	})
	return base, asked
}

func serveAll(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) }
}

func TestRobotsIsAskedForOnceByTheFleetAndKept(t *testing.T) {
	t.Parallel()
	for name, delay := range map[string]time.Duration{"at once": 0, "delay": 500 * time.Millisecond} {
		for _, partition := range []scheduler.Partition{scheduler.PartitionHost, scheduler.PartitionNone} {
			t.Run(name+" "+string(partition), func(t *testing.T) {
				t.Parallel()
				base, asked := robotsSite(t, text("User-agent: *\nDisallow: /private\n"))
				spider := passing()
				spider.errbacks = map[string]func(*engine.Failure) (*engine.Output, error){"err": reasonItem}
				spider.seed = func(seed string) (*engine.Output, error) {
					return follow(&scheduler.Request{URL: seed, Errback: "err"}), nil
				}
				seeds := []string{base + "/private/direct", base + "/to/private/target"}
				for i := range 5 {
					seeds = append(seeds, fmt.Sprint(base, "/", i))
				}
				s := obeyingSettings()
				s.DownloadDelay, s.Partition = delay, partition
				stats := fleet(t, redistest.Start(t, redistest.Options{}).URL(), spider, 2, s, seeds...)
				paths, times := asked.list()
				slices.Sort(paths)
				if len(paths) != 7 || !slices.Contains(paths, "/robots.txt") || strings.Contains(strings.Join(paths, " "), " /private") {
					t.Errorf("asked for %d: %v", len(paths), paths)
				}
				for i := 1; i < len(times); i++ {
					if gap := times[i].Sub(times[i-1]); gap < delay/5 { // a busy machine may be late with a start
						t.Errorf("starts %d and %d are %s apart", i-1, i, gap)
					}
				}
				if stats["robotstxt/request_count"] != 1 || stats["robotstxt/forbidden"] != 2 || stats["item_scraped_count"] != 2 || stats["scheduler/dead"] != 0 || stats["response_received_count"] != 5 {
					t.Errorf("counters: %v", stats)
				}
			})
		}
	}
}

func TestWhatRobotsAnswersMean(t *testing.T) {
	t.Parallel()
	endless := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /page\n")
		for range 100 << 10 { // of 1 KB each, unless the crawler has seen enough
			if _, err := io.WriteString(w, strings.Repeat("#", 1023)+"\n"); err != nil {
				return
			}
		}
	}
	for _, c := range []struct {
		name    string
		robots  http.HandlerFunc
		allowed bool
		asked   int // for robots.txt
		change  func(*engine.Settings)
	}{
		{"404", status(404), true, 1, nil},
		{"401", status(401), true, 1, nil},
		{"403", status(403), true, 1, nil},
		{"429", status(429), false, 1, nil},
		{"500", status(500), false, 1, nil},
		{"503", status(503), false, 1, nil},
		{"empty", text(""), true, 1, nil},
		{"binary", text("\x7fELF\x00\x01\xff\xfe\r\x00Disallow\x00: /\x00" + strings.Repeat("\x00\xff", 5000)), true, 1, nil},
		{"100 MB", endless, false, 1, nil},
		{"of another crawler", text("User-agent: other\nDisallow: /\n"), true, 1, nil},
		{"of this crawler", text("User-agent: luacrawl\nDisallow: /\n\nUser-agent: *\nAllow: /\n"), false, 1, nil},
		{"timeout", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false, 1, func(s *engine.Settings) { s.DownloadTimeout = 500 * time.Millisecond }},
		{"broken", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "User-agent: *\n")
		}, false, 1, nil},
		{"loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/robots.txt", http.StatusFound) }, true, 1 + robots.MaxRedirects, nil},
		{"loop with a delay", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/robots.txt", http.StatusFound) }, true, 1 + robots.MaxRedirects,
			func(s *engine.Settings) { s.DownloadDelay = 50 * time.Millisecond }},
		{"redirect to rules", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery == "" {
				http.Redirect(w, r, "/robots.txt?2", http.StatusMovedPermanently)
				return
			}
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /\n")
		}, false, 2, nil},
		{"redirect to metadata", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/robots.txt", http.StatusFound)
		}, false, 1, func(s *engine.Settings) {
			s.AllowPrivateAddresses, s.AllowAddresses = false, []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		}},
		{"not obeyed", text("User-agent: *\nDisallow: /\n"), true, 0, func(s *engine.Settings) { s.RobotstxtObey = false }},
		{"crawl-delay of a minute", text("User-agent: *\nCrawl-delay: 60\n"), false, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base, asked := robotsSite(t, c.robots)
			s := obeyingSettings()
			if c.change != nil {
				c.change(&s)
			}
			stats := fleet(t, redistest.URL(t, "miniredis"), passing(), 1, s, base+"/page", base+"/page2")
			paths, _ := asked.list()
			robotsTxt, pages := 0, 0
			for _, p := range paths {
				if p == "/robots.txt" {
					robotsTxt++
				} else {
					pages++
				}
			}
			want, kept := 0, int64(2)
			if c.allowed {
				want, kept = 2, 0
			}
			if robotsTxt != c.asked || pages != want || stats["robotstxt/forbidden"] != kept || stats["scheduler/dead"] != 0 {
				t.Errorf("robots.txt was asked for %d times, want %d; pages %d, want %d; counters %v", robotsTxt, c.asked, pages, want, stats)
			}
		})
	}
}

func TestCrawlDelayIsKeptByTheFleet(t *testing.T) {
	t.Parallel()
	const delay = 600 * time.Millisecond
	base, asked := robotsSite(t, text("User-agent: *\nCrawl-delay: 0.6\n"))
	var seeds []string
	for i := range 5 {
		seeds = append(seeds, fmt.Sprint(base, "/", i))
	}
	fleet(t, redistest.Start(t, redistest.Options{}).URL(), passing(), 2, obeyingSettings(), seeds...)
	paths, times := asked.list()
	if len(paths) != 6 {
		t.Fatalf("asked for %v", paths)
	}
	for i := 1; i < len(times); i++ {
		if gap := times[i].Sub(times[i-1]); gap < delay/4 {
			t.Errorf("%s came %s after %s, the crawl-delay is %s", paths[i], gap, paths[i-1], delay)
		}
	}
}

// TestAWorkerIsKilledWhileItAsksForRobots: the claim ends with its lease, and another worker asks.
func TestAWorkerIsKilledWhileItAsksForRobots(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t, redistest.Options{}).URL()
	asking, gone := make(chan struct{}), make(chan struct{})
	var again atomic.Bool
	base, asked := robotsSite(t, func(w http.ResponseWriter, _ *http.Request) {
		if !again.Swap(true) {
			close(asking)
			<-gone
			return
		}
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /private\n")
	})
	s := obeyingSettings()
	s.Lease = time.Second
	victim := member(t.Context(), t, url, passing(), "victim", s, base+"/1", base+"/private")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = victim.Run(t.Context())
	}()
	<-asking
	victim.Kill()
	<-ended
	close(gone)
	stats := fleet(t, url, passing(), 1, s)
	paths, _ := asked.list()
	if strings.Join(paths, " ") != "/robots.txt /robots.txt /1" || stats["robotstxt/forbidden"] != 1 {
		t.Errorf("asked for %v; %v", paths, stats)
	}
}

// TestASiteThatCannotBeReachedFailsAsItsPages: nothing is known of its robots.txt then, so its pages are tried again and dead at last.
func TestASiteThatCannotBeReachedFailsAsItsPages(t *testing.T) {
	t.Parallel()
	s := obeyingSettings()
	s.RetryTimes = 1
	stats := fleet(t, redistest.URL(t, "miniredis"), passing(), 1, s, "http://127.0.0.1:1/page")
	if stats["retry/reason_count/connect"]+stats["retry/reason_count/private_address"] == 0 && stats["scheduler/dead"] != 1 || stats["robotstxt/forbidden"] != 0 || stats["scheduler/dead"] != 1 {
		t.Errorf("counters: %v", stats)
	}
}

// TestRobotsOnTheEmbeddedRedis: the scripts answer there as on a server.
func TestRobotsOnTheEmbeddedRedis(t *testing.T) {
	t.Parallel()
	base, asked := robotsSite(t, text("User-agent: *\nDisallow: /private\n"))
	r := newRig(t, passing(), func(s *engine.Settings) { s.RobotstxtObey = true }, base+"/1", base+"/private", base+"/2")
	sum := r.run(t)
	if paths, _ := asked.list(); len(paths) != 3 || sum.Total["robotstxt/forbidden"] != 1 {
		t.Errorf("asked for %v; %v", paths, sum.Total)
	}
}
