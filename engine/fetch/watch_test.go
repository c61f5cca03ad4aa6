package fetch

import (
	"context"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"
)

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
		{"over before it begins", Config{Timeout: time.Nanosecond}, stall(""), "not done after 1ns"},
		{"body stalls at once", Config{IdleTimeout: short}, stall(ok + "Content-Length: 9\r\n\r\n"), "no byte of the body for 40ms"},
		{"body stalls later", Config{IdleTimeout: short}, stall(ok + "Content-Length: 9\r\n\r\nabc"), "no byte of the body for 40ms"},
		{"gzip stalls", Config{IdleTimeout: short}, stall(ok + "Content-Encoding: gzip\r\n\r\n" + string(gzipped("abc"))[:12]), "no byte of the body"},
		{"body drips, total", Config{Timeout: 2 * short, IdleTimeout: time.Hour}, drip(ok+"\r\n", "x"), "not done after 80ms"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := rawServer(t, c.handle)
			d := newDownloader(t, c.cfg)
			res, err := get(t, d, u)
			wantKind(t, d, res, err, KindTimeout)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want %q", err, c.says)
			}
		})
	}
}

// The timer knows the way by which the download goes, also when it fires at once.
func TestFetchByAProxyOverBeforeItBegins(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, rawServer(t, func(_ net.Conn, _ string, end <-chan struct{}) { <-end }))
	d := newDownloader(t, Config{Timeout: time.Nanosecond, Proxies: []*url.URL{proxy}})
	res, err := get(t, d, "https://example.com/")
	wantKind(t, d, res, err, KindProxy)
	if want := "proxy " + ProxyName(proxy) + ": no connection through it in time"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
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

func TestFetchCallersDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	d := newDownloader(t, Config{})
	res, err := d.Fetch(ctx, &Request{URL: rawServer(t, func(_ net.Conn, _ string, end <-chan struct{}) { <-end })})
	wantKind(t, d, res, err, KindTimeout)
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
