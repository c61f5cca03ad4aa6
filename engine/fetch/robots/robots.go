// Package robots reads robots.txt as RFC 9309 says, and what the RFC leaves open as Google's reference parser does: mistyped
// keys, a missing colon, "/index.html" standing for its folder. It does no I/O.
//
// A body becomes Rules (Parse), Rules become a Matcher for one user agent (For), and a Matcher answers for one path at a time.
// A Policy says what an HTTP answer to the question for robots.txt means, and can be kept as text.
package robots

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// MaxSize is how many bytes of a robots.txt are read (RFC 9309, 2.5). A line that is cut there does not count.
const MaxSize = 500 << 10

// MaxRedirects is how many redirects from robots.txt to follow, also to other hosts (RFC 9309, 2.3.1.2).
const MaxRedirects = 5

// Rules is what a robots.txt says. It is safe for concurrent use.
type Rules struct {
	groups   []group
	delays   []delay
	sitemaps []string
	last     atomic.Pointer[Matcher] // the matcher that Allowed and CrawlDelay have used last
}

// group is the rules that follow one run of User-agent lines.
type group struct {
	agents []string // lower case, "*" for everyone
	rules  []rule
}

// rule is one Allow or Disallow line.
type rule struct {
	allow bool
	path  string // as written, never empty
}

// delay is one Crawl-delay line and the User-agent lines that it follows.
type delay struct {
	agents []string
	wait   time.Duration
}

// Allowed reports whether the crawler named token (its product token: see ProductToken) may fetch pathAndQuery. It compiles the
// rules when token is another than last time; whoever asks often keeps the Matcher of For.
func (r *Rules) Allowed(token, pathAndQuery string) bool {
	return r.matcher(token).Allowed(pathAndQuery)
}

// CrawlDelay gives the Crawl-delay that holds for token, and false if there is none. Nothing is capped: it may be years.
func (r *Rules) CrawlDelay(token string) (time.Duration, bool) {
	return r.matcher(token).CrawlDelay()
}

// Sitemaps gives the values of the first 1000 Sitemap lines in their order, without repetitions and those of more than 2048 bytes. They
// belong to no group, and nothing has checked that they are URLs.
func (r *Rules) Sitemaps() []string { return slices.Clone(r.sitemaps) }

func (r *Rules) matcher(token string) *Matcher {
	if m := r.last.Load(); m != nil && m.token == strings.ToLower(token) {
		return m
	}
	m := r.For(token)
	r.last.Store(m)
	return m
}

// For compiles what concerns token: all groups that name it (case does not matter), else all groups for "*".
func (r *Rules) For(token string) *Matcher {
	token = strings.ToLower(token)
	own := r.of(token)
	m := &Matcher{token: token, rules: compile(own.rules)}
	m.delay, m.delayed = own.wait()
	return m
}

// share is the part of a robots.txt that one crawler has to keep.
type share struct {
	rules  []rule
	delays []time.Duration
}

func (r *Rules) of(token string) share {
	named := func(g group) bool { return slices.Contains(g.agents, token) }
	if !slices.ContainsFunc(r.groups, named) {
		token = "*"
	}
	var s share
	for _, g := range r.groups {
		if named(g) {
			s.rules = append(s.rules, g.rules...)
		}
	}
	for _, d := range r.delays {
		if slices.Contains(d.agents, token) {
			s.delays = append(s.delays, d.wait)
		}
	}
	return s
}

// wait is the longest delay, if there is one: of two that contradict each other, the one that harms nobody.
func (s share) wait() (time.Duration, bool) {
	if len(s.delays) == 0 {
		return 0, false
	}
	return slices.Max(s.delays), true
}
