package robots

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestHugeAndBinary: whatever a host sends is read within its first MaxSize bytes.
func TestHugeAndBinary(t *testing.T) {
	t.Parallel()
	random := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{6}).Read(random)
	for name, body := range map[string][]byte{
		"100 MB":              bytes.Repeat([]byte("User-agent: *\nDisallow: /a\n"), 100<<20/27),
		"100 MB in one line":  bytes.Repeat([]byte("Disallow: /"), 100<<20/11),
		"binary":              random,
		"line ends":           bytes.Repeat([]byte{'\n'}, 1<<20),
		"agents and delays":   bytes.Repeat([]byte("User-agent:x\nCrawl-delay:1\n"), MaxSize/27),
		"agents, then delays": append(bytes.Repeat([]byte("User-agent:x\n"), MaxSize/26), bytes.Repeat([]byte("Crawl-delay:1\n"), MaxSize/28)...),
		"sitemaps":            sitemaps(MaxSize / 16),
		"empty":               nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			p := FromResponse(200, body)
			stored := p.Store("bot")
			if len(stored) > maxStored {
				t.Errorf("stored as %d bytes", len(stored))
			}
			back, err := Load(stored, "bot")
			if err != nil {
				t.Fatalf("load: %v", err)
			}
			for _, path := range []string{"/a", "/b", "/"} {
				if a, b := p.For("bot").Allowed(path), back.For("bot").Allowed(path); a != b {
					t.Errorf("%s: allowed is %v, and %v after Store and Load", path, a, b)
				}
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestSitemapsAreBounded: what is kept of them, in Redis too, is not for the site to say.
func TestSitemapsAreBounded(t *testing.T) {
	t.Parallel()
	body := append([]byte("Sitemap: /"+strings.Repeat("x", maxSitemapURL)+"\n"), sitemaps(2*maxSitemaps)...)
	p := FromResponse(200, body)
	back, err := Load(p.Store("bot"), "bot")
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range [][]string{p.Sitemaps(), back.Sitemaps()} {
		if len(got) != maxSitemaps || got[0] != "0" {
			t.Errorf("%d sitemaps, the first is %.20q", len(got), got[0])
		}
	}
}

func sitemaps(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "Sitemap: %d\n", i)
	}
	return b.Bytes()
}

// manyWildcards are bodies with 20,000 wildcard rules each, and a path that makes the most work of them.
func manyWildcards() map[string]struct{ body, path string } {
	make20k := func(rule func(i int) string) string {
		var b strings.Builder
		b.WriteString("User-agent: *\n")
		for i := range 20000 {
			b.WriteString("Disallow:" + rule(i) + "\n")
		}
		return b.String()
	}
	letters := func(i, n, base int, between string) string {
		var s []string
		for range n {
			s = append(s, string(rune('a'+i%base)))
			i /= base
		}
		return strings.Join(s, between)
	}
	r := rand.New(rand.NewPCG(6, 6))
	binary := make([]byte, 2000)
	for i := range binary {
		binary[i] = 'a' + byte(r.IntN(2))
	}
	return map[string]struct{ body, path string }{
		"plain":        {make20k(func(i int) string { return fmt.Sprintf("/*/page%d*.html", i) }), "/shop/page19999x/list?sort=price&page=3"},
		"plain, long":  {make20k(func(i int) string { return fmt.Sprintf("/*/page%d*.html", i) }), "/" + strings.Repeat("page1/", 340)},
		"backtracking": {make20k(func(i int) string { return "/*a*a*a*a*" + letters(i, 4, 12, "") + "$" }), "/" + strings.Repeat("a", 2000)},
		"same letter":  {make20k(func(i int) string { return fmt.Sprintf("/*%sb%d", strings.Repeat("a", 1+i%16), i) }), "/" + strings.Repeat("a", 2000)},
		"letters":      {make20k(func(i int) string { return "/*" + letters(i, 5, 8, "*") + "*Z" }), "/" + strings.Repeat("abcdefgh", 250)},
		"two letters":  {make20k(func(i int) string { return "/*" + letters(i, 15, 2, "") + "Z" }), "/" + string(binary)},
		"queries":      {make20k(func(i int) string { return fmt.Sprintf("/*?*p%d=", i) }), "/a?" + strings.Repeat("p1&", 600)},
	}
}

