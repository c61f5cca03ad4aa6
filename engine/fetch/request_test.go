package fetch

import (
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// sentHead fetches r from a raw server and gives the request as it came there. r's URL starts behind the host.
func sentHead(t *testing.T, r *Request) string {
	t.Helper()
	heads := make(chan string, 1)
	u := rawServer(t, func(c net.Conn, head string, _ <-chan struct{}) {
		heads <- head
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	})
	full := *r
	if scheme, rest, ok := strings.Cut(r.URL, "://"); ok && scheme == "http" { // with user information
		full.URL = scheme + "://" + rest[:strings.Index(rest, "@")+1] + strings.TrimPrefix(u, "http://")
	} else {
		full.URL = strings.TrimSuffix(u, "/") + r.URL
	}
	if _, err := newDownloader(t, Config{UserAgent: "test/1"}).Fetch(t.Context(), &full); err != nil {
		t.Fatal(err)
	}
	return <-heads
}

func TestURLsAreSentByteForByte(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"":                  "/",
		"/":                 "/",
		"?q":                "/?q",
		"/?":                "/?",
		"/a|b^c`{}[]":       "/a|b^c`{}[]",
		"/100%/%zz/%2f%2F":  "/100%/%zz/%2f%2F",
		"/a;b=c,d/(e)!*'":   "/a;b=c,d/(e)!*'",
		"/?a=b&c|d=%zz?e/f": "/?a=b&c|d=%zz?e/f",
		"/a#frag?x":         "/a",
		"/a//b/../c":        "/a//b/../c",
		"/http://other/":    "/http://other/",
		"/a%20b+c":          "/a%20b+c",
	} {
		line, _, _ := strings.Cut(sentHead(t, &Request{URL: given}), "\r\n")
		if line != "GET "+want+" HTTP/1.1" {
			t.Errorf("%q: %q", given, line)
		}
	}
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.URL.EscapedPath()) })
	if got := mustGet(t, newDownloader(t, Config{}), s.URL+"//a//b"); got != "//a//b" {
		t.Errorf("two slashes: %q", got)
	}
}

func TestHeadersSent(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		r       Request
		has     []string
		hasNone []string
	}{
		{"defaults", Request{}, []string{"User-Agent: test/1", "Accept-Encoding: gzip, deflate", "Accept: text/html", "Host: 127."}, []string{"Cookie", "Connection", "Content-Length"}},
		{"own", Request{Header: http.Header{"User-Agent": {"me"}, "X-A": {"b", "c"}}}, []string{"User-Agent: me", "X-A: b", "X-A: c", "Accept-Encoding: gzip, deflate"}, []string{"test/1"}},
		{"own encoding", Request{Header: http.Header{"Accept-Encoding": {"identity"}}}, []string{"Accept-Encoding: identity", "User-Agent: test/1"}, []string{"gzip"}},
		{"host", Request{Header: http.Header{"Host": {"news.example"}}}, []string{"Host: news.example"}, []string{"Host: 127."}},
		{"user information", Request{URL: "http://us%20er:p%3A@host/"}, []string{"Authorization: Basic dXMgZXI6cDo="}, nil},
		{"own authorization", Request{URL: "http://user:pass@host/", Header: http.Header{"Authorization": {"Bearer x"}}}, []string{"Authorization: Bearer x"}, []string{"Basic"}},
		{"body", Request{Method: "POST", Body: []byte("a=b")}, []string{"POST / HTTP/1.1", "Content-Length: 3"}, []string{"Transfer-Encoding"}},
		{"empty body", Request{Method: "POST"}, []string{"Content-Length: 0"}, nil},
	}
	for _, c := range cases {
		before := c.r.Header.Clone()
		head := sentHead(t, &c.r)
		for _, want := range c.has {
			if !strings.Contains(head, "\r\n"+want) && !strings.HasPrefix(head, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, head)
			}
		}
		for _, not := range c.hasNone {
			if strings.Contains(head, not) {
				t.Errorf("%s: %q in\n%s", c.name, not, head)
			}
		}
		if !reflect.DeepEqual(before, c.r.Header) {
			t.Errorf("%s: the caller's header was changed: %v", c.name, c.r.Header)
		}
	}
}

func TestRequestBodyArrives(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Write(body)
	})
	body := randomText(200_000)
	res, err := newDownloader(t, Config{}).Fetch(t.Context(), &Request{Method: "PUT", URL: s.URL, Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Release()
	if string(res.Body) != body || res.BytesSent < 200_000 || res.BytesReceived < 200_000 {
		t.Errorf("%d bytes came back, sent %d, received %d", len(res.Body), res.BytesSent, res.BytesReceived)
	}
}

func TestRequestInvalid(t *testing.T) {
	t.Parallel()
	cases := []Request{
		{URL: ""}, {URL: "/a"}, {URL: "ftp://a/"}, {URL: "http://"}, {URL: "http:///a"}, {URL: "HTTP://a/"}, {URL: "mailto:a@b"},
		{URL: "http://a/b c"}, {URL: "http://a/\r\nX: y"}, {URL: "http://a/é"}, {URL: "http://é/"}, {URL: "http://a:0/"},
		{URL: "http://a:99999/"}, {URL: "http://a:b/"}, {URL: "http://:80/"}, {URL: `http://a\b/`}, {URL: "http://[::1/"},
		{URL: "http://a/", Method: "GE T"}, {URL: "http://a/", Method: "G\r\n"},
		{URL: "http://a/", Header: http.Header{"X-A": {"b\r\nX-B: c"}}},
		{URL: "http://a/", Header: http.Header{"X A": {"b"}}},
		{URL: "http://a/", Header: http.Header{"": {"b"}}},
		{URL: "http://a/", Header: http.Header{"Host": {"a b"}}},
	}
	d := newDownloader(t, Config{})
	for _, r := range cases {
		res, err := d.Fetch(t.Context(), &r)
		if err == nil {
			t.Errorf("%+v", r)
		}
		wantKind(t, d, res, err, KindInvalid)
	}
}

func FuzzSplitURL(f *testing.F) {
	for _, s := range []string{"http://a/b?c#d", "https://u:p@h:1//x", "http://[::1]:80", "http://a%zz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := splitURL(raw)
		if err != nil {
			return
		}
		head, _, _ := strings.Cut(raw, "#")
		if got := u.RequestURI(); !strings.HasSuffix(head, got) && !strings.HasSuffix(head, strings.TrimPrefix(got, "/")) &&
			!strings.HasPrefix(got, u.Scheme+"://"+u.Host+"//") {
			t.Errorf("%q sends %q", raw, got)
		}
	})
}
