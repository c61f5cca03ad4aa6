package engine_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/engine/fetch"
	"luacrawl/scheduler"
	"luacrawl/scheduler/weburl"
)

// onlySite is the one address of this machine that a crawl may connect to in the tests below.
const onlySite = "127.0.0.9"

// trapListener listens on every address of this machine, with one port. Connections to onlySite are the site's; all others are trapped.
type trapListener struct {
	net.Listener
	trapped atomic.Int32
}

func (l *trapListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		to, err := netip.ParseAddrPort(conn.LocalAddr().String())
		if err == nil && to.Addr().Unmap().String() == onlySite {
			return conn, nil
		}
		l.trapped.Add(1)
		conn.Close()
	}
}

// trappedSite serves onlySite: /to?URL redirects there, /again fails once, and hosts named robots*.test redirect their robots.txt to ::1.
func trappedSite(t *testing.T) (port string, trap *trapListener, visited *visits) {
	t.Helper()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	trap, visited = &trapListener{Listener: l}, &visits{}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	var failed atomic.Bool
	s := &httptest.Server{Listener: trap, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visited.note(r.Host + r.URL.Path)
		w.Header().Set("Connection", "close") // so that each request asks for the address
		switch {
		case r.URL.Path == "/robots.txt" && strings.HasPrefix(r.Host, "robots"):
			w.Header().Set("Location", "http://[::1]:"+port+"/robots.txt")
			w.WriteHeader(http.StatusFound)
		case r.URL.Path == "/to":
			w.Header().Set("Location", r.URL.RawQuery)
			w.WriteHeader(http.StatusFound)
		case r.URL.Path == "/again" && !failed.Swap(true):
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			_, _ = io.WriteString(w, "page")
		}
	})}}
	s.Start()
	t.Cleanup(s.Close)
	return port, trap, visited
}

// normal is a URL as scripts hand it to the engine.
func normal(t *testing.T, url string) string {
	u, err := weburl.Parse(url)
	if err != nil {
		t.Errorf("%s: %v", url, err)
	}
	return u
}

// guardedSettings obey robots.txt and may connect to onlySite.
func guardedSettings() engine.Settings {
	s := engine.DefaultSettings()
	s.AllowAddresses, s.RetryTimes = []netip.Prefix{netip.MustParsePrefix(onlySite + "/32")}, 1
	s.Resolve = map[string][]netip.Addr{
		"robots.test": {netip.MustParseAddr(onlySite)}, "fixed.test": {netip.MustParseAddr("127.0.0.1")}, "both.test": {netip.MustParseAddr("::1"), netip.MustParseAddr("127.0.0.1")},
	}
	return s
}

// TestGuardInAWholeCrawl: addresses that are not public, in every notation and on every way to them, get no connection from a crawl.
func TestGuardInAWholeCrawl(t *testing.T) {
	t.Parallel()
	port, trap, visited := trappedSite(t)
	notations := []string{
		"127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "127.0.0.8", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "017700000001", "0177.0.0.1", "0177.1",
		"127.0x0.0.01", "0", "0.0.0.0", "0x0", "localhost", "LOCALHOST", "localhost.", "127.0.0.1.", "%31%32%37.0.0.1", "１２７.0.0.1", "127。0。0。1",
		"[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[2002:7f00:1::]",
		"fixed.test", "both.test", "first.test", "169.254.169.254", "[fd00:ec2::254]", "10.0.0.1", "192.168.1.1", "100.64.0.1", "[fe80::1]",
	}
	var seeds []string
	for i, host := range notations {
		u := fmt.Sprintf("http://%s:%s/%d", host, port, i)
		seeds = append(seeds, u, "http://"+onlySite+":"+port+"/to?"+u+"/redirected")
	}
	seeds = append(seeds, "https://127.0.0.1:"+port+"/tls", "http://robots.test:"+port+"/page", "http://again.test:"+port+"/again")
	for _, to := range []string{"file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:" + port + "/", "http://127.0.0.1:22/", "http://" + onlySite + ":6379/", "http://" + onlySite + ":25/", "javascript:1", "//127.0.0.1:" + port + "/x"} {
		seeds = append(seeds, "http://"+onlySite+":"+port+"/to?"+to)
	}
	settings := guardedSettings()
	var asked atomic.Int32
	lookup := func(_ context.Context, name string) ([]netip.Addr, time.Duration, error) { // again.test changes its mind after its first answer
		switch strings.TrimSuffix(name, ".") {
		case "again.test":
			if asked.Add(1) == 1 {
				return []netip.Addr{netip.MustParseAddr(onlySite)}, time.Second, nil
			}
			fallthrough
		case "localhost", "first.test":
			return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")}, time.Second, nil
		}
		return nil, 0, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	spider := passing()
	spider.seed = func(seed string) (*engine.Output, error) { // one that brings its own proxy, too
		direct := &scheduler.Request{URL: normal(t, seed), DontFilter: true}
		if strings.HasSuffix(seed, "/0") {
			return follow(direct, &scheduler.Request{URL: seed + "?proxied", Meta: []byte(`{"proxy":"http://127.0.0.1:` + port + `"}`)}), nil
		}
		return follow(direct), nil
	}
	r := newRigWith(t, spider, func(s *engine.Settings) { *s = settings }, func(o *engine.Options) {
		cfg := settings.FetchConfig()
		cfg.Lookup = lookup
		downloader := fetch.New(cfg)
		t.Cleanup(downloader.Close)
		o.Downloader = downloader
	}, seeds...)
	stats := r.run(t).Total
	if n := trap.trapped.Load(); n != 0 {
		t.Errorf("%d connections to addresses that are refused", n)
	}
	paths, _ := visited.list()
	if got := strings.Join(paths, " "); !strings.Contains(got, "again.test:"+port+"/again") || !strings.Contains(got, "robots.test:"+port+"/robots.txt") || strings.Count(got, onlySite+":"+port+"/to") != len(notations)+8 {
		t.Errorf("the site was asked for %s", got)
	}
	if refused := stats["downloader/exception_type_count/private_address"]; refused < int64(2*len(notations)) || stats["response_received_count"] != 0 {
		t.Errorf("%d refusals of %d addresses; %v", refused, len(notations), stats)
	}
}

// TestTrapCatches: without the guard the same ways do lead into it, so the test above can fail.
func TestTrapCatches(t *testing.T) {
	t.Parallel()
	port, trap, _ := trappedSite(t)
	var seeds []string
	for i, host := range []string{"127.0.0.1", "2130706433", "0", "[::1]", "[::ffff:127.0.0.1]", "fixed.test"} {
		seeds = append(seeds, fmt.Sprintf("http://%s:%s/%d", host, port, i), fmt.Sprintf("http://%s:%s/to?http://%s:%s/redirected/%d", onlySite, port, host, port, i))
	}
	settings := guardedSettings()
	settings.AllowPrivateAddresses, settings.RobotstxtObey, settings.RetryTimes = true, false, 0
	spider := passing()
	spider.seed = func(seed string) (*engine.Output, error) {
		return follow(&scheduler.Request{URL: normal(t, seed)}), nil
	}
	r := newRigWith(t, spider, func(s *engine.Settings) { *s = settings }, func(o *engine.Options) {
		downloader := fetch.New(settings.FetchConfig())
		t.Cleanup(downloader.Close)
		o.Downloader = downloader
	}, seeds...)
	r.run(t)
	if n := trap.trapped.Load(); n < int32(len(seeds)) {
		t.Errorf("%d connections came of %d", n, len(seeds))
	}
}
