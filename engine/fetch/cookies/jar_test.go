package cookies

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestReceive: what is sent to url after from has set these cookies, in the cases of RFC 6265bis and of the tests that browsers share.
func TestReceive(t *testing.T) {
	t.Parallel()
	const page = "https://www.example.com/a/b"
	for _, c := range []struct {
		name, from string
		set        []string
		url, want  string
	}{
		{"plain", page, []string{"a=1"}, page, "a=1"},
		{"host only", page, []string{"a=1"}, "https://x.www.example.com/a/", ""},
		{"spaces", page, []string{" a\t=  b c  ; path=/"}, page, "a=b c"},
		{"quotes stay", page, []string{`a="b c"`}, page, `a="b c"`},
		{"no equals sign", page, []string{"abc"}, page, "abc"},
		{"no name", page, []string{"=abc"}, page, "abc"},
		{"no value", page, []string{"a="}, page, "a="},
		{"nothing", page, []string{"", "=", ";Path=/", " = "}, page, ""},
		{"equals signs in the value", page, []string{"a=b=c=="}, page, "a=b=c=="},
		{"odd bytes", page, []string{"\xe4=\xff\x80\"<,>\\é"}, page, "\xe4=\xff\x80\"<,>\\é"},
		{"a tab inside", page, []string{"a=b\tc"}, page, "a=b\tc"},
		{"controls", page, []string{"a=b\x00c", "b=\x7f", "c=1; Path=/\r\n", "d=\x1f"}, page, ""},
		{"4096 bytes", page, []string{"a=" + strings.Repeat("x", 4095)}, page, "a=" + strings.Repeat("x", 4095)},
		{"4097 bytes", page, []string{"a=" + strings.Repeat("x", 4096)}, page, ""},
		{"long attribute", page, []string{"a=1; Path=/" + strings.Repeat("x", 1024)}, page, "a=1"},
		{"unknown attributes", page, []string{"a=1; SameSite=Strict; Partitioned; x;;=;Priority=High"}, page, "a=1"},
		{"attributes in any case", page, []string{"a=1; DOMAIN=EXAMPLE.com; pATH = /a"}, "https://example.com/a", "a=1"},

		{"domain", page, []string{"a=1; Domain=example.com"}, "https://other.example.com/a/", "a=1"},
		{"domain with a dot", page, []string{"a=1; Domain=.example.com"}, "https://example.com/a/", "a=1"},
		{"domain: last one counts", page, []string{"a=1; Domain=other.org; Domain=example.com"}, "https://example.com/a/", "a=1"},
		{"domain: empty is the host", page, []string{"a=1; Domain=example.com; Domain="}, "https://x.example.com/a/", ""},
		{"another domain", page, []string{"a=1; Domain=other.org"}, "https://other.org/a/", ""},
		{"another domain, not here either", page, []string{"a=1; Domain=other.org"}, page, ""},
		{"a domain below", page, []string{"a=1; Domain=x.www.example.com"}, "https://x.www.example.com/a/", ""},
		{"the end of a name", "https://badexample.com/", []string{"a=1; Domain=example.com"}, "https://example.com/", ""},
		{"public suffix", page, []string{"a=1; Domain=com"}, "https://other.com/a/", ""},
		{"public suffix of two labels", "https://www.example.co.uk/", []string{"a=1; Domain=.co.uk"}, "https://other.co.uk/", ""},
		{"private suffix", "https://me.github.io/", []string{"a=1; Domain=github.io"}, "https://you.github.io/", ""},
		{"a host that is a public suffix", "https://github.io/", []string{"a=1; Domain=github.io"}, "https://github.io/", "a=1"},
		{"and not below it", "https://github.io/", []string{"a=1; Domain=github.io"}, "https://you.github.io/", ""},
		{"address", "http://127.0.0.1:81/", []string{"a=1; Domain=127.0.0.1"}, "http://127.0.0.1:82/", "a=1"},
		{"address with itself as domain is one cookie", "http://127.0.0.1/", []string{"a=1; Domain=127.0.0.1", "a=2"}, "http://127.0.0.1/", "a=2"},
		{"end of an address", "http://127.0.0.1/", []string{"a=1; Domain=0.0.1"}, "http://127.0.0.1/", ""},
		{"v6 address", "http://[::1]:81/", []string{"a=1"}, "http://[::1]/", "a=1"},
		{"one label", "http://localhost/", []string{"a=1; Domain=localhost"}, "http://localhost/", "a=1"},
		{"case and dot of the host", "http://user:pw@Example.COM.:80/", []string{"a=1"}, "http://example.com/", "a=1"},

		{"path by default", page, []string{"a=1"}, "https://www.example.com/a", "a=1"},
		{"path by default, not above", page, []string{"a=1"}, "https://www.example.com/", ""},
		{"path by default, not beside", page, []string{"a=1"}, "https://www.example.com/ab", ""},
		{"path by default of a query", "https://e.com/?a/b/c", []string{"a=1"}, "https://e.com/", "a=1"},
		{"path that is none", page, []string{"a=1; Path=b"}, "https://www.example.com/a/x", "a=1"},
		{"path of another page", page, []string{"a=1; Path=/z"}, "https://www.example.com/z/", "a=1"},
		{"path with a slash", page, []string{"a=1; Path=/z/"}, "https://www.example.com/z", ""},
		{"path with odd bytes", page, []string{"a=1; Path=/100%"}, "https://www.example.com/100%/x", "a=1"},
		{"path in its case", page, []string{"a=1; Path=/Z"}, "https://www.example.com/z", ""},

		{"secure", page, []string{"a=1; Secure"}, "http://www.example.com/a/", ""},
		{"secure from http", "http://e.com/", []string{"a=1; Secure"}, "https://e.com/", ""},
		{"__Secure-", page, []string{"__Secure-a=1; Secure"}, page, "__Secure-a=1"},
		{"__Secure- without", page, []string{"__SECURE-a=1"}, page, ""},
		{"__Host-", page, []string{"__Host-a=1; Secure; Path=/"}, page, "__Host-a=1"},
		{"__Host- with a domain", page, []string{"__Host-a=1; Secure; Path=/; Domain=example.com"}, page, ""},
		{"__Host- with a path", page, []string{"__host-a=1; Secure"}, page, ""},
		{"__Host- in the value", page, []string{"=__Host-a=1; Secure; Path=/", "__Secure-b"}, page, ""},

		{"max-age goes before", page, []string{"a=1; Max-Age=9; Expires=Thu, 01 Jan 1970 00:00:00 GMT"}, page, "a=1"},
		{"max-age 0", page, []string{"a=1", "a=2; Max-Age=0"}, page, ""},
		{"max-age negative", page, []string{"a=1", "a=2; Max-Age=-99999999999999999999"}, page, ""},
		{"max-age huge", page, []string{"a=1; Max-Age=99999999999999999999"}, page, "a=1"},
		{"max-age that is none", page, []string{"a=1; Max-Age=1x; max-age=+1; max-age="}, page, "a=1"},
		{"expired", page, []string{"a=1", "a=2; Expires=Wed, 01-Jan-20 00:00:00 GMT"}, page, ""},
		{"expires that is none", page, []string{"a=1; Expires=0"}, page, "a=1"},
		{"deleting what is not there", page, []string{"a=1; Max-Age=0"}, page, ""},
		{"deleting with another path", page, []string{"a=1", "a=2; Path=/; Max-Age=0"}, page, "a=1"},

		{"order by path", page, []string{"a=1; Path=/", "b=2", "c=3; Path=/a/b", "d=4; Path=/"}, page, "c=3; b=2; a=1; d=4"},
		{"place of the first", page, []string{"a=1", "b=2", "a=3"}, page, "a=3; b=2"},
		{"host and domain are two", page, []string{"a=1", "a=2; Domain=example.com"}, page, "a=1; a=2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := New()
			j.Receive(c.from, c.set, now)
			if got := j.Header(c.url, now); got != c.want {
				t.Errorf("header is %.80q, want %.80q", got, c.want)
			}
		})
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	j := New()
	j.Receive("https://e.com/", []string{"a=1; Max-Age=60", "b=1; Expires=Wed, 31 Dec 2098 00:00:00 GMT", "c=1"}, now)
	for _, c := range []struct {
		after time.Duration
		want  string
	}{
		{59 * time.Second, "a=1; b=1; c=1"}, {time.Minute, "b=1; c=1"}, {maxLife - time.Second, "b=1; c=1"}, {maxLife, "c=1"},
	} {
		if got := j.Header("https://e.com/", now.Add(c.after)); got != c.want {
			t.Errorf("after %v: %q, want %q", c.after, got, c.want)
		}
	}
}

