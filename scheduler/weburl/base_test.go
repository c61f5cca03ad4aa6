package weburl

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	const page = "https://user:pw@news.example:8443/a//b/c.html?q=1#top"
	for _, tc := range []struct{ base, ref, want string }{
		{page, "", "https://user:pw@news.example:8443/a//b/c.html?q=1"},
		{page, "#x", "https://user:pw@news.example:8443/a//b/c.html?q=1#x"},
		{page, "?p=2", "https://user:pw@news.example:8443/a//b/c.html?p=2"},
		{page, "d.html#y", "https://user:pw@news.example:8443/a//b/d.html#y"},
		{page, "../d", "https://user:pw@news.example:8443/a//d"},
		{page, "../../d", "https://user:pw@news.example:8443/a/d"},
		{page, "../../../../../d", "https://user:pw@news.example:8443/d"},
		{page, "../", "https://user:pw@news.example:8443/a//"},
		{page, "..", "https://user:pw@news.example:8443/a//"},
		{page, "./../x/./y", "https://user:pw@news.example:8443/a//x/y"},
		{page, "/x/y?z", "https://user:pw@news.example:8443/x/y?z"},
		{page, "//cdn.example/x", "https://cdn.example/x"},
		{page, "//CDN.example", "https://cdn.example/"},
		{page, "http://a.example", "http://a.example/"},
		{page, "http://a.example?q", "http://a.example/?q"},
		{page, "http://a.example:80/x", "http://a.example/x"},
		{page, "https://news.example:8443/x", "https://news.example:8443/x"},
		{page, "mailto:me@a.example", "mailto:me@a.example"},
		{page, "javascript:void(0)", "javascript:void(0)"},
		{page, "12:30", "https://user:pw@news.example:8443/a//b/12:30"},
		{page, "http://300.1.1.1/", ""},
		{page, "http://[1:2:3:4:5:6:7:1.2.3.4]/", ""},
		{"http://h.example", "x", "http://h.example/x"},
		{"http://h.example", "../x", "http://h.example/x"},
		{"file:///C:/a/b", "../../../x", "file:///C:/x"},
	} {
		base, err := ParseBase(tc.base)
		if err != nil {
			t.Fatal(err)
		}
		got, err := base.Resolve(tc.ref)
		if got != tc.want || (err != nil) != (tc.want == "") {
			t.Errorf("Resolve(%q) = %q, %v, want %q", tc.ref, got, err, tc.want)
		}
	}
}

func TestNotAURL(t *testing.T) {
	t.Parallel()
	base, err := ParseBase("http://h.example/")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("/é", MaxLength)
	if _, err := base.Resolve(long); !errors.Is(err, ErrTooLong) {
		t.Errorf("Resolve of %d bytes: %v, want ErrTooLong", len(long), err)
	}
	if _, err := Parse("http://h.example" + long); !errors.Is(err, ErrTooLong) {
		t.Errorf("Parse: %v, want ErrTooLong", err)
	}
	plain := strings.Repeat("/a", 1<<20)
	if got, err := base.Resolve(plain); err != nil || got != "http://h.example"+plain {
		t.Errorf("Resolve of a long plain path: %d bytes, %v", len(got), err)
	}
	for _, raw := range []string{"", "x", "/x", "http://", "http://a b/", "http://[::1"} {
		if _, err := ParseBase(raw); err == nil || raw != "" && !strings.Contains(err.Error(), raw) {
			t.Errorf("ParseBase(%q): %v, want an error naming it", raw, err)
		}
	}
}

// The plain path and the full parser must agree on whatever the plain path accepts.
func checkResolve(t *testing.T, rawBase, ref string) (plain bool) {
	t.Helper()
	base, err := ParseBase(rawBase)
	if err != nil {
		return false
	}
	if full, err := parseAny("", rawBase); err != nil || full != base.href {
		t.Fatalf("Parse(%q) = %q, the full parser gives %q, %v", rawBase, base.href, full, err)
	}
	got, plain := base.resolvePlain(ref)
	if !plain {
		_, _ = base.Resolve(ref) // must not panic
		return false
	}
	if want, err := parseAny(base.href, ref); err != nil || got != want {
		t.Fatalf("resolvePlain(%q, %q) = %q, the full parser gives %q, %v", base.href, ref, got, want, err)
	}
	return true
}

func FuzzResolve(f *testing.F) {
	for _, row := range rows[link](f, "links.jsonl") {
		f.Add(row.Base, row.Link)
	}
	for _, row := range rows[request](f, "fingerprint.jsonl") {
		f.Add(row.URL, "../x/y.html?a=b#c")
		f.Add("http://h.example/a/b/c", row.URL)
	}
	f.Fuzz(func(t *testing.T, base, ref string) { checkResolve(t, base, ref) })
}

