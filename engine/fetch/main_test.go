package fetch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newDownloader closes with the test. Its servers are on loopback addresses, so the guard is off.
func newDownloader(t testing.TB, cfg Config) *Downloader {
	cfg.AllowPrivate = true
	return newGuarded(t, cfg)
}

// newGuarded is newDownloader with the guard that cfg says.
func newGuarded(t testing.TB, cfg Config) *Downloader {
	d := New(cfg)
	t.Cleanup(d.Close)
	return d
}

func newServer(t testing.TB, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// rawServer answers each connection with handle, which gets the request's head, and gives its URL. A handler that waits does so on
// the channel, which is closed with the test.
func rawServer(t testing.TB, handle func(c net.Conn, head string, end <-chan struct{})) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	end := make(chan struct{})
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer c.Close()
				if head, err := readHead(c); err == nil {
					handle(c, head, end)
				}
			})
		}
	})
	t.Cleanup(func() { close(end); l.Close(); running.Wait() })
	return "http://" + l.Addr().String() + "/"
}

func readHead(c net.Conn) (string, error) {
	var head strings.Builder
	r := bufio.NewReaderSize(c, 1<<16)
	for {
		line, err := r.ReadString('\n')
		head.WriteString(line)
		if err != nil || line == "\r\n" {
			return head.String(), err
		}
	}
}

// answer makes a raw handler that sends text and hangs up.
func answer(text string) func(net.Conn, string, <-chan struct{}) {
	return func(c net.Conn, _ string, _ <-chan struct{}) { io.WriteString(c, text) }
}

func get(t testing.TB, d *Downloader, url string) (*Response, error) {
	t.Helper()
	return d.Fetch(t.Context(), &Request{URL: url})
}

// mustGet fetches a body and releases it.
func mustGet(t testing.TB, d *Downloader, url string) string {
	t.Helper()
	res, err := get(t, d, url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Release()
	return string(res.Body)
}

// wantKind checks an error and that nothing of the body's memory is kept.
func wantKind(t testing.TB, d *Downloader, res *Response, err error, want Kind) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Kind != want {
		t.Errorf("got %v, %v; want %s", res, err, want)
	}
	if res != nil {
		t.Errorf("a response beside the error: %d bytes", len(res.Body))
	}
	wantAllFree(t, d)
}

func wantAllFree(t testing.TB, d *Downloader) {
	t.Helper()
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	if d.memory.free != d.memory.size || d.memory.over != nil || len(d.memory.waiters) != 0 {
		t.Errorf("budget: %d of %d free, over %v, %d waiting", d.memory.free, d.memory.size, d.memory.over, len(d.memory.waiters))
	}
}

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
