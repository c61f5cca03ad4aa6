package robots

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// pathOf is path and query of a URL as the vectors have them.
func pathOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		return rest[i:]
	}
	return ""
}

// latin1 makes a byte of each character, as the vectors mean it.
func latin1(s string) []byte {
	var out []byte
	for _, r := range s {
		out = append(out, byte(r))
	}
	return out
}

// TestVectors goes through RFC 9309's reference cases, for the policy as it was read and as it was stored.
func TestVectors(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/robots.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var row struct {
			Robots, Agent, URL string
			Allowed            bool
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("row %d: %v", n+1, err)
		}
		body := latin1(row.Robots)
		if got := Parse(body).Allowed(row.Agent, pathOf(row.URL)); got != row.Allowed {
			t.Errorf("row %d: %q, agent %q, %s: allowed is %v", n+1, row.Robots, row.Agent, row.URL, got)
		}
		stored, err := Load(FromResponse(200, body).Store(row.Agent), row.Agent)
		if err != nil {
			t.Fatalf("row %d: load: %v", n+1, err)
		}
		if got := stored.For(row.Agent).Allowed(pathOf(row.URL)); got != row.Allowed {
			t.Errorf("row %d: %q, agent %q, %s: allowed is %v after Store and Load", n+1, row.Robots, row.Agent, row.URL, got)
		}
	}
	if n != 80 {
		t.Errorf("%d rows, want 80", n)
	}
}

func TestAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body, path string
		want             bool
	}{
		{"byte order mark", "\xEF\xBB\xBFUser-agent: *\nDisallow: /a", "/a", false},
		{"utf-16", "\xFF\xFEU\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00\n\x00D\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00", "/a", false},
		{"CR alone", "User-agent: *\rDisallow: /a\rAllow: /a/b\r", "/a/c", false},
		{"CRLF", "User-agent: *\r\nDisallow: /a$\r\n", "/a", false},
		{"no line end", "User-agent: *\nDisallow: /a", "/ab", false},
		{"spaces and tabs", " \tUser-agent \t:\t* \t\n\tDisallow :  /a \t # why\n", "/a", false},
		{"blank lines do not end a group", "User-agent: *\n\n\nDisallow: /a\n\nDisallow: /b\n", "/b", false},
		{"mistyped", "useragent: *\ndissalow: /a\n", "/a", false},
		{"groups of one agent merge", "User-agent: bot\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: BOT\nDisallow: /b\n", "/b", false},
		{"own group hides the general one", "User-agent: *\nDisallow: /\n\nUser-agent: bot\nAllow: /\n", "/a", true},
		{"own group without rules", "User-agent: *\nDisallow: /\nUser-agent: bot\n", "/a", true},
		{"a longer name is another", "User-agent: botany\nDisallow: /\n", "/a", true},
		{"version after the name", "User-agent: Bot/2.1\nDisallow: /\n", "/a", false},
		{"rules before any group", "Disallow: /\nUser-agent: *\nAllow: /b\n", "/a", true},
		{"a delay does not end the agents", "User-agent: bot\nCrawl-delay: 1\nUser-agent: x\nDisallow: /\n", "/a", false},
		{"empty disallow", "User-agent: *\nDisallow:\n", "/a", true},
		{"empty disallow beside a rule", "User-agent: *\nDisallow:\nDisallow: /a\n", "/a", false},
		{"without a slash", "User-agent: *\nDisallow: a\n", "/a", true},
		{"star first", "User-agent: *\nDisallow: *.pdf$\n", "/x/y.pdf", false},
		{"star first, not at the end", "User-agent: *\nDisallow: *.pdf$\n", "/x/y.pdf?z", true},
		{"only a star", "User-agent: *\nDisallow: *\n", "/", false},
		{"only a dollar", "User-agent: *\nDisallow: $\n", "/", true},
		{"star and end", "User-agent: *\nDisallow: /a*$\n", "/abc", false},
		{"stars in a row", "User-agent: *\nDisallow: /a****c\n", "/abbc", false},
		{"pieces do not overlap", "User-agent: *\nDisallow: /*aba*ba$\n", "/xaba", true},
		{"a later end", "User-agent: *\nDisallow: /*a*b$\n", "/abab", false},
		{"dollar in the middle", "User-agent: *\nDisallow: /a$b\n", "/a$bc", false},
		{"dollar written encoded is no end", "User-agent: *\nDisallow: /a%24\n", "/a$b", false},
		{"star written encoded is no wildcard", "User-agent: *\nDisallow: /a%2A\n", "/ab", true},
		{"star in the path", "User-agent: *\nDisallow: /a%2a\n", "/a*", false},
		{"longest wins", "User-agent: *\nDisallow: /a/b\nAllow: /a\n", "/a/b/c", false},
		{"allow wins a tie of patterns", "User-agent: *\nDisallow: /*b\nAllow: /a*\n", "/ab", true},
		{"unreserved bytes, encoded in the rule", "User-agent: *\nDisallow: /%62%61%7A\n", "/baz", false},
		{"unreserved bytes, encoded in the path", "User-agent: *\nDisallow: /baz\n", "/%62%61%7a", false},
		{"hex digits in either case", "User-agent: *\nDisallow: /%e3%83%84\n", "/%E3%83%84", false},
		{"raw bytes in the rule", "User-agent: *\nDisallow: /\u30c4\n", "/%E3%83%84", false},
		{"bytes that are not UTF-8", "User-agent: *\nDisallow: /\xff\x80\n", "/%FF%80x", false},
		{"reserved bytes differ", "User-agent: *\nDisallow: /a%2Fb\n", "/a/b", true},
		{"RFC 9309, 2.2.2: a URL in a query", "User-agent: *\nDisallow: /foo?baz=https://foo.bar\n", "/foo?baz=https%3A%2F%2Ffoo.bar", false},
		{"RFC 9309, 2.2.2: the same, encoded in the rule", "User-agent: *\nDisallow: /foo?baz=https%3A%2F%2Ffoo.bar\n", "/foo?baz=https://foo.bar", false},
		{"a space", "User-agent: *\nDisallow: /a b\n", "/a%20b", false},
		{"braces", "User-agent: *\nDisallow: /a?q={x}\n", "/a?q={x}", false},
		{"percent that encodes nothing", "User-agent: *\nDisallow: /100%\n", "/100%", false},
		{"a NUL", "User-agent: *\nDisallow: /a\x00b\n", "/a%00b", false},
		{"robots.txt itself", "User-agent: *\nDisallow: /\n", "/robots.txt", true},
		{"no path", "User-agent: *\nDisallow: /$\n", "", false},
		{"no path but a query", "User-agent: *\nDisallow: /?a\n", "?a", false},
		{"fragment", "User-agent: *\nDisallow: /a$\n", "/a#b", false},
		{"html", "<!DOCTYPE html><html><body>Disallow: /</body></html>", "/a", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Parse([]byte(c.body)).Allowed("bot", c.path); got != c.want {
				t.Errorf("%q: %q allowed is %v", c.body, c.path, got)
			}
		})
	}
}

