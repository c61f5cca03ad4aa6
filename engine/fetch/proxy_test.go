package fetch

import (
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// proxyServer is an http proxy that leads everything to one site, whatever its name. It wants user and password when they are set.
type proxyServer struct {
	*httptest.Server
	site, user string // host:port; "user:password"
	came       atomic.Int32
	mu         sync.Mutex
	seen       []*http.Request // guarded by mu
}

func newProxy(t *testing.T, site, user string, tls bool) *proxyServer {
	p := &proxyServer{site: strings.TrimPrefix(strings.TrimPrefix(site, "http://"), "https://"), user: user}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(p.serve))
	p.Config.ErrorLog = quiet
	if tls {
		p.StartTLS()
	} else {
		p.Start()
	}
	t.Cleanup(p.Close)
	return p
}

func (p *proxyServer) serve(w http.ResponseWriter, r *http.Request) {
	p.came.Add(1)
	p.mu.Lock()
	p.seen = append(p.seen, r)
	p.mu.Unlock()
	if p.user != "" && r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(p.user)) {
		w.WriteHeader(http.StatusProxyAuthRequired)
		io.WriteString(w, "<h1>who are you</h1>")
		return
	}
	site, err := net.Dial("tcp", p.site)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer site.Close()
	if r.Method != http.MethodConnect {
		r.Header.Del("Proxy-Authorization")
		r.Header.Set("Connection", "close")
		r.Write(site)
		answer, _ := io.ReadAll(site)
		c, _, _ := w.(http.Hijacker).Hijack()
		defer c.Close()
		c.Write(answer)
		return
	}
	c, _, _ := w.(http.Hijacker).Hijack()
	defer c.Close()
	io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
	join(c, site)
}

func join(a, b net.Conn) {
	var both sync.WaitGroup
	both.Go(func() { io.Copy(a, b); a.Close() })
	both.Go(func() { io.Copy(b, a); b.Close() })
	both.Wait()
}

func mustProxy(t testing.TB, raw string) *url.URL {
	t.Helper()
	u, err := ParseProxy(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// echo answers with what of the request a site sees.
func echo(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, r.Host+" "+r.RequestURI+" "+r.Header.Get("Proxy-Authorization")+r.Header.Get("X"))
}

// withUser puts a user into a proxy's URL.
func withUser(u, user string) string { return strings.Replace(u, "://", "://"+user+"@", 1) }

func TestProxiesOfEachKind(t *testing.T) {
	t.Parallel()
	plain := newServer(t, echo)
	secure := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for _, c := range []struct {
		name       string
		user       string
		tls, socks bool
	}{
		{"http", "", false, false}, {"http with a password", "me:p@ss", false, false}, {"https", "", true, false},
		{"https with a password", "me:s3cret", true, false}, {"socks5", "", false, true}, {"socks5 with a password", "me:s3cret", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for site, scheme := range map[string]string{plain.URL: "http", secure.URL: "https"} {
				address := ""
				if c.socks {
					address = newSOCKS(t, site, c.user, 0)
				} else {
					address = newProxy(t, site, c.user, c.tls).URL
				}
				if c.user != "" {
					user, password, _ := strings.Cut(c.user, ":")
					address = withUser(address, url.UserPassword(user, password).String())
				}
				d := newGuarded(t, Config{Proxies: []*url.URL{mustProxy(t, address)}})
				d.transport.TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
				for _, path := range []string{"/a%2fb?q", "//two~b", "/"} {
					res, err := d.Fetch(t.Context(), &Request{URL: scheme + "://example.com" + path, Header: http.Header{"X": {"x"}, "Proxy-Authorization": {"mine"}}})
					if err != nil {
						t.Fatal(err)
					}
					want := "example.com " + path + " x"
					if got := strings.Replace(string(res.Body), "http://example.com", "", 1); got != want { // the absolute form is as good
						t.Errorf("%s: %q, want %q", scheme, res.Body, want)
					}
					res.Release()
				}
			}
		})
	}
}