var pieces = []string{
	"http:", "https:", "HTTP:", "mailto:", "javascript:", "ws:", "file:", "foo:", "/", "//", "/", "/", "../", "./", "..", ".", "...",
	"?", "#", "&", "=", ":", ":80", ":443", ":8080", ":080", ":34567", ":65535", ":65536", ":080808", "@", "user:pw@", "a", "b.html", "index", "h.example", "WWW.h.example",
	"127.0.0.1", "0x7f.1", "1.2", "xn--a", "a--b", "-a", "a-", "_", "a_b", "[::1]", "%2e", "%2E%2e", "%41", "%", "%zz", " ", "\t", "\n", "\\", "'",
	`"`, "<", ">", "`", "{", "}", "|", "^", "[", "]", "~", ";p=1", "+", ",", "é", "日本", "\x00", "\x7f", "\xff", "$", "!", "*", "(", ")",
}

func randomLink(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(7) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func TestPlainPathAgreesWithParser(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	bases := []string{
		"http://h.example/", "https://u@h.example:8443/a/b/c.html?q#f", "http://h.example/a//b/", "http://127.0.0.1/x/",
		"foo:bar", "foo://h/a/b", "file:///a/b", "http://h.example/%2e/x;y/z?'q",
	}
	plain := 0
	for range 25_000 {
		base := bases[r.IntN(len(bases))]
		if r.IntN(4) == 0 {
			base = "http://" + randomLink(r)
		}
		if checkResolve(t, base, randomLink(r)) {
			plain++
		}
	}
	if plain < 2_000 {
		t.Errorf("only %d links took the plain path: the test shows little", plain)
	}
}

// Ports of every length: those that a test server has are as plain as a short one.
func TestPlainPorts(t *testing.T) {
	t.Parallel()
	for port, plain := range map[string]bool{
		"": false, "0": false, "1": true, "80": false, "81": true, "443": true, "080": false, "9999": true, "10000": true, "34567": true, "65535": true,
		"65536": false, "70000": false, "99999": false, "012345": false, "100000": false, "3456a": false, "+1": false,
	} {
		if got := checkResolve(t, "https://h.example/a", "http://g.example:"+port+"/x"); got != plain {
			t.Errorf("port %q: plain %v, want %v", port, got, plain)
		}
	}
}

// Hosts with an underscore are none by DNS' rules, and many.
func TestPlainUnderscores(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"a_b.example", "_a.example", "a_.example", "a.exa_mple", "_", "a._", "_.1", "1_2.example"} {
		resolved := checkResolve(t, "https://h.example/a", "http://"+host+"/x")
		canonical := checkCanonicalize(t, "http://"+host+"/x")
		if number := host == "_.1"; resolved == number || !canonical {
			t.Errorf("host %q: resolving is plain %v, the canonical form %v", host, resolved, canonical)
		}
	}
}

// Every byte on its own, at the start, inside and at the end of each part.
func TestPlainPathEveryByte(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		s := string([]byte{byte(c)})
		for _, frame := range []string{"@", "x@", "@x", "x@y", "/x@y", "/@", "../@", "?a@b", "?@", "#a@b", "#@", "foo:a@b", "foo:@", "//h@h/x", "//@h", "//h@", "http://h.example@", "http://h.example/@", "h@tp://x/"} {
			checkResolve(t, "https://h.example/a/b?c#d", strings.Replace(frame, "@", s, 1))
		}
	}
}

var links = []string{"../util/List.html", "c.html#method.summary-x", "/api/java.base/java/lang/String.html", "https://h.example/api/x/y/index.html", "https://other.example/api/x/y/index.html", "http://other.example:34567/api/index.html"}

func TestResolveAllocations(t *testing.T) {
	base, _ := ParseBase("https://h.example/api/java.base/java/lang/Object.html")
	for _, ref := range links {
		if n := testing.AllocsPerRun(100, func() { _, _ = base.Resolve(ref) }); n > 1 {
			t.Errorf("Resolve(%q) allocates %v times, want the result at most", ref, n)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	base, _ := ParseBase("https://h.example/api/java.base/java/lang/Object.html")
	for _, ref := range links {
		b.Run(ref, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := base.Resolve(ref); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkResolveOdd(b *testing.B) {
	base, _ := ParseBase("https://h.example/api/java.base/java/lang/Object.html")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = base.Resolve("/ü/a b")
	}
}
