package engine_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// crowd is a server of many sites that counts who is inside of all of them at once.
type crowd struct {
	answer func(w http.ResponseWriter, r *http.Request)

	mu           sync.Mutex
	inside, most int            // guarded by mu
	asked        map[string]int // guarded by mu; by URL
}

func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.inside++
	c.most = max(c.most, c.inside)
	c.asked[r.Host+r.URL.Path]++
	c.mu.Unlock()
	c.answer(w, r) // what is short goes out when the handler is over
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inside--
}

// times is how often a URL was asked for.
func (c *crowd) times(r *http.Request) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[r.Host+r.URL.Path]
}

// open starts the server and gives the URLs of so many sites, with settings that know them.
func (c *crowd) open(t *testing.T, sites int) (urls []string, s engine.Settings) {
	t.Helper()
	c.asked = map[string]int{}
	_, port, err := net.SplitHostPort(strings.TrimPrefix(serveAll(t, c.ServeHTTP), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	s = obeyingSettings()
	s.Resolve = map[string][]netip.Addr{}
	for i := range sites {
		s.Resolve[siteName(i)] = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
		urls = append(urls, "http://"+net.JoinHostPort(siteName(i), port))
	}
	return urls, s
}

// TestAFleetKeepsToItsTotal: four workers have never more requests at their sites than the fleet may have, robots.txt, redirects and
// retries included; and none of them is stuck, also where one request is all.
func TestAFleetKeepsToItsTotal(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 3} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			t.Parallel()
			const sites = 6
			var c crowd
			c.answer = func(w http.ResponseWriter, r *http.Request) {
				<-time.After(5 * time.Millisecond)
				switch {
				case r.URL.Path == "/robots.txt" && strings.HasPrefix(r.Host, siteName(0)) && c.times(r) == 1:
					http.Redirect(w, r, "/moved.txt", http.StatusFound)
				case strings.HasSuffix(r.URL.Path, ".txt"):
					_, _ = io.WriteString(w, "User-agent: *\nDisallow: /private\n")
				case r.URL.Path == "/moved":
					http.Redirect(w, r, "/there", http.StatusFound)
				case r.URL.Path == "/fails" && c.times(r) < 3:
					w.WriteHeader(http.StatusInternalServerError)
				}
			}
			urls, s := c.open(t, sites)
			s.ConcurrentRequestsTotal = most
			spider := passing()
			spider.seed = func(seed string) (*engine.Output, error) {
				var list []*scheduler.Request
				for _, path := range []string{"/fails", "/moved", "/private", "/1", "/2", "/3"} {
					list = append(list, &scheduler.Request{URL: seed + path})
				}
				return follow(list...), nil
			}
			stats := fleet(t, redistest.Start(t, redistest.Options{}).URL(), spider, 4, s, urls...)
			if stats["response_received_count"] != 5*sites || stats["robotstxt/forbidden"] != sites || stats["retry/count"] != 2*sites || stats["scheduler/dead"] != 0 {
				t.Errorf("counters: %v", stats)
			}
			if c.most > most || c.most < min(most, 2) {
				t.Errorf("up to %d requests at once; the fleet may have %d", c.most, most)
			}
		})
	}
}

// TestAFleetGrowsIntoARaisedTotal: the first request raises the limit, and does not end before as many are there.
func TestAFleetGrowsIntoARaisedTotal(t *testing.T) {
	t.Parallel()
	const raised = 6
	var c crowd
	full := make(chan struct{})
	redis := redistest.Start(t, redistest.Options{}).URL()
	client := dial(t.Context(), t, redis)
	c.answer = func(_ http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		inside := c.inside
		c.mu.Unlock()
		if inside == 1 {
			change := scheduler.Change{Live: map[string]string{"concurrent_requests_total": fmt.Sprint(raised)}, Total: raised}
			if _, err := client.SetControl(r.Context(), "t", scheduler.Keys{}, change); err != nil {
				t.Error(err)
			}
		}
		if inside == raised {
			close(full)
		}
		select {
		case <-full:
		case <-time.After(20 * time.Second):
			t.Errorf("%d requests at once do not become %d", inside, raised)
		}
	}
	urls, s := c.open(t, raised)
	s.ConcurrentRequestsTotal, s.RobotstxtObey, s.ConcurrentRequests = 1, false, 2
	fleet(t, redis, passing(), 4, s, urls...)
	if c.most != raised {
		t.Errorf("up to %d requests at once, want %d", c.most, raised)
	}
}