// newSOCKS is a SOCKS5 proxy (RFC 1928, 1929) that leads to one site. reply other than 0 is its answer to every request.
func newSOCKS(t *testing.T, site, user string, reply byte) string {
	t.Helper()
	_, hostPort, _ := strings.Cut(site, "://")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { defer c.Close(); serveSOCKS(c, hostPort, user, reply) })
		}
	})
	t.Cleanup(func() { l.Close(); running.Wait() })
	return "socks5://" + l.Addr().String()
}

func serveSOCKS(c net.Conn, site, user string, reply byte) {
	read := func(n int) []byte { b := make([]byte, n); io.ReadFull(c, b); return b }
	read(int(read(2)[1]))
	if user == "" {
		c.Write([]byte{5, 0})
	} else {
		c.Write([]byte{5, 2})
		name := read(int(read(2)[1]))
		password := read(int(read(1)[0]))
		if string(name)+":"+string(password) != user {
			c.Write([]byte{1, 1})
			return
		}
		c.Write([]byte{1, 0})
	}
	if kind := read(4)[3]; kind == 3 {
		read(int(read(1)[0]) + 2)
	} else {
		read(4 + 2)
	}
	c.Write([]byte{5, reply, 0, 1, 0, 0, 0, 0, 0, 0})
	if reply != 0 {
		return
	}
	if s, err := net.Dial("tcp", site); err == nil {
		join(c, s)
	}
}

// What can be wrong with a proxy: one clear error each, with its name and without its password.
func TestBadProxies(t *testing.T) {
	t.Parallel()
	plain := newServer(t, echo)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	raw := func(handle func(net.Conn, string, <-chan struct{})) string {
		return strings.TrimSuffix(rawServer(t, handle), "/")
	}
	silent := func(_ net.Conn, _ string, end <-chan struct{}) { <-end }
	page := answer("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 11\r\n\r\n<p>hello</p>")
	for _, c := range []struct {
		name, proxy, target string
		kind                Kind
		text                string
	}{
		{"dead, http", "http://" + closed.Addr().String(), "http", KindProxy, "connection refused"},
		{"dead, https", "http://" + closed.Addr().String(), "https", KindProxy, "connection refused"},
		{"dead, socks", "socks5://" + closed.Addr().String(), "http", KindProxy, "connection refused"},
		{"no such name", "http://proxy.invalid:3128", "http", KindProxy, "no such host"},
		{"wants a password, http", newProxy(t, plain.URL, "me:x", false).URL, "http", KindProxy, "407"},
		{"wants a password, https", newProxy(t, plain.URL, "me:x", false).URL, "https", KindProxy, "407"},
		{"wants a password, socks", newSOCKS(t, plain.URL, "me:x", 0), "http", KindProxy, "socks"},
		{"hangs up, http", raw(answer("")), "http", KindProxy, "EOF"},
		{"hangs up, https", raw(answer("")), "https", KindProxy, "EOF"},
		{"hangs up, socks", strings.Replace(raw(answer("")), "http:", "socks5:", 1), "https", KindProxy, "socks"},
		{"answers CONNECT with a page", raw(page), "https", KindProxy, "answers CONNECT with a page"},
		{"answers CONNECT with a page without a header", raw(answer("<html>hello</html>")), "https", KindProxy, "malformed HTTP"},
		{"opens a tunnel to a page", raw(answer("HTTP/1.1 200 OK\r\n\r\n<html>hello, I am not TLS at all</html>")), "https", KindProxy, ""},
		{"refuses CONNECT", raw(answer("HTTP/1.1 403 Forbidden\r\n\r\n")), "https", KindProxy, "status 403"},
		{"is no proxy but a socks server", strings.Replace(newSOCKS(t, plain.URL, "", 0), "socks5:", "http:", 1), "https", KindProxy, ""},
		{"speaks TLS not", strings.Replace(raw(page), "http:", "https:", 1), "http", KindProxy, ""},
		{"says nothing, https", raw(silent), "https", KindProxy, "no connection through it in time"},
		{"says nothing, socks", strings.Replace(raw(silent), "http:", "socks5:", 1), "http", KindProxy, "no connection through it in time"},
		{"cannot reach the site", raw(answer("HTTP/1.1 504 Gateway Timeout\r\n\r\n")), "https", KindConnect, "status 504"},
		{"cannot reach the site, socks", newSOCKS(t, plain.URL, "", 4), "http", KindConnect, "host unreachable"},
		{"refuses the site, socks", newSOCKS(t, plain.URL, "", 2), "http", KindProxy, "not allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newGuarded(t, Config{ConnectTimeout: 300 * time.Millisecond, Proxies: []*url.URL{mustProxy(t, withUser(c.proxy, "bob:hunter2"))}})
			if strings.Contains(c.name, "no such name") {
				hostNames(d, "other")
			}
			if c.kind == KindProxy && strings.Contains(c.name, "wants") {
				d = newGuarded(t, Config{Proxies: []*url.URL{mustProxy(t, c.proxy)}})
			}
			res, err := d.Fetch(t.Context(), &Request{URL: c.target + "://example.com/"})
			wantKind(t, d, res, err, c.kind)
			host := mustProxy(t, c.proxy).Host
			if err == nil || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), host) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "bob") {
				t.Errorf("error %v; want %q and %s in it, and no password", err, c.text, host)
			}
			var e *Error
			if errors.As(err, &e) && !e.Temporary() {
				t.Error("not to be tried again")
			}
		})
	}
}

