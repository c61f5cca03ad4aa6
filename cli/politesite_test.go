package cli_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// politeSite is many hosts, on loopback addresses, that remember when they were asked for what. A round of a host begins at /0, which links
// to the others; some of these redirect, to this host or to the next one, or fail at first, and some lead where robots.txt forbids it.
type politeSite struct {
	*httptest.Server
	hosts int
	port  int
	delay time.Duration // of an answer

	mu      sync.Mutex
	came    map[string][]time.Time // by host, robots.txt too; guarded by mu
	robots  map[string]int         // by host, of robots.txt alone; guarded by mu
	tried   map[string]bool        // URLs that have failed once; guarded by mu
	running map[string]int         // by host; guarded by mu
	most    map[string]int         // of running, by host; guarded by mu
	private []string               // what should never be asked for; guarded by mu
}

// politeChain is how many redirects a chain has: each leaves its host's queue empty for a moment.
const politeChain = 3

func newPoliteSite(t *testing.T, hosts int, delay time.Duration) *politeSite {
	t.Helper()
	s := &politeSite{
		hosts: hosts, delay: delay,
		came: map[string][]time.Time{}, robots: map[string]int{}, tried: map[string]bool{}, running: map[string]int{}, most: map[string]int{},
	}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	listener, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Listener.Close()
	s.Listener, s.port = listener, listener.Addr().(*net.TCPAddr).Port
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// host is the address of one of the hosts, as slots and Host headers have it.
func (s *politeSite) host(i int) string { return fmt.Sprintf("127.0.1.%d:%d", 1+i%s.hosts, s.port) }

// round are the seeds of one round of so many pages a host.
func (s *politeSite) round(number, pages int) []string {
	var seeds []string
	for i := range s.hosts {
		seeds = append(seeds, fmt.Sprintf("http://%s/0?round=%d&pages=%d", s.host(i), number, pages))
	}
	return seeds
}

func (s *politeSite) serve(w http.ResponseWriter, r *http.Request) {
	s.note(r)
	defer s.leave(r)
	if !answersAfter(r, s.delay) {
		return
	}
	query := "?" + r.URL.RawQuery
	kind, number, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch n, _ := strconv.Atoi(number); kind {
	case "robots.txt":
		fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
		return
	case "chain":
		if n > 0 {
			redirect(w, fmt.Sprintf("/chain/%d%s&from=%s", n-1, query, r.URL.Query().Get("from")))
			return
		}
	case "0":
		s.hub(w, r.URL.Query(), query)
		return
	case "moved":
	default:
		if n, err := strconv.Atoi(kind); err == nil && s.odd(w, r, n, query) {
			return
		}
	}
	page(w, "")
}

// odd answers pages that are no pages.
func (s *politeSite) odd(w http.ResponseWriter, r *http.Request, n int, query string) bool {
	host, _, _ := net.SplitHostPort(r.Host)
	self, _ := strconv.Atoi(host[strings.LastIndexByte(host, '.')+1:])
	switch n % 10 {
	case 1:
		redirect(w, fmt.Sprintf("http://%s/moved/%d%s", s.host(self), n, query)) // self counts from 1: this is the next one
	case 2:
		redirect(w, fmt.Sprintf("http://%s/private/%d%s", s.host(self), n, query))
	case 3:
		redirect(w, fmt.Sprintf("/chain/%d%s&from=%d", politeChain, query, n))
	case 4, 5:
		s.mu.Lock()
		again := s.tried[r.Host+r.URL.String()]
		s.tried[r.Host+r.URL.String()] = true
		s.mu.Unlock()
		if again {
			return false
		}
		http.Error(w, "not now", http.StatusBadGateway)
	default:
		return false
	}
	return true
}

func (s *politeSite) hub(w http.ResponseWriter, query url.Values, raw string) {
	pages, _ := strconv.Atoi(query.Get("pages"))
	var links strings.Builder
	for n := 1; n < pages; n++ {
		fmt.Fprintf(&links, `<a href="/%d%s">%d</a>`, n, strings.ReplaceAll(raw, "&", "&amp;"), n)
	}
	page(w, links.String()+`<a href="/private/0`+strings.ReplaceAll(raw, "&", "&amp;")+`">private</a>`)
}

func page(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, "<!DOCTYPE html><title>page</title>", body)
}

func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusFound)
}

func (s *politeSite) note(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.came[r.Host] = append(s.came[r.Host], time.Now())
	s.running[r.Host]++
	s.most[r.Host] = max(s.most[r.Host], s.running[r.Host])
	switch {
	case r.URL.Path == "/robots.txt":
		s.robots[r.Host]++
	case strings.HasPrefix(r.URL.Path, "/private"):
		s.private = append(s.private, r.Host+r.URL.String())
	}
}

func (s *politeSite) leave(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[r.Host]--
}

// asked is how many requests have come.
func (s *politeSite) asked() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, came := range s.came {
		n += len(came)
	}
	return n
}
