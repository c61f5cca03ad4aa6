package robots

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Matcher is the rules for one user agent, compiled. It is safe for concurrent use.
type Matcher struct {
	token   string
	rules   []compiled // sorted by pattern
	delay   time.Duration
	delayed bool
}

// compiled is a rule in the form in which it is matched.
type compiled struct {
	pattern  string // normal form, without a "*" at the end
	shared   int    // how many bytes its pattern has in common with that of the rule before
	literals int    // a path must have at least so many bytes
	rank     int    // of two rules that match, the one with the higher rank wins: odd ones allow
}

// compile sorts the rules by pattern, so that a search does what many patterns begin with once. Rules that match nothing (they
// begin neither with "/" nor with "*") are left out.
func compile(rules []rule) []compiled {
	all := make([]compiled, 0, len(rules))
	for _, r := range rules {
		p := normalizePattern(r.path)
		if p[0] != '/' && p[0] != '*' {
			continue
		}
		all = append(all, newCompiled(p, r.allow))
		if folder, ok := indexOf(p); ok && r.allow {
			all = append(all, newCompiled(folder, true))
		}
	}
	slices.SortFunc(all, func(a, b compiled) int {
		return cmp.Or(strings.Compare(a.pattern, b.pattern), cmp.Compare(b.rank, a.rank))
	})
	all = slices.CompactFunc(all, func(a, b compiled) bool { return a.pattern == b.pattern })
	for i := 1; i < len(all); i++ {
		all[i].shared = commonPrefix(all[i-1].pattern, all[i].pattern)
	}
	return slices.Clip(all)
}

// indexOf makes "Allow: /a/index.html" allow "/a/" too, as Google's parser does.
func indexOf(pattern string) (folder string, ok bool) {
	slash := strings.LastIndexByte(pattern, '/')
	if slash < 0 || !strings.HasPrefix(pattern[slash:], "/index.htm") {
		return "", false
	}
	return pattern[:slash+1] + "$", true
}

// newCompiled ranks a pattern by its octets (RFC 9309, 2.2.2), allow before disallow.
func newCompiled(pattern string, allow bool) compiled {
	c := compiled{rank: 2 * len(pattern)}
	if allow {
		c.rank++
	}
	pattern = strings.TrimSuffix(pattern, "*$")                 // "anything, then the end" is the same as nothing
	c.pattern = strings.Clone(strings.TrimSuffix(pattern, "*")) // else it would keep the whole file in memory
	c.literals = len(c.pattern) - strings.Count(c.pattern, "*")
	if strings.HasSuffix(c.pattern, "$") {
		c.literals--
	}
	return c
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// Allowed reports whether pathAndQuery, as it stands in a normalised URL ("/a?b=c"; "" is "/"), may be fetched: the longest rule
// that matches decides, of two equally long ones the one that allows, and no rule allows. /robots.txt itself is always allowed.
//
// The time is linear in the size of the rules, and a hundredth of that for each 64 bytes of the path: no rule makes it worse.
func (m *Matcher) Allowed(pathAndQuery string) bool {
	if len(m.rules) == 0 {
		return true
	}
	path := normalizePath(pathAndQuery)
	if path == "/robots.txt" {
		return true
	}
	rank := bestMatch(m.rules, path)
	return rank < 0 || rank%2 == 1
}

// CrawlDelay gives the Crawl-delay of these rules, and false if there is none.
func (m *Matcher) CrawlDelay() (time.Duration, bool) { return m.delay, m.delayed }

// Len is how many rules there are.
func (m *Matcher) Len() int { return len(m.rules) }