func TestProxyOfARequestAndOfTheEnvironment(t *testing.T) {
	t.Parallel()
	site := newServer(t, echo)
	listed, asked, surrounding := newProxy(t, site.URL, "", false), newProxy(t, site.URL, "", false), newProxy(t, site.URL, "", false)
	cfg := Config{EnvironmentProxy: func(*url.URL) (*url.URL, error) { return mustProxy(t, surrounding.URL), nil }}
	came := func() []int32 { return []int32{listed.came.Load(), asked.came.Load(), surrounding.came.Load()} }
	run := func(cfg Config, proxy string, want ...int32) {
		t.Helper()
		before := came()
		res, err := newDownloader(t, cfg).Fetch(t.Context(), &Request{URL: site.URL, Proxy: proxy})
		if err != nil {
			t.Fatal(err)
		}
		res.Release()
		after := came()
		for i := range after {
			after[i] -= before[i]
		}
		if !slices.Equal(after, want) {
			t.Errorf("proxy %q: %v, want %v", proxy, after, want)
		}
	}
	run(cfg, "", 0, 0, 1)
	run(cfg, NoProxy, 0, 0, 0)
	run(cfg, asked.URL, 0, 1, 0)
	cfg.Proxies = []*url.URL{mustProxy(t, listed.URL)}
	run(cfg, "", 1, 0, 0)
	run(cfg, NoProxy, 0, 0, 0)
	run(cfg, asked.URL, 0, 1, 0)
}

