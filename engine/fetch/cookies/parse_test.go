package cookies

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("c%d=%d", i, i))
	}
	for name, c := range map[string]struct {
		url   string
		lines []string
		want  string
	}{
		"all that there is": {"https://www.e.com/a/b", []string{"a=1; Domain=e.com; Path=/x; Secure; HttpOnly; Max-Age=60"}, ".e.com;/x;a=1 secure httponly 1m0s"},
		"the least":         {"https://www.e.com/a/b", []string{"a=1"}, "www.e.com;/a;a=1"},
		"removed":           {"http://e.com/", []string{"a=; Max-Age=0"}, "e.com;/;a= -1s"},
		"the last counts":   {"http://e.com/", []string{"a=1", "b=2", "a=3; Path=/x", "a=4"}, "e.com;/;b=2, e.com;/x;a=3, e.com;/;a=4"},
		"none that is":      {"http://e.com/", []string{"a=1; Domain=other.org", "b=2; Secure", "__Host-c=1", ""}, ""},
		"no headers":        {"http://e.com/", nil, ""},
		"no page":           {"file:///x", []string{"a=1"}, ""},
	} {
		var got []string
		for _, k := range Parse(c.url, c.lines, now) {
			s := k.Key() + "=" + k.Value
			if k.Secure {
				s += " secure"
			}
			if k.HTTPOnly {
				s += " httponly"
			}
			if !k.Expires.IsZero() {
				s += " " + k.Expires.Sub(now).Round(time.Second).String()
			}
			got = append(got, s)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %q, want %q", name, s, c.want)
		}
	}
	if got := Parse("http://e.com/", many, now); len(got) != MaxPerSite || got[0].Name != "c820" || got[MaxPerSite-1].Name != "c999" {
		t.Errorf("of 1000 there are %d, from %s", len(got), got[0].Name)
	}
}