// TestRefused: what is not taken says why.
func TestRefused(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"a=1; Domain=other.org":          `set by www.example.com for another domain, "other.org"`,
		"a=1; Domain=com":                `for the public suffix "com"`,
		"a=1; Secure":                    "Secure, but set over http",
		"__Host-a=1":                     `has to be Secure, with Path "/" and no Domain`,
		"a=\x01":                         "control character",
		"=":                              "neither name nor value",
		"a=" + strings.Repeat("x", 5000): "more than 4096",
	} {
		changes, refused := New().Receive("http://www.example.com/", []string{line, "ok=1"}, now)
		if len(refused) != 1 || !strings.Contains(refused[0].Error(), want) || len(changes) != 1 {
			t.Errorf("%.40q: %v, want %q; %d changes", line, refused, want, len(changes))
		}
	}
	for _, url := range []string{"", "ftp://a/", "http://", "/a", "http://a;b/"} {
		if _, refused := New().Receive(url, []string{"a=1"}, now); len(refused) != 1 {
			t.Errorf("url %q: %v", url, refused)
		}
		if got := New().Header(url, now); got != "" {
			t.Errorf("url %q: header %q", url, got)
		}
	}
}

// TestErrorsShowNoValues: values are credentials, and errors go to logs.
func TestErrorsShowNoValues(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"a=sesame\x01", "sesame\x01", "sesame; Domain=other.org", "a=sesame; Domain=com", "__Host-a=sesame", "=__Host-sesame", "a=sesame; Secure",
		"a=sesame" + strings.Repeat("x", 5000), "sesame" + strings.Repeat("x", 5000),
	} {
		_, refused := New().Receive("http://www.example.com/", []string{line}, now)
		if len(refused) != 1 || strings.Contains(refused[0].Error(), "sesame") {
			t.Errorf("%.40q: %v", line, refused)
		}
	}
	for _, value := range []string{"sesame;", "sesame\n", "sesame" + strings.Repeat("x", 5000)} {
		_, refused := New().Merge("http://www.example.com/", []RequestCookie{{Name: "a", Value: value}}, now)
		if err := (RequestCookie{Name: "a", Value: value}).Check(); len(refused) != 1 || err == nil || strings.Contains(fmt.Sprint(refused, err), "sesame") {
			t.Errorf("%.40q: %v, %v", value, refused, err)
		}
	}
	for _, data := range []string{`{"v":"sesame"`, `"sesame"`, `{"v":["sesame"]}`, `{"n":"a","v":"sesame","d":"com"}`, `{"v":"sesame;"}`, `sesame`} {
		if _, err := Decode(data); err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", data, err)
		}
	}
}