// The guard holds for the target also when a proxy would connect, and for a proxy that a request brings along (its meta may come from
// anyone's seed). A proxy that the user has named may be anywhere.
func TestGuardAndProxies(t *testing.T) {
	t.Parallel()
	site := newServer(t, echo)
	p := newProxy(t, site.URL, "", false)
	d := newGuarded(t, Config{Proxies: []*url.URL{mustProxy(t, p.URL)}})
	for _, host := range refusedHosts {
		if strings.ContainsAny(host, "１。%") {
			continue // the engine does not send such
		}
		wantRefused(t, d, &Request{URL: "http://" + host + "/"})
		wantRefused(t, d, &Request{URL: "https://" + host + ":8443/"})
	}
	if n := p.came.Load(); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
	mustGet(t, d, "http://example.com/")
	res, err := newGuarded(t, Config{Proxies: []*url.URL{mustProxy(t, p.URL)}}).Fetch(t.Context(), &Request{URL: "http://example.com/", Proxy: p.URL})
	if err != nil {
		t.Fatal(err) // it is on the user's list
	}
	res.Release()
	port, came := trap(t)
	for _, proxy := range []string{"http://127.0.0.1:" + port, "socks5://localhost:" + port, "http://[::1]:" + port} {
		guarded := newGuarded(t, Config{AllowAddresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
		hostNames(guarded, "localhost", "127.0.0.1")
		wantRefused(t, guarded, &Request{URL: "http://example.com/", Proxy: proxy})
	}
	if n := came.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func TestProxiesRestAfterFailures(t *testing.T) {
	t.Parallel()
	site := newServer(t, echo)
	good := newProxy(t, site.URL, "", false)
	bad := answerCount(t, "")
	d := newGuarded(t, Config{Proxies: []*url.URL{mustProxy(t, bad.url), mustProxy(t, good.URL)}})
	failed := 0
	for range 10 {
		res, err := get(t, d, "http://example.com/")
		if err != nil {
			failed++
			continue
		}
		res.Release()
	}
	if failed != 1 || good.came.Load() != 9 || bad.came.Load() == 0 {
		t.Errorf("%d failed, %d by the good one, %d by the bad one", failed, good.came.Load(), bad.came.Load())
	}
}

type countedServer struct {
	url  string
	came *atomic.Int32
}

func answerCount(t *testing.T, text string) countedServer {
	came := &atomic.Int32{}
	u := rawServer(t, func(c net.Conn, head string, end <-chan struct{}) {
		came.Add(1)
		answer(text)(c, head, end)
	})
	return countedServer{strings.TrimSuffix(u, "/"), came}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	r := newRotation([]*url.URL{mustProxy(t, "http://a:1"), mustProxy(t, "http://b:1"), mustProxy(t, "http://c:1")})
	r.now = func() time.Time { return now }
	take := func(want string) *turn {
		t.Helper()
		got := r.take()
		if got.url.Hostname() != want {
			t.Errorf("took %s, want %s", got.url.Hostname(), want)
		}
		return got
	}
	a, b := take("a"), take("b")
	c := take("c")
	r.report(b, false)
	take("a")
	take("c")
	r.report(b, false) // began before the rest
	now = now.Add(leastRest)
	take("a")
	take("b")
	r.report(b, false)
	now = now.Add(2*leastRest - 1)
	take("c")
	take("a")
	take("c")
	now = now.Add(1)
	take("a")
	r.report(take("b"), true)
	r.report(b, false)
	r.report(a, false)
	now = now.Add(time.Second)
	r.report(c, false)
	take("a") // all rest: the one whose rest ends first
	for range 30 {
		now = now.Add(mostRest)
		r.report(a, false)
	}
	if rest := a.until.Sub(now); rest != mostRest {
		t.Errorf("rests %v", rest)
	}
}

func TestParseProxy(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"http://proxy.example:3128":     "http://proxy.example:3128",
		"HTTP://me:s3cret@Proxy:3128/":  "http://Proxy:3128",
		"socks5h://[::1]:9050":          "socks5h://[::1]:9050",
		"https://proxy.example":         "https://proxy.example",
		"proxy.example:3128":            "",
		"ftp://proxy.example:21":        "",
		"http://":                       "",
		"":                              "",
		"http://me:s3cret@proxy:port/":  "",
		"http://me:s3cret@proxy/path":   "",
		"http://me:s3cret@proxy:1?x":    "",
		"socks4://me:s3cret@proxy:1080": "",
	} {
		u, err := ParseProxy(raw)
		switch {
		case want == "" && err == nil:
			t.Errorf("%s is accepted", raw)
		case want == "" && strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%s: the error shows the password: %v", raw, err)
		case want != "" && (err != nil || ProxyName(u) != want):
			t.Errorf("%s: %v, %v", raw, u, err)
		}
	}
}

func TestRotationKnowsItsProxies(t *testing.T) {
	t.Parallel()
	parse := func(raw string) *url.URL {
		u, err := ParseProxy(raw)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	r := newRotation([]*url.URL{parse("http://10.0.0.1"), parse("socks5://u:p@Proxy.test:1080")})
	for raw, want := range map[string]bool{
		"http://10.0.0.1:80":        true,
		"http://other:x@10.0.0.1":   true,
		"socks5://proxy.test":       true,
		"https://10.0.0.1":          false,
		"https://10.0.0.1:80":       false,
		"http://10.0.0.1:8080":      false,
		"http://proxy.test:1080":    false,
		"socks5://proxy.test:10800": false,
	} {
		if got := r.has(parse(raw)); got != want {
			t.Errorf("%s: %v, want %v", raw, got, want)
		}
	}
}