func TestCrawlDelay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body string
		want time.Duration
		ok   bool
	}{
		{"User-agent: bot\nCrawl-delay: 10\n", 10 * time.Second, true},
		{"User-agent: bot\nCrawl-delay: 0.5\n", 500 * time.Millisecond, true},
		{"User-agent: bot\nDisallow: /a\nCrawl-delay: 3s\n", 3 * time.Second, true},
		{"User-agent: *\nCrawl-delay: 2\n", 2 * time.Second, true},
		{"User-agent: *\nCrawl-delay: 2\nUser-agent: bot\nDisallow: /x\n", 0, false},
		{"User-agent: bot\nUser-agent: x\nCrawl-delay: 4\n", 4 * time.Second, true},
		{"User-agent: x\nCrawl-delay: 9\nUser-agent: bot\nCrawl-delay: 4\n", 4 * time.Second, true},
		{"User-agent: bot\nCrawl-delay: 4\nUser-agent: x\nCrawl-delay: 9\n", 4 * time.Second, true},
		{"User-agent: bot\nCrawl-delay: 4\nCrawl-delay: 9\n", 9 * time.Second, true},
		{"User-agent: bot\nCrawl-delay: 0\n", 0, true},
		{"User-agent: bot\nCrawl-delay: 1e999\n", longest, true},
		{"User-agent: bot\nCrawl-delay: 99999999999999999999\n", longest, true},
		{"User-agent: bot\nCrawl-delay: -1\n", 0, false},
		{"User-agent: bot\nCrawl-delay: NaN\n", 0, false},
		{"User-agent: bot\nCrawl-delay: soon\n", 0, false},
		{"User-agent: bot\nCrawl-delay:\n", 0, false},
		{"Crawl-delay: 1\n", 0, false},
	} {
		r := Parse([]byte(c.body))
		if got, ok := r.CrawlDelay("Bot"); got != c.want || ok != c.ok {
			t.Errorf("%q: %v %v, want %v %v", c.body, got, ok, c.want, c.ok)
		}
	}
}

func TestSitemaps(t *testing.T) {
	t.Parallel()
	r := Parse([]byte("Sitemap: https://a/1.xml\nUser-agent: x\nsitemap:https://a/2.xml # new\nSITE-MAP: https://a/1.xml\nSitemap:\n"))
	if got, want := r.Sitemaps(), []string{"https://a/1.xml", "https://a/2.xml"}; !slices.Equal(got, want) {
		t.Errorf("sitemaps are %q, want %q", got, want)
	}
}

func TestProductToken(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"luacrawl/1.0 (+https://example.com/bot)": "luacrawl",
		"MyBot":             "MyBot",
		"archive.org_bot 2": "archive.org_bot",
		"Mozilla/5.0 (compatible; Some-Bot/2.1; +http://example.com/)": "Some-Bot",
		"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 F/1": "Mozilla",
		"": "", "(none)": "",
	} {
		if got := ProductToken(agent); got != want {
			t.Errorf("%q: %q, want %q", agent, got, want)
		}
	}
	for _, agent := range []string{"archive.org_bot", "Archive.org_bot/3"} {
		if Parse([]byte("User-agent: "+agent+"\nDisallow: /\n")).Allowed(ProductToken("archive.org_bot"), "/") {
			t.Errorf("User-agent: %s is not ours", agent)
		}
	}
}

func TestCutFileLosesItsLastLine(t *testing.T) {
	t.Parallel()
	head := "User-agent: *\nDisallow: /a\nAllow: /"
	body := bytes.Repeat([]byte{'x'}, MaxSize+1000)
	copy(body, head)
	r := Parse(body)
	if r.Allowed("bot", "/a") {
		t.Error("a rule before the cut is not kept")
	}
	if n := r.For("bot").Len(); n != 1 {
		t.Errorf("%d rules, want 1", n)
	}
}