// TestSecureStays: an answer over http neither replaces nor hides what https has set.
func TestSecureStays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		over string
		take bool
	}{
		{"a=2; Path=/", true}, {"a=2; Path=/x/y", false}, {"a=2; Path=/x; Domain=e.com", false}, {"a=; Path=/x; Max-Age=0", false},
		{"b=2; Path=/x", true},
	} {
		j := New()
		j.Receive("https://www.e.com/", []string{"a=1; Path=/x; Secure; Domain=e.com"}, now)
		_, refused := j.Receive("http://www.e.com/", []string{c.over}, now)
		got := j.Header("https://www.e.com/x/y", now)
		if !strings.Contains(got, "a=1") || (len(refused) == 0) != c.take {
			t.Errorf("%q: header %q, refused %v", c.over, got, refused)
		}
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	const url = "https://e.com/"
	j := New()
	keys := func(changes []Change) (out []string) {
		for _, c := range changes {
			mark := "+"
			if c.Cookie == nil {
				mark = "-"
			}
			out = append(out, mark+c.Key)
		}
		return out
	}
	for _, c := range []struct {
		set   []string
		after time.Duration
		want  []string
	}{
		{[]string{"a=1", "b=1", "a=2"}, 0, []string{"+e.com;/;a", "+e.com;/;b"}},
		{[]string{"a=2"}, time.Minute, []string{"+e.com;/;a"}}, // others may know another
		{[]string{"a=2"}, useStep, []string{"+e.com;/;a"}},
		{[]string{"a=2; HttpOnly"}, useStep, []string{"+e.com;/;a"}},
		{[]string{"a=; Max-Age=0", "c=1; Max-Age=0"}, useStep, []string{"-e.com;/;a", "-e.com;/;c"}},
		{[]string{"d=1", "d=2; Max-Age=0", "b=; Max-Age=0", "b=3"}, useStep, []string{"-e.com;/;d", "+e.com;/;b"}},
		{[]string{"x=; Max-Age=0", "x=; Max-Age=0", "x=1"}, useStep, []string{"+e.com;/;x"}},
		{[]string{"x=1; Domain=other.com; Max-Age=0", "x=; Max-Age=0", "x=; Max-Age=0"}, useStep, []string{"-e.com;/;x"}},
	} {
		changes, _ := j.Receive(url, c.set, now.Add(c.after))
		if got := keys(changes); !slices.Equal(got, c.want) {
			t.Errorf("%q after %v changes %q, want %q", c.set, c.after, got, c.want)
		}
	}
	if got := keys(j.Touch(url, now.Add(useStep+time.Minute))); got != nil {
		t.Errorf("a touch within the hour changes %q", got)
	}
	if uses := j.Touch(url, now.Add(3*useStep)); !slices.Equal(keys(uses), []string{"+e.com;/;b"}) || !uses[0].Yields {
		t.Errorf("a touch changes %q, as a use: %v", keys(uses), uses)
	}
}

