package cookies

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAFloodOverHTTPLeavesSecureCookies, whatever limit it goes beyond; over https those go that were used longest ago.
func TestAFloodOverHTTPLeavesSecureCookies(t *testing.T) {
	t.Parallel()
	big := "=" + strings.Repeat("x", 4000)
	for name, c := range map[string]struct {
		sites, each int
		value       string
		over        string
		stays       bool
	}{
		"cookies of the site":            {1, 300, "=1", "http://", true},
		"bytes of the site":              {1, 150, big, "http://", true},
		"cookies of the jar":             {40, 100, "=1", "http://", true},
		"bytes of the jar":               {100, 1, big, "http://", true},
		"cookies of the jar, over https": {40, 100, "=1", "https://", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := New()
			j.Receive("https://site0.com/", []string{"login=1; Secure"}, now)
			for i := range c.sites {
				var lines []string
				for k := range c.each {
					lines = append(lines, fmt.Sprint("c", k)+c.value)
				}
				changes, _ := j.Receive(fmt.Sprint(c.over, "site", i, ".com/"), lines, now.Add(time.Hour))
				for _, one := range changes {
					if one.Plain != (c.over == "http://") && strings.HasPrefix(one.Key, "site0.com;/;c") {
						t.Fatalf("%s is a change with Plain %v", one.Key, one.Plain)
					}
				}
			}
			if got := strings.Contains(j.Header("https://site0.com/", now.Add(time.Hour)), "login=1"); got != c.stays {
				t.Errorf("the login is there: %v", got)
			}
			if j.Len() > MaxPerJar || j.size > MaxSize || len(j.sites["site0.com"]) > MaxPerSite {
				t.Errorf("%d cookies of %d bytes", j.Len(), j.size)
			}
		})
	}
}

// TestTooManySecureCookiesGo although the answer came over http: other workers have added to the jar.
func TestTooManySecureCookiesGo(t *testing.T) {
	t.Parallel()
	j := New()
	for i := range MaxPerJar + 10 {
		c := &Cookie{Name: "a", Domain: fmt.Sprint("site", i, ".com"), Path: "/", HostOnly: true, Secure: true, Created: now, Used: now.Add(time.Duration(i) * time.Hour)}
		j.Apply([]Change{{Key: c.Key(), Cookie: c}})
	}
	changes, _ := j.Receive("http://e.com/", []string{"b=1"}, now)
	if j.Len() != MaxPerJar || len(changes) != 10 || changes[0].Plain {
		t.Errorf("%d left, %d changes", j.Len(), len(changes))
	}
}

// TestASecureCookieThatIsOverGuardsNothing.
func TestASecureCookieThatIsOverGuardsNothing(t *testing.T) {
	t.Parallel()
	j := New()
	j.Receive("https://e.com/", []string{"a=1; Secure; Max-Age=60"}, now)
	if _, refused := j.Receive("http://e.com/", []string{"a=2"}, now.Add(59*time.Second)); len(refused) != 1 {
		t.Error("taken while the Secure one lives")
	}
	if _, refused := j.Receive("http://e.com/", []string{"a=2"}, now.Add(time.Minute)); len(refused) != 0 || j.Header("http://e.com/", now.Add(time.Minute)) != "a=2" {
		t.Errorf("refused %v", refused)
	}
}

// TestPlainChanges: what must leave Secure cookies alone that only others know.
func TestPlainChanges(t *testing.T) {
	t.Parallel()
	yes := true
	filled := func() *Jar {
		j := New()
		j.Receive("https://e.com/", []string{"s=1; Secure", "p=1"}, now)
		return j
	}
	plain := func(changes []Change) (keys []string) {
		for _, c := range changes {
			keys = append(keys, fmt.Sprint(c.Key[len("e.com;/;"):], c.Plain))
		}
		slices.Sort(keys)
		return keys
	}
	for name, c := range map[string]struct {
		changes []Change
		want    []string
	}{
		"http":                    {first(filled().Receive("http://e.com/", []string{"a=1", "p=2", "gone=; Max-Age=0"}, now)), []string{"atrue", "gonetrue", "ptrue"}},
		"http, nothing new":       {first(filled().Receive("http://e.com/", []string{"p=1"}, now)), []string{"ptrue"}},
		"https":                   {first(filled().Receive("https://e.com/", []string{"a=1", "p=2", "s=2; Secure", "gone=; Max-Age=0"}, now)), []string{"afalse", "gonefalse", "pfalse", "sfalse"}},
		"of a request over http":  {first(filled().Merge("http://e.com/", []RequestCookie{{Name: "a"}, {Name: "b", Secure: &yes}}, now)), []string{"atrue", "bfalse"}},
		"of a request over https": {first(filled().Merge("https://e.com/", []RequestCookie{{Name: "a"}}, now)), []string{"afalse"}},
	} {
		if got := plain(c.changes); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
