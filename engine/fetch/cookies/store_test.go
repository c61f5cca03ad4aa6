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

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	j := filled()
	whole, err := Unmarshal(j.Marshal(), now)
	if err != nil {
		t.Fatal(err)
	}
	fields, changes, unread := FromFields(j.Fields(), now)
	if changes != nil || unread != nil {
		t.Errorf("changes %v, unread %v", changes, unread)
	}
	for _, other := range []*Jar{whole, fields} {
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
		`{"n":"a","d":"e.com","p":"/;"}`:                  "path",
		`{"n":"a","c":"now","d":"e.com","p":"/"}`:         "stored cookie",
		`{"n":"__Host-a","d":"e.com","p":"/","sec":true}`: "no Domain",
		strings.Repeat(" ", maxStoredCookie+1):            "more than",
	} {
		if _, err := Decode(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50q: %v, want %q", data, err, want)
		}
		if _, err := Unmarshal([]byte(`{"cookies":[`+data+`]}`), now); err == nil && strings.TrimSpace(data) != "" {
			t.Errorf("a jar of %.50q is read", data)
		}
	}
	for _, data := range []string{"", "null", "[]", "{}", `{"cookies":null}`, "\x1f\x8b", `{"cookies":[{}`} {
		if _, err := Unmarshal([]byte(data), now); err == nil || !strings.Contains(err.Error(), "jar") {
			t.Errorf("jar %q: %v", data, err)
		}
	}
}

// TestFieldsInDisorder: what cannot be used is named, deleted, and costs nothing else.
func TestFieldsInDisorder(t *testing.T) {
	t.Parallel()
	fields := filled().Fields()
	n := len(fields)
	fields["e.com;/;x"] = "garbage"
	fields["wrong;/;a"] = fields["www.example.com;/a;a"]
	for i := range 200 {
		c := &Cookie{Name: fmt.Sprint(i), Domain: "many.com", HostOnly: true, Path: "/", Created: now, Used: now.Add(time.Duration(i))}
		fields[c.Key()] = c.Encode()
	}
	j, changes, unread := FromFields(fields, now.Add(200*time.Second))
	if len(unread) != 2 || !strings.Contains(fmt.Sprint(unread), "wrong;/;a") {
		t.Errorf("unread: %v", unread)
	}
	if want := n - 1 + MaxPerSite; j.Len() != want { // one is over
		t.Errorf("%d cookies, want %d", j.Len(), want)
	}
	if len(changes) != 2+1+20 {
		t.Errorf("%d changes", len(changes))
	}
	for _, c := range changes {
		if c.Cookie != nil {
			t.Errorf("%q is set", c.Key)
		}
	}
}