// TestAnAnswerRemovesNoMoreThanASiteHas: what nobody can have had is not written down, what this jar had is.
func TestAnAnswerRemovesNoMoreThanASiteHas(t *testing.T) {
	t.Parallel()
	const url = "https://e.com/"
	j := New()
	j.Receive(url, []string{"a=1", "b=1"}, now)
	lines := []string{"a=; Max-Age=0"}
	for i := range 5000 {
		lines = append(lines, fmt.Sprintf("x%d=; Max-Age=0", i), fmt.Sprintf("y%d=1", i), fmt.Sprintf("y%d=; Max-Age=0", i))
	}
	changes, _ := j.Receive(url, append(lines, "a=; Max-Age=0", "b=; Max-Age=0"), now)
	if last := changes[len(changes)-1]; len(changes) != MaxPerSite+2 || changes[0].Key != "e.com;/;a" || last.Key != "e.com;/;b" || j.Len() != 0 {
		t.Errorf("%d changes, first %s, last %s; %d left", len(changes), changes[0].Key, last.Key, j.Len())
	}
}

// TestFiveThousand: of many cookies those that were used last stay, and the changes say what went.
func TestFiveThousand(t *testing.T) {
	t.Parallel()
	many := func(n int) (lines []string) {
		for i := range n {
			lines = append(lines, fmt.Sprintf("c%d=%d", i, i))
		}
		return lines
	}
	j, hash := New(), map[string]string{}
	write := func(changes []Change) {
		for _, c := range changes {
			if c.Cookie == nil {
				delete(hash, c.Key)
			} else {
				hash[c.Key] = c.Cookie.Encode()
			}
		}
	}
	write(first(j.Receive("http://a.example.com/", []string{"login=1; Domain=example.com"}, now)))
	write(first(j.Receive("http://a.example.com/", many(100), now.Add(time.Hour))))
	write(j.Touch("http://b.example.com/", now.Add(3*time.Hour)))
	changes, _ := j.Receive("http://c.example.com/", many(5000), now.Add(2*time.Hour))
	write(changes)
	if len(changes) > MaxPerSite+100 {
		t.Errorf("%d changes", len(changes))
	}
	if j.Len() != MaxPerSite || len(hash) != MaxPerSite {
		t.Errorf("%d cookies, %d in the hash, want %d", j.Len(), len(hash), MaxPerSite)
	}
	header := j.Header("http://c.example.com/", now.Add(3*time.Hour))
	if !strings.HasPrefix(header, "login=1; ") || !strings.HasSuffix(header, "; c4999=4999") {
		t.Errorf("header is %.40q ... %q", header, header[max(0, len(header)-40):])
	}
	if got := j.Header("http://a.example.com/", now.Add(3*time.Hour)); got != "login=1" {
		t.Errorf("older cookies of the site stay: %q", got)
	}
	for i := range 5000 { // a site each
		write(first(j.Receive(fmt.Sprintf("http://site%d.com/", i), []string{"x=" + strings.Repeat("y", i%40)}, now.Add(4*time.Hour))))
	}
	if j.Len() > MaxPerJar || j.size > MaxSize || j.Len() != len(hash) {
		t.Errorf("%d cookies of %d bytes, %d in the hash", j.Len(), j.size, len(hash))
	}
	big := strings.Repeat("z", 4000)
	for i := range 200 {
		write(first(j.Receive(fmt.Sprintf("http://big%d.com/", i), []string{"x=" + big}, now.Add(5*time.Hour))))
	}
	if j.size > MaxSize || j.Len() != len(hash) || j.Header("http://big199.com/", now.Add(5*time.Hour)) == "" {
		t.Errorf("%d cookies of %d bytes, %d in the hash", j.Len(), j.size, len(hash))
	}
}

