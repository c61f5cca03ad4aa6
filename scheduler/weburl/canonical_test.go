package weburl

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unsafe"
)

func TestCanonicalize(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ raw, want string }{
		{"", "/"},
		{"http://h.example/a;", "http://h.example/a"},
		{"http://h.example/a;%7e/b;%7e", "http://h.example/a;~/b;%7e"},
		{"http://h.example/%2541", "http://h.example/%41"},
		{"http://h.example/?b=2&a=2&a=1#x", "http://h.example/?a=1&a=2&b=2"},
		{"http://h.example/?a=1&a=0", "http://h.example/?a=0&a=1"},
		{"http://h.example/?a%3D1=2", "http://h.example/?a%3D1=2"},
		{"http://h.example/?a=b=c", "http://h.example/?a=b%3Dc"},
		{"http://h.example/?a0=1&a=1", "http://h.example/?a=1&a0=1"},
		{"http://h.example/?", "http://h.example/"},
		{"http://faß.example/", "http://fass.example/"},
		{"http://h.example/%%41", "http://h.example/%A"},
		{"mailto:A@B.example", "mailto:A@B.example"},
		{"//H.example", "//h.example/"},
	} {
		if got := Canonicalize(tc.raw); got != tc.want {
			t.Errorf("Canonicalize(%q) = %q, want %q", tc.raw, got, tc.want)
		}
	}
}

// The documented exception: a percent sign that is no escape, or an escaped one.
var barePercent = regexp.MustCompile(`%25|%([^0-9A-Fa-f]|.[^0-9A-Fa-f]|.?$)`)

// The plain path must give what w3lib's steps give, and doing it again must change nothing.
func checkCanonicalize(t *testing.T, raw string) (plain bool) {
	t.Helper()
	got, want := Canonicalize(raw), canonicalizeAny(raw)
	if got != want {
		t.Fatalf("Canonicalize(%q) = %q, step by step %q", raw, got, want)
	}
	u, err := Parse(raw)
	if err == nil && IsHTTP(u) && !barePercent.MatchString(u) && !strings.Contains(u, ";") {
		once := Canonicalize(u)
		if twice := Canonicalize(once); twice != once {
			t.Fatalf("Canonicalize(%q) = %q, again %q", u, once, twice)
		}
	}
	_, plain = canonicalPrefix(raw)
	return plain
}

func FuzzCanonicalize(f *testing.F) {
	for _, row := range rows[request](f, "fingerprint.jsonl") {
		f.Add(row.URL)
	}
	for _, row := range rows[link](f, "links.jsonl") {
		f.Add(row.Link)
	}
	f.Fuzz(func(t *testing.T, raw string) { checkCanonicalize(t, raw) })
}

func TestCanonicalizePlainAgrees(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	plain := 0
	for range 40_000 {
		raw := randomLink(r)
		if r.IntN(2) == 0 {
			raw = "http://h.example/" + raw
		}
		if checkCanonicalize(t, raw) {
			plain++
		}
	}
	if plain < 2_000 {
		t.Errorf("only %d URLs took the plain path: the test shows little", plain)
	}
	for c := range 256 {
		for _, frame := range []string{"http://h.example/@", "http://h@.example/", "http://h.example/?a@b=1", "http://h.example/?a=1@2&b=2", "http://h.example/#@", "http@://h.example/"} {
			checkCanonicalize(t, strings.Replace(frame, "@", string([]byte{byte(c)}), 1))
		}
	}
}

func TestCanonicalizeKeepsString(t *testing.T) {
	for _, u := range []string{"https://h.example/api/java.base/java/lang/Object.html", "http://h.example/?id=1&page=2"} {
		if got := Canonicalize(u); unsafe.StringData(got) != unsafe.StringData(u) {
			t.Errorf("Canonicalize(%q) copied its argument", u)
		}
		if n := testing.AllocsPerRun(100, func() { Canonicalize(u + "") }); n > 0 {
			t.Errorf("Canonicalize(%q) allocates %v times", u, n)
		}
	}
}

func BenchmarkCanonicalize(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Canonicalize("https://h.example/api/java.base/java/lang/Object.html")
	}
}

func BenchmarkCanonicalizeQuery(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Canonicalize("https://h.example/list?page=2&max_behot_time=1700000000&id=a%2fb")
	}
}
