package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestFetchKeepsConnections(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/chunked":
			w.(http.Flusher).Flush()
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(gzipped(strings.Repeat("x", 100_000)))
			return
		case "/none":
			w.WriteHeader(http.StatusNoContent)
			return
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		case "/moved":
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusFound)
		}
		io.WriteString(w, r.URL.Path)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	d := newDownloader(t, Config{})
	for range 5 {
		for _, path := range []string{"/", "/chunked", "/none", "/gzip", "/missing", "/moved"} {
			mustGet(t, d, s.URL+path)
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections for 30 requests", n)
	}
}

func TestFetchStatusAndBodyAreAsSent(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/next")
		w.Header()["X-Two"] = []string{"a", "b"}
		if r.URL.Path == "/304" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.WriteHeader(http.StatusMovedPermanently)
		io.WriteString(w, "moved")
	})
	d := newDownloader(t, Config{})
	cases := []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/", "moved", 301}, {"", "/", "moved", 301}, {"HEAD", "/", "", 301}, {"GET", "/304", "", 304},
	}
	for _, c := range cases {
		res, err := d.Fetch(t.Context(), &Request{Method: c.method, URL: s.URL + c.path})
		if err != nil {
			t.Fatal(err)
		}
		if res.Status != c.status || string(res.Body) != c.body || res.Header.Get("Location") != "/next" || len(res.Header["X-Two"]) != 2 {
			t.Errorf("%s %s: %d %q %v", c.method, c.path, res.Status, res.Body, res.Header)
		}
		res.Release()
	}
	wantAllFree(t, d)
}

func TestFetchCountsBytes(t *testing.T) {
	t.Parallel()
	heads := make(chan string, 1)
	const reply = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello"
	u := rawServer(t, func(c net.Conn, head string, _ <-chan struct{}) {
		heads <- head
		io.WriteString(c, reply)
	})
	d := newDownloader(t, Config{})
	res, err := d.Fetch(t.Context(), &Request{URL: u + "a?b=c", Header: http.Header{"Host": {"other.example"}, "X-B": {"c"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Release()
	if head := <-heads; res.BytesSent != int64(len(head)) {
		t.Errorf("sent %d, want %d: %q", res.BytesSent, len(head), head)
	}
	if res.BytesReceived != int64(len(reply)) {
		t.Errorf("received %d, want %d", res.BytesReceived, len(reply))
	}
	if res.Latency <= 0 {
		t.Errorf("latency %v", res.Latency)
	}
}

func TestFetchBrokenNeverShort(t *testing.T) {
	t.Parallel()
	packed := string(gzipped(strings.Repeat("a page of text, ", 5000)))
	cases := map[string]string{
		"nothing":               "",
		"half a header":         "HTTP/1.1 200 OK\r\nContent-Le",
		"not http":              "SSH-2.0-OpenSSH_9.2\r\n\r\n",
		"bad header line":       "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
		"length too long":       "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
		"length, no body":       "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n",
		"two lengths":           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nshort!",
		"chunk cut":             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhello",
		"last chunk missing":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("hello"),
		"bad chunk":             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
		"gzip cut, length":      fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(packed), packed[:len(packed)/2]),
		"gzip cut, chunked":     "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(packed[:len(packed)/2]) + "0\r\n\r\n",
		"gzip cut, close":       "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + packed[:len(packed)/2],
		"gzip trailer cut":      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + packed[:len(packed)-3],
		"gzip header cut":       "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + packed[:7],
		"gzip, chunks cut":      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(packed),
		"gzip, chunk cut at 0":  "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
		"deflate cut":           "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n" + string(zlibbed("some text"))[:6],
		"deflate of one byte":   "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\nx",
		"gzip in gzip, cut":     "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\n\r\n" + string(gzipped(packed[:40])),
		"gzip, trailing, short": "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 100000\r\n\r\n" + packed + "trailing",
	}
	for name, reply := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDownloader(t, Config{})
			res, err := get(t, d, rawServer(t, answer(reply)))
			wantKind(t, d, res, err, KindBroken)
		})
	}
}

func TestFetchReset(t *testing.T) {
	t.Parallel()
	u := rawServer(t, func(c net.Conn, _ string, _ <-chan struct{}) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
		c.(*net.TCPConn).SetLinger(0)
	})
	d := newDownloader(t, Config{})
	res, err := get(t, d, u)
	wantKind(t, d, res, err, KindBroken)
}

