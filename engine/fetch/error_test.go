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
	"testing"
	"time"
)

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
			if name == "gzip cut, close" && !strings.Contains(err.Error(), "compressed body ends early") {
				t.Errorf("%v does not say that it was the server's compression", err)
			}
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
