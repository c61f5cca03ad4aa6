package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"luacrawl/engine/fetch/robots"
)

func TestAKnownSiteCostsAPageNoMemory(t *testing.T) {
	c := newRobotsCache("luacrawl")
	f, _ := c.begin("http://a.test")
	f.found.site = newSiteRobots(robots.FromResponse(200, []byte("User-agent: *\nDisallow: /private\nDisallow: /*?print=\n")), c.token, time.Hour)
	c.end("http://a.test", f)
	n := testing.AllocsPerRun(1000, func() {
		origin, path := splitOrigin("http://a.test/news/today?page=2")
		if site := c.get(origin); site == nil || !site.allows(path) {
			t.Fatal("kept out")
		}
	})
	if n > 0.1 && !raced { // the race detector allocates too
		t.Errorf("%v allocations a page", n)
	}
}

func TestSplitOrigin(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"http://a.test/b?c":         "http://a.test /b?c",
		"https://a.test:8443":       "https://a.test:8443 ",
		"http://a.test?q=/x@y":      "http://a.test ?q=/x@y",
		"http://u:p@a.test/@b":      "http://a.test /@b",
		"http://[::1]:80/x#y":       "http://[::1]:80 /x#y",
		"http://a.test#/etc/passwd": "http://a.test #/etc/passwd",
	} {
		origin, path := splitOrigin(url)
		if got := origin + " " + path; got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

// TestTheCacheIsBounded by hosts and by the rules of all of them.
func TestTheCacheIsBounded(t *testing.T) {
	t.Parallel()
	c := newRobotsCache("luacrawl")
	var many strings.Builder
	many.WriteString("User-agent: *\n")
	for i := range 15_000 {
		fmt.Fprintf(&many, "Disallow: /%d\n", i)
	}
	large := robots.FromResponse(200, []byte(many.String()))
	for i := range 20 {
		origin := fmt.Sprint("http://", i, ".test")
		f, mine := c.begin(origin)
		if _, second := c.begin(origin); !mine || second {
			t.Fatalf("flights of %s: %v, %v", origin, mine, second)
		}
		f.found.site = newSiteRobots(large, c.token, time.Hour)
		c.end(origin, f)
	}
	if c.rules > robotsRules || c.known.Len() != robotsRules/15_000 || c.get("http://19.test") == nil || c.get("http://0.test") != nil {
		t.Errorf("%d hosts, %d rules", c.known.Len(), c.rules)
	}
}