func TestFetchTimeouts(t *testing.T) {
	t.Parallel()
	const short = 40 * time.Millisecond
	drip := func(head, piece string) func(net.Conn, string, <-chan struct{}) {
		return func(c net.Conn, _ string, end <-chan struct{}) {
			io.WriteString(c, head)
			for tick := time.NewTicker(short / 10); ; {
				select {
				case <-end:
					return
				case <-tick.C:
					if _, err := io.WriteString(c, piece); err != nil {
						return
					}
				}
			}
		}
	}
	stall := func(head string) func(net.Conn, string, <-chan struct{}) {
		return func(c net.Conn, _ string, end <-chan struct{}) {
			io.WriteString(c, head)
			<-end
		}
	}
	const ok = "HTTP/1.1 200 OK\r\n"
	cases := []struct {
		name   string
		cfg    Config
		handle func(net.Conn, string, <-chan struct{})
		says   string
	}{
		{"silence before the header", Config{HeaderTimeout: short}, stall(""), "awaiting response headers"},
		{"header drips", Config{HeaderTimeout: short}, drip(ok, "X-A: b\r\n"), "awaiting response headers"},
		{"header drips, total", Config{Timeout: short}, drip(ok, "X-A: b\r\n"), "not done after 40ms"},
		{"body stalls at once", Config{IdleTimeout: short}, stall(ok + "Content-Length: 9\r\n\r\n"), "no byte of the body for 40ms"},
		{"body stalls later", Config{IdleTimeout: short}, stall(ok + "Content-Length: 9\r\n\r\nabc"), "no byte of the body for 40ms"},
		{"gzip stalls", Config{IdleTimeout: short}, stall(ok + "Content-Encoding: gzip\r\n\r\n" + string(gzipped("abc"))[:12]), "no byte of the body"},
		{"body drips, total", Config{Timeout: 2 * short, IdleTimeout: time.Hour}, drip(ok+"\r\n", "x"), "not done after 80ms"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDownloader(t, c.cfg)
			res, err := get(t, d, rawServer(t, c.handle))
			wantKind(t, d, res, err, KindTimeout)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want %q", err, c.says)
			}
		})
	}
}

// A body that is slow but never silent outlives the idle limit many times over.
func TestFetchSlowIsNotSilent(t *testing.T) {
	t.Parallel()
	u := rawServer(t, func(c net.Conn, _ string, end <-chan struct{}) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n")
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for range 50 {
			select {
			case <-end:
				return
			case <-tick.C:
				io.WriteString(c, "x")
			}
		}
	})
	if body := mustGet(t, newDownloader(t, Config{IdleTimeout: 600 * time.Millisecond}), u); len(body) != 50 {
		t.Errorf("%q", body)
	}
}

func TestFetchCancel(t *testing.T) {
	t.Parallel()
	for _, head := range []string{"", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		u := rawServer(t, func(c net.Conn, _ string, end <-chan struct{}) {
			io.WriteString(c, head)
			cancel(errors.New("shutdown"))
			<-end
		})
		d := newDownloader(t, Config{})
		res, err := d.Fetch(ctx, &Request{URL: u})
		wantKind(t, d, res, err, KindCanceled)
	}
}

func TestFetchCallersDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	d := newDownloader(t, Config{})
	res, err := d.Fetch(ctx, &Request{URL: rawServer(t, func(_ net.Conn, _ string, end <-chan struct{}) { <-end })})
	wantKind(t, d, res, err, KindTimeout)
}

func TestFetchConnectErrors(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	plain := newServer(t, func(http.ResponseWriter, *http.Request) {})
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet
	secure.StartTLS()
	t.Cleanup(secure.Close)
	old := httptest.NewUnstartedServer(http.NotFoundHandler())
	old.Config.ErrorLog = quiet
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS10, MinVersion: tls.VersionTLS10}
	old.StartTLS()
	t.Cleanup(old.Close)
	cases := []struct {
		url  string
		want Kind
	}{
		{"http://" + closed + "/", KindConnect},
		{"http://does-not-exist.invalid/", KindDNS},
		{secure.URL, KindTLS},
		{old.URL, KindTLS},
		{strings.Replace(plain.URL, "http:", "https:", 1), KindTLS},
	}
	for _, c := range cases {
		d := newDownloader(t, Config{ConnectTimeout: 10 * time.Second})
		res, err := get(t, d, c.url)
		wantKind(t, d, res, err, c.want)
	}
}

func TestFetchConnectTimeout(t *testing.T) {
	t.Parallel()
	// A TLS handshake that nobody answers.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	d := newDownloader(t, Config{ConnectTimeout: 30 * time.Millisecond})
	res, err := get(t, d, "https://"+l.Addr().String()+"/")
	wantKind(t, d, res, err, KindTimeout)
}

func TestFetchHTTP2(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			w.Write(make([]byte, 200_000))
		case "/broken":
			w.Write(make([]byte, 1000))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "/head":
			for i := range 60 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 200))
			}
		case "/silent":
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		default:
			fmt.Fprint(w, r.Proto, r.RequestURI, r.Host)
		}
	}))
	var opened atomic.Int32
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Config.ErrorLog = quiet
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	d := newDownloader(t, Config{MaxSize: 100_000, MaxHeader: 10_000, IdleTimeout: 400 * time.Millisecond})
	d.transport.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	host := strings.TrimPrefix(s.URL, "https://")
	if got := mustGet(t, d, s.URL+"//a|b?q"); got != "HTTP/2.0//a|b?q"+host {
		t.Errorf("%q", got)
	}
	mustGet(t, d, s.URL+"/none")
	res, err := get(t, d, s.URL+"/%zz") // which net/http's server refuses as a protocol error
	wantKind(t, d, res, err, KindBroken)
	if n := opened.Load(); n > 1+maxDials {
		t.Errorf("%d connections", n)
	}
	for path, want := range map[string]Kind{"/long": KindTooLarge, "/broken": KindBroken, "/head": KindTooLarge, "/silent": KindTimeout} {
		res, err := get(t, d, s.URL+path)
		wantKind(t, d, res, err, want)
	}
}

