package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Request is what to fetch.
type Request struct {
	Method string      // "" is GET
	URL    string      // absolute, http or https, normalised: ASCII without spaces. It is sent byte for byte, the fragment left out
	Header http.Header // canonical names; read, never written to. Host sets the host that is asked for
	Body   []byte
	Proxy  string // for ParseProxy, or NoProxy; "" is what Config says
	Most   int64  // bytes of the decoded body that are read, and the rest is left; 0: all, and one over MaxSize is an error
}

// destination checks r, and says by which way: nil for no proxy.
func (d *Downloader) destination(r *Request) (*url.URL, *via, error) {
	u, err := splitURL(r.URL)
	if err != nil {
		return nil, nil, err
	}
	if err := d.guard.checkPort(u.Port()); err != nil {
		return nil, nil, err
	}
	if err := checkHeader(r.Header); err != nil {
		return nil, nil, err
	}
	way, err := d.viaFor(r.Proxy, u)
	return u, way, err
}

// newRequest checks r and makes net/http's form of it, with the watch that is its context. The caller stops the watch.
func (d *Downloader) newRequest(ctx context.Context, r *Request, timeout time.Duration) (*http.Request, *watch, error) {
	u, way, err := d.destination(r)
	if err != nil {
		return nil, nil, err
	}
	var body io.Reader
	if len(r.Body) > 0 {
		body = bytes.NewReader(r.Body)
	}
	if way != nil && !way.tunnel {
		u.Opaque = absoluteForm(u)
	}
	watch := startWatch(ctx, way, timeout, d.cfg.IdleTimeout)
	req, err := http.NewRequestWithContext(watch, r.Method, "", body)
	if err != nil {
		watch.stop()
		return nil, nil, fmt.Errorf("method %q: %w", r.Method, err)
	}
	req.URL, req.Host = u, r.Header.Get("Host")
	req.Header = d.header(r.Header, u, way)
	return req, watch, nil
}

// splitURL takes a normalised URL apart without changing a byte of it. net/url's own parser refuses paths that browsers send
// ("/100%") and writes others anew ("/a|b").
func splitURL(raw string) (*url.URL, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return nil, fmt.Errorf("url %q is not an absolute http or https URL", raw)
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] <= ' ' || raw[i] >= 0x7f {
			return nil, fmt.Errorf("url %q has a byte that must be percent-encoded", raw)
		}
	}
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	u := &url.URL{Scheme: scheme}
	if err := setAuthority(u, rest[:end]); err != nil {
		return nil, fmt.Errorf("url %q: %w", raw, err)
	}
	path, query, asked := strings.Cut(rest[end:], "?")
	u.RawQuery, u.ForceQuery = query, asked
	setPath(u, path)
	return u, nil
}

func setAuthority(u *url.URL, authority string) error {
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		u.User = userinfo(authority[:at])
		authority = authority[at+1:]
	}
	u.Host = authority
	if u.Hostname() == "" || !httpguts.ValidHostHeader(authority) || strings.ContainsRune(authority, '\\') {
		return errors.New("the host is not valid")
	}
	if !strings.HasSuffix(authority, "]") && strings.Contains(authority, ":") {
		if n, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || n == 0 {
			return errors.New("the port is not valid")
		}
	}
	return nil
}

// setPath arranges that net/http sends path as it is.
func setPath(u *url.URL, path string) {
	switch {
	case path == "":
		u.Opaque = "/"
	case !strings.HasPrefix(path, "//"):
		u.Opaque = path
	default: // net/url takes two slashes for a host; it then sends the absolute form, which servers understand too (RFC 9112, 3.2.2)
		u.Opaque = "//" + u.Host + path
	}
}

// absoluteForm is Opaque with which net/http sends the absolute form, which proxies want.
func absoluteForm(u *url.URL) string {
	if strings.HasPrefix(u.Opaque, "//") {
		return u.Opaque
	}
	return "//" + u.Host + u.Opaque
}

func userinfo(s string) *url.Userinfo {
	name, password, ok := strings.Cut(s, ":")
	if !ok {
		return url.User(unescape(name))
	}
	return url.UserPassword(unescape(name), unescape(password))
}

// unescape undoes percent-encoding where it is well-formed and leaves the rest, as browsers do.
func unescape(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// requestSize is the size of a request as HTTP/1.1 writes it.
func requestSize(r *http.Request) int64 {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	path := len(r.URL.Opaque)
	if r.URL.RawQuery != "" || r.URL.ForceQuery {
		path += 1 + len(r.URL.RawQuery)
	}
	n := len(r.Method) + path + len("  HTTP/1.1\r\nHost: \r\n\r\n") + len(host)
	if r.ContentLength > 0 {
		n += len("Content-Length: \r\n") + len(strconv.FormatInt(r.ContentLength, 10))
	}
	for _, v := range r.Header["Host"] { // not sent a second time
		n -= len("Host: \r\n") + len(v)
	}
	return int64(n) + headerSize(r.Header) + r.ContentLength
}

func headerSize(h http.Header) int64 {
	n := 0
	for name, values := range h {
		for _, v := range values {
			n += len(name) + len(v) + len(": \r\n")
		}
	}
	return int64(n)
}
