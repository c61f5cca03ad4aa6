package engine_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/scheduler/redistest"
)

// hosts are sites, by the names site0.test, site1.test ..., on one server. It notes when their pages are asked for.
type hosts struct {
	server *httptest.Server
	answer func(w http.ResponseWriter, n int) // to the n-th request to site0, from 1 on

	mu     sync.Mutex
	asked  map[string][]time.Time // guarded by mu
	inside map[string]int         // guarded by mu; requests at work
	most   map[string]int         // guarded by mu; of inside
}

func newHosts(t *testing.T, answer func(w http.ResponseWriter, n int)) *hosts {
	h := &hosts{answer: answer, asked: map[string][]time.Time{}, inside: map[string]int{}, most: map[string]int{}}
	h.server = httptest.NewServer(h)
	t.Cleanup(h.server.Close)
	return h
}

func siteName(i int) string { return fmt.Sprintf("site%d.test", i) }

func (h *hosts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, _ := net.SplitHostPort(r.Host)
	h.mu.Lock()
	h.asked[host] = append(h.asked[host], time.Now())
	n := len(h.asked[host])
	h.inside[host]++
	h.most[host] = max(h.most[host], h.inside[host])
	h.mu.Unlock()
	if host == siteName(0) && h.answer != nil {
		h.answer(w, n)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inside[host]--
}

// times are when pages of a site were asked for, and mostAtOnce how many of them at once.
func (h *hosts) times(site int) []time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]time.Time(nil), h.asked[siteName(site)]...)
}

func (h *hosts) mostAtOnce(site int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.most[siteName(site)]
}

// slot is that of a site.
func (h *hosts) slot(site int) string {
	_, port, _ := net.SplitHostPort(h.server.Listener.Addr().String())
	return net.JoinHostPort(siteName(site), port)
}

// visit has four workers on one Redis fetch so many pages of so many sites, and returns the counters and the Redis.
func (h *hosts) visit(t *testing.T, sites, pages int, s engine.Settings) (stats map[string]int64, redis string) {
	t.Helper()
	s.Resolve = map[string][]netip.Addr{}
	var seeds []string
	for i := range sites {
		s.Resolve[siteName(i)] = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
		for k := range pages {
			seeds = append(seeds, fmt.Sprintf("http://%s/%d", h.slot(i), k))
		}
	}
	redis = redistest.Start(t, redistest.Options{}).URL()
	stats = fleet(t, redis, passing(), 4, s, seeds...)
	if got := stats["response_received_count"]; got != int64(sites*pages) || stats["scheduler/dead"] != 0 {
		t.Errorf("%d pages of %d, %d dead", got, sites*pages, stats["scheduler/dead"])
	}
	return stats, redis
}