// A server may close a kept connection at any time: what was not answered is sent again on a new one.
func TestFetchServerClosesKeptConnection(t *testing.T) {
	t.Parallel()
	u := rawServer(t, answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) // hangs up after each answer without saying so
	d := newDownloader(t, Config{})
	for range 50 {
		if body := mustGet(t, d, u); body != "ok" {
			t.Errorf("%q", body)
		}
	}
}

func TestFetchMemoryIsBounded(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("0123456789abcdef", 6000) // 96 KB
	packed := gzipped(page)
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(packed)
			return
		}
		if r.URL.Query().Has("chunked") {
			w.(http.Flusher).Flush()
		}
		io.WriteString(w, page)
	})
	d := newDownloader(t, Config{MaxInMemory: 150_000, Concurrency: 24, MaxSize: 100_000})
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			for range 6 {
				res, err := get(t, d, s.URL+[]string{"/", "/?chunked", "/?gzip"}[i%3])
				if err != nil {
					t.Error(err)
					return
				}
				d.memory.mu.Lock()
				if d.memory.free < -300_000 { // one body beyond, and what it grows from
					t.Errorf("budget overdrawn: %d", d.memory.free)
				}
				d.memory.mu.Unlock()
				if string(res.Body) != page {
					t.Errorf("%d bytes of another page", len(res.Body))
				}
				res.Release()
			}
		})
	}
	all.Wait()
	wantAllFree(t, d)
}

// While a body is held that uses up the budget and goes beyond it, others wait, silent but not timed out.
func TestFetchWaitsForMemory(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "page") })
	d := newDownloader(t, Config{MaxInMemory: 4096, IdleTimeout: 100 * time.Millisecond})
	first, err := get(t, d, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	second, err := get(t, d, s.URL) // goes beyond
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
	defer cancel()
	if res, err := d.Fetch(ctx, &Request{URL: s.URL}); err == nil || ctx.Err() == nil {
		t.Errorf("a third body: %v, %v", res, err)
	}
	third := make(chan error)
	go func() {
		res, err := get(t, d, s.URL)
		if err == nil {
			res.Release()
		}
		third <- err
	}()
	first.Release()
	second.Release()
	if err := <-third; err != nil {
		t.Error(err)
	}
	wantAllFree(t, d)
}

func TestReleaseThenReuse(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, strings.Repeat(r.URL.Path[1:], 1000)) })
	d := newDownloader(t, Config{})
	kept, err := get(t, d, s.URL+"/k")
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		res, err := get(t, d, s.URL+"/r")
		if err != nil {
			t.Fatal(err)
		}
		res.Release()
		res.Release() // does no harm: the buffer is not handed out twice
		if res.Body != nil {
			t.Error("the body is still there")
		}
		a, errA := get(t, d, s.URL+"/a")
		b, errB := get(t, d, s.URL+"/b")
		if errA != nil || errB != nil || a.Body[0] != 'a' || b.Body[0] != 'b' {
			t.Fatal("two bodies share memory", errA, errB)
		}
		a.Release()
		b.Release()
	}
	if string(kept.Body) != strings.Repeat("k", 1000) {
		t.Error("a body changed before its release")
	}
	kept.Release()
	new(Response).Release()
	wantAllFree(t, d)
}

func TestErrorTemporary(t *testing.T) {
	t.Parallel()
	for kind, want := range map[Kind]bool{
		KindTimeout: true, KindDNS: true, KindConnect: true, KindBroken: true,
		KindTLS: false, KindTooLarge: false, KindDecode: false, KindInvalid: false, KindCanceled: false,
	} {
		if got := (&Error{Kind: kind}).Temporary(); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}

func BenchmarkFetch(b *testing.B) {
	page := []byte(randomText(26_000))
	s := newServer(b, func(w http.ResponseWriter, _ *http.Request) { w.Write(page) })
	d := newDownloader(b, Config{})
	b.ReportAllocs()
	for b.Loop() {
		mustGet(b, d, s.URL)
	}
}

// BenchmarkClient is net/http's own client doing the same, for comparison.
func BenchmarkClient(b *testing.B) {
	page := []byte(randomText(26_000))
	s := newServer(b, func(w http.ResponseWriter, _ *http.Request) { w.Write(page) })
	c := &http.Client{Timeout: time.Minute}
	b.Cleanup(c.CloseIdleConnections)
	b.ReportAllocs()
	for b.Loop() {
		res, err := c.Get(s.URL)
		if err != nil {
			b.Fatal(err)
		}
		io.ReadAll(res.Body)
		res.Body.Close()
	}
}
