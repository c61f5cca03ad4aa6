package cookies

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func filled() *Jar {
	j := New()
	j.Receive("https://www.example.com/a/b", []string{
		"a=1; Secure; HttpOnly", "\xff=\x80\xfe; Path=/\xe4", "nameless", "c=3; Domain=example.com; Max-Age=100", `d="<&>é"`,
	}, now)
	j.Receive("http://[::1]/", []string{"v6=1"}, now)
	return j
}

// restored is what a hash of the jar's cookies gives back.
func restored(t *testing.T, j *Jar) *Jar {
	t.Helper()
	var changes []Change
	for key, c := range j.all() {
		read, err := Decode(c.Encode())
		if err != nil {
			t.Fatalf("stored and not read: %v", err)
		}
		changes = append(changes, Change{Key: key, Cookie: read})
	}
	back := New()
	back.Apply(changes)
	return back
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	j := filled()
	other := restored(t, j)
	if diff := cmp.Diff(j.all(), other.all()); diff != "" {
		t.Error(diff)
	}
	if other.count != j.count || other.size != j.size || other.created != j.created {
		t.Errorf("counts %d %d %v, want %d %d %v", other.count, other.size, other.created, j.count, j.size, j.created)
	}
	if got, want := other.Header("https://www.example.com/a/", now), j.Header("https://www.example.com/a/", now); got != want {
		t.Errorf("header %q, want %q", got, want)
	}
}

// TestTwoWorkers: each writes what it has changed, and the hash has both.
func TestTwoWorkers(t *testing.T) {
	t.Parallel()
	const url = "https://e.com/"
	a, b := New(), New()
	changes, _ := a.Receive(url, []string{"login=1", "x=1", "gone=1"}, now)
	b.Apply(changes)
	fromA, _ := a.Receive(url, []string{"a=1", "gone=; Max-Age=0"}, now)
	fromB, _ := b.Receive(url, []string{"b=1", "x=2"}, now.Add(time.Second))
	a.Apply(fromB)
	b.Apply(fromA)
	const want = "login=1; x=2; a=1; b=1"
	if x, y := a.Header(url, now), b.Header(url, now); x != want || y != want {
		t.Errorf("%q and %q, want %q", x, y, want)
	}
	if a.Len() != 4 || a.size != b.size {
		t.Errorf("%d cookies, sizes %d and %d", a.Len(), a.size, b.size)
	}
}

func TestGarbage(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"":                                "stored cookie",
		"\x00\xff":                        "stored cookie",
		"null":                            "neither name nor value",
		"[]":                              "stored cookie",
		`{"n":"a","d":"e.com"}`:           "path",
		`{"n":"a","p":"/"}`:               "domain",
		`{"n":"a","d":"com","p":"/"}`:     "domain",
		`{"n":"a","d":".e.com","p":"/"}`:  "domain",
		`{"n":"a","d":"E.com","p":"/"}`:   "domain",
		`{"n":"a;b","d":"e.com","p":"/"}`: "cannot be sent",
		`{"n":"a","v":"x\r\ny","d":"e.com","p":"/"}`:      "control character",
		`{"n":"a","v":"\u0000!!","d":"e.com","p":"/"}`:    "illegal base64",
		`{"n":"a","d":"e.com","p":"/\u001f"}`:             "path",
		`{"n":"a","c":"now","d":"e.com","p":"/"}`:         "stored cookie",
		`{"n":"__Host-a","d":"e.com","p":"/","sec":true}`: "no Domain",
		strings.Repeat(" ", maxStoredCookie+1):            "more than",
	} {
		if _, err := Decode(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50q: %v, want %q", data, err, want)
		}
	}
}

// TestTogetherBeyondTheLimits: what several workers have put in is cut by the next one that writes.
func TestTogetherBeyondTheLimits(t *testing.T) {
	t.Parallel()
	j := New()
	for i := range 2 * MaxPerSite {
		c := &Cookie{Name: fmt.Sprint(i), Domain: "many.com", HostOnly: true, Path: "/", Created: now, Used: now.Add(time.Duration(i) * time.Second)}
		j.Apply([]Change{{Key: c.Key(), Cookie: c}})
	}
	changes, _ := j.Receive("http://many.com/", []string{"new=1"}, now.Add(time.Hour))
	if j.Len() != MaxPerSite || len(changes) != MaxPerSite+2 {
		t.Errorf("%d cookies, %d changes", j.Len(), len(changes))
	}
	if header := j.Header("http://many.com/", now.Add(time.Hour)); !strings.Contains(header, "new=1") || strings.Contains(header, "100=") {
		t.Errorf("header %s", header)
	}
}

// TestPathsWithSemicolons: a folder may be /shop;pgid=1, and what a request says itself may be anything.
func TestPathsWithSemicolons(t *testing.T) {
	t.Parallel()
	j := New()
	j.Receive("https://e.com/shop;pgid=1/item", []string{"a=1", "b=2; Path=/shop%3Bpgid=1"}, now)
	j.Merge("https://e.com/", []RequestCookie{{Name: "c", Value: "3", Path: "/shop;pgid=1/item;"}, {Name: "d", Value: "4", Path: ";"}}, now)
	other := restored(t, j)
	if diff := cmp.Diff(j.all(), other.all()); diff != "" || j.Len() != 3 {
		t.Errorf("%d cookies; %s", j.Len(), diff)
	}
	for path, want := range map[string]string{
		"shop;pgid=1/x": "a=1", "shop%3Bpgid=1/": "b=2", "shop;pgid=1/item;/": "c=3; a=1", "shop;pgid=12/x": "", "shop": "", "shop;pgid=1": "a=1",
	} {
		if got := other.Header("https://e.com/"+path, now); got != want {
			t.Errorf("/%s is asked for with %q, want %q", path, got, want)
		}
	}
	changes, _ := other.Receive("https://e.com/shop;pgid=1/item", []string{"a=; Max-Age=0"}, now)
	j.Apply(changes)
	if got := j.Header("https://e.com/shop;pgid=1/", now); got != "" {
		t.Errorf("removed elsewhere, and sent: %q", got)
	}
	if key := (&Cookie{Name: "n", Domain: "e.com", Path: "/a%3Bb%1f"}).Key(); key != ".e.com;/a%3Bb%1f;n" {
		t.Errorf("the key of a path without is another than before: %q", key)
	}
}
