package cli_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// graphSite serves pages /0 to /n-1, all reachable from /0, and remembers what was asked for.
type graphSite struct {
	*httptest.Server
	pages int
	links int
	delay time.Duration
	hook  func(w http.ResponseWriter, r *http.Request, page int) (handled bool)

	mu      sync.Mutex
	fetched map[string]int // path -> times, guarded by mu
	running map[string]int // host -> requests being answered, guarded by mu
	most    map[string]int // host -> most of them at once, guarded by mu
}

func newGraphSite(t *testing.T, s *graphSite) *graphSite {
	t.Helper()
	s.fetched, s.running, s.most = map[string]int{}, map[string]int{}, map[string]int{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	listener, err := net.Listen("tcp4", "0.0.0.0:0") // so that 127.0.0.2 and 127.0.0.3 are hosts of the site too
	if err != nil {
		t.Fatal(err)
	}
	s.Listener.Close()
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// url is a page of the site on one of its hosts.
func (s *graphSite) url(host string, page int) string {
	return fmt.Sprintf("http://%s:%d/%d", host, s.Listener.Addr().(*net.TCPAddr).Port, page)
}

// answersAfter waits before a site answers, and reports whether the client still does.
func answersAfter(r *http.Request, delay time.Duration) bool {
	if delay <= 0 {
		return true
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (s *graphSite) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.fetched[r.Host+r.URL.Path]++
	s.running[r.Host]++
	s.most[r.Host] = max(s.most[r.Host], s.running[r.Host])
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running[r.Host]--
		s.mu.Unlock()
	}()
	if !answersAfter(r, s.delay) {
		return
	}
	page, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil || page < 0 || page >= s.pages {
		http.NotFound(w, r)
		return
	}
	if s.hook != nil && s.hook(w, r, page) {
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!DOCTYPE html><title>%d</title>", page)
	for _, to := range s.linksOf(page) {
		fmt.Fprintf(w, `<a href="/%d">%d</a>`, to, to)
	}
}

// linksOf is a tree of three children a page, so that all are reachable, and some links across it.
func (s *graphSite) linksOf(page int) []int {
	var to []int
	for k := 3*page + 1; k <= 3*page+3 && k < s.pages; k++ {
		to = append(to, k)
	}
	for i := range s.links {
		to = append(to, (page*7919+i*104729+13)%s.pages)
	}
	return to
}

// fetches returns how often each path was asked for.
func (s *graphSite) fetches() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	copied := map[string]int{}
	for path, n := range s.fetched {
		copied[path] = n
	}
	return copied
}

// host is the site's first host as a slot names it.
func (s *graphSite) host() string {
	return strings.TrimSuffix(strings.TrimPrefix(s.url("127.0.0.1", 0), "http://"), "/0")
}
