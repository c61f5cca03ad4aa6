package fetch

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
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
