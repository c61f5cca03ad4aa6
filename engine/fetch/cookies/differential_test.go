package cookies

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/publicsuffix"
)

// TestAgainstCookiejar compares with net/http/cookiejar where both mean the same: it takes Secure from http, sends it to this
// machine over http, takes quotes off values, tells [::1] from [::1]:80, and has one cookie where RFC 6265bis has one for a host
// and one for its domain; none of that is made here.
func TestAgainstCookiejar(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 265))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	page := func() string {
		host := pick("example.com", "www.example.com", "a.www.example.com", "example.org", "me.github.io", "you.github.io", "github.io",
			"x.co.uk", "co.uk", "10.0.0.2", "10.0.0.1", "intranet", "Example.COM")
		return pick("http://", "https://") + host + pick("", ":8080") + pick("/", "", "/a", "/a/", "/a/b", "/a/b/c", "/ab", "/a/b?c/d")
	}
	line := func(secure bool) string {
		var s string
		switch r.IntN(3) {
		case 0:
			s = pick("a", "b") + "=" + pick("1", "2", "x y", "")
		case 1:
			s = pick("c", "d") + "=" + pick("1", "2") + "; Domain=" +
				pick("example.com", ".example.com", "www.example.com", "com", "github.io", "me.github.io", "co.uk", "other.org", "EXAMPLE.com", "10.0.0.2", "0.0.2")
		default:
			s = pick("s", "t") + "=" + pick("1", "2")
			if !secure {
				return "n=1"
			}
			s += "; Secure"
		}
		return s + pick("", "; Path=/", "; Path=/a", "; Path=/a/", "; Path=/a/b", "; Path=x", "; path") +
			pick("", "", "; Max-Age=0", "; Max-Age=100", "; Max-Age=-1", "; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "; Expires=Fri, 01 Jan 2100 00:00:00 GMT") +
			pick("", "; HttpOnly", "; SameSite=Lax")
	}
	for range 400 {
		theirs, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
		if err != nil {
			t.Fatal(err)
		}
		ours := New()
		var log strings.Builder
		for range 30 {
			from := page()
			lines := []string{line(strings.HasPrefix(from, "https"))}
			fmt.Fprintf(&log, "%s sets %q\n", from, lines)
			ours.Receive(from, lines, now)
			u := mustParse(t, from)
			theirs.SetCookies(u, (&http.Response{Header: http.Header{"Set-Cookie": lines}}).Cookies())
			to := page()
			var want []string
			for _, c := range theirs.Cookies(mustParse(t, to)) {
				want = append(want, c.Name+"="+c.Value)
			}
			if got := ours.Header(to, now); got != strings.Join(want, "; ") {
				t.Fatalf("%s%s is asked with %q, want %q", log.String(), to, got, want)
			}
		}
	}
}

func mustParse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func FuzzReceive(f *testing.F) {
	f.Add("https://www.example.com/a/b", "a=1; Domain=example.com; Path=/a; Max-Age=5; Expires=Wed, 09 Jun 2021 10:18:14 GMT")
	f.Add("http://[::1]:80/", "\xff=\x80; Secure")
	f.Add("http://a@b:c/%", "__Host-x=1;;;=;")
	f.Fuzz(func(t *testing.T, url, line string) {
		j := New()
		changes, _ := j.Receive(url, []string{line, "b=2", line}, now)
		header := j.Header(url, now)
		if hasControl(header) {
			t.Errorf("header %q", header)
		}
		if got := restored(t, j).Header(url, now); got != header {
			t.Errorf("header %q, after storing %q", header, got)
		}
		other := New()
		other.Apply(changes)
		if got := other.Header(url, now); got != header {
			t.Errorf("header %q, of the changes %q", header, got)
		}
	})
}