// TestManyWildcards holds the bound of 5 ms on a machine of 3 GHz. So that neither a slow machine nor a busy one decides, it is
// measured in a plain loop that takes this time there, run in turn with the matcher; the best of several tries counts.
func TestManyWildcards(t *testing.T) {
	for name, c := range manyWildcards() {
		t.Run(name, func(t *testing.T) {
			m := Parse([]byte(c.body)).For("bot")
			best, bound := time.Hour, time.Hour
			for range 10 {
				best = min(best, elapsed(func() { m.Allowed(c.path) }))
				bound = min(bound, elapsed(plainLoop))
			}
			t.Logf("%d rules, path of %d bytes: %v of %v", m.Len(), len(c.path), best, bound)
			if best > bound*slowdown {
				t.Errorf("one answer takes %v, more than %v", best, bound)
			}
		})
	}
}

func elapsed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// plainLoop takes 5 ms at 3 GHz: 3.75 million multiplications, each of which waits for the one before.
func plainLoop() {
	hash := loopSeed
	for range 3_750_000 {
		hash = (hash ^ 1) * 0x100000001b3
	}
	loopSeed = hash
}

var loopSeed uint64 = 1

// TestAgainstRegexp compares with a matcher that is slow and plainly right.
func TestAgainstRegexp(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	text := func(letters string, n int) string {
		b := make([]byte, r.IntN(n+1))
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return string(b)
	}
	for range 1500 {
		var body strings.Builder
		var rules []slowRule
		body.WriteString("User-agent: *\n")
		for range 1 + r.IntN(20) {
			line := rule{r.IntN(2) == 0, "/" + text("aab/**", 9) + []string{"", "", "$"}[r.IntN(3)]}
			rules = append(rules, newSlowRule(line))
			fmt.Fprintf(&body, "%s: %s\n", map[bool]string{true: "Allow", false: "Disallow"}[line.allow], line.path)
		}
		m := Parse([]byte(body.String())).For("bot")
		for range 10 {
			path := "/" + text("aab/", 140)
			if got, want := m.Allowed(path), slowAllowed(rules, path); got != want {
				t.Fatalf("%s%s: allowed is %v", body.String(), path, got)
			}
		}
	}
}

var stars = regexp.MustCompile(`\*+`)

// slowRule is a rule as a regular expression.
type slowRule struct {
	*regexp.Regexp
	octets int
	allow  bool
}

func newSlowRule(r rule) slowRule {
	p := stars.ReplaceAllString(r.path, "*")
	re := "^" + strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSuffix(p, "$")), `\*`, ".*")
	if strings.HasSuffix(p, "$") {
		re += "$"
	}
	return slowRule{regexp.MustCompile(re), len(p), r.allow}
}

func slowAllowed(rules []slowRule, path string) bool {
	longest, allowed := -1, true
	for _, r := range rules {
		if r.MatchString(path) && (r.octets > longest || r.octets == longest && r.allow) {
			longest, allowed = r.octets, r.allow
		}
	}
	return allowed
}

func BenchmarkAllowed(b *testing.B) {
	m := Parse([]byte("User-agent: *\nDisallow: /cgi-bin/\nDisallow: /search\nDisallow: /*?*sort=\nDisallow: /*.pdf$\nAllow: /search/about\nDisallow: /user/*/edit\n")).For("bot")
	for b.Loop() {
		m.Allowed("/shop/books/history/a-title-of-some-length.html?page=3")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\nAllow: /index.html\nCrawl-delay: 1.5\nSitemap: x\n"), "/a%20b")
	f.Add([]byte("\xFF\xFEU\x00:"), "*$%zz")
	f.Add([]byte("useragent bot\rdisalow /%\r"), "")
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		r := Parse(body)
		p := Policy{access: byRules, rules: r, status: 200}
		stored := p.Store("bot")
		back, err := Load(stored, "bot")
		if err != nil {
			t.Fatalf("load %q: %v", stored, err)
		}
		a, b := r.Allowed("bot", path), back.For("BOT").Allowed(path)
		if a != b {
			t.Errorf("allowed is %v, and %v after Store and Load", a, b)
		}
		if once := normalizePath(path); normalizePath(once) != once && !strings.Contains(once, "%") {
			t.Errorf("%q becomes %q, which is not normal", path, once)
		}
		if string(back.Store("bot")) != string(stored) {
			t.Errorf("stored anew it differs: %q, %q", stored, back.Store("bot"))
		}
	})
}