func first(changes []Change, _ []error) []Change { return changes }

// TestMergeOfRequest: cookies of a request, as Scrapy merges them.
func TestMergeOfRequest(t *testing.T) {
	t.Parallel()
	no := false
	const url = "https://shop.example.com/a/b"
	for _, c := range []struct {
		name   string
		cookie RequestCookie
		to     string
		want   string
	}{
		{"sent with its request", RequestCookie{Name: "k", Value: "v"}, url, "old=1; k=v"},
		{"and with later ones", RequestCookie{Name: "k", Value: "v", Path: "/"}, "https://shop.example.com/z", "k=v"},
		{"replaces", RequestCookie{Name: "old", Value: "2"}, url, "old=2"},
		{"domain", RequestCookie{Name: "k", Value: "v", Domain: "example.com", Path: "/"}, "https://example.com/", "k=v"},
		{"secure as the URL", RequestCookie{Name: "k", Value: "v"}, "http://shop.example.com/a/", ""},
		{"not secure if it says so", RequestCookie{Name: "k", Value: "v", Secure: &no}, "http://shop.example.com/a/", "k=v"},
		{"__Host-", RequestCookie{Name: "__Host-k", Value: "v"}, "https://shop.example.com/", "__Host-k=v"},
		{"odd bytes", RequestCookie{Name: "k", Value: "\xff"}, url, "old=1; k=\xff"},
		{"another domain", RequestCookie{Name: "k", Value: "v", Domain: "other.org"}, url, "old=1"},
		{"public suffix", RequestCookie{Name: "k", Value: "v", Domain: "com"}, url, "old=1"},
		{"semicolon", RequestCookie{Name: "k", Value: "v; x=y"}, url, "old=1"},
		{"line break", RequestCookie{Name: "k", Value: "v\r\nX: y"}, url, "old=1"},
		{"path", RequestCookie{Name: "k", Value: "v", Path: "a"}, url, "old=1"},
	} {
		j := New()
		j.Receive(url, []string{"old=1; Secure"}, now)
		_, refused := j.Merge(url, []RequestCookie{c.cookie}, now)
		if got := j.Header(c.to, now); got != c.want {
			t.Errorf("%s: %q, want %q (%v)", c.name, got, c.want, refused)
		}
		if (c.want == "old=1") != (len(refused) > 0) {
			t.Errorf("%s: refused %v", c.name, refused)
		}
	}
}
