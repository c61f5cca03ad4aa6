package robots

import (
	"net/http"
	"time"
)

// How long to keep what a host has answered (RFC 9309, 2.4), and how long to take a host that could not be asked for closed.
const (
	KeepAnswer      = 24 * time.Hour
	KeepUnreachable = time.Hour
)

// access is what a Policy says before any rule is looked at.
type access byte

const (
	byRules access = iota
	allowAll
	disallowAll
)

// Policy is what a host wants of crawlers. The zero Policy allows everything.
type Policy struct {
	access access
	status int // of the answer, 0 if there was none
	rules  *Rules
}

// FromResponse says what an answer to the question for robots.txt means (RFC 9309, 2.3.1), after up to MaxRedirects redirects were
// followed:
//
//	2xx            the body's rules
//	3xx            everything is allowed: a redirect that leads nowhere is a file that does not exist
//	4xx            everything is allowed, 401 and 403 too
//	429, 5xx, else nothing is allowed
//
// Status 0 is an answer that never came, or not whole: a timeout, a broken connection. Of the body MaxSize bytes are read, so a
// longer one may be cut by whoever fetches it, to no less than MaxSize+1.
func FromResponse(status int, body []byte) Policy {
	p := Policy{access: disallowAll, status: status}
	switch {
	case status >= 200 && status < 300:
		p.access, p.rules = byRules, Parse(body)
	case status == http.StatusTooManyRequests:
	case status >= 300 && status < 500:
		p.access = allowAll
	}
	return p
}

// Status is that of the answer, 0 if none came.
func (p Policy) Status() int { return p.status }

// Unreachable reports whether everything is forbidden because the host gave no usable answer, and not by its own rules.
func (p Policy) Unreachable() bool { return p.access == disallowAll }

// Keep is how long to go by this policy before asking again.
func (p Policy) Keep() time.Duration {
	if p.Unreachable() {
		return KeepUnreachable
	}
	return KeepAnswer
}

// Sitemaps gives the values of the Sitemap lines.
func (p Policy) Sitemaps() []string {
	if p.rules == nil {
		return nil
	}
	return p.rules.Sitemaps()
}

// For compiles the policy for the crawler named token.
func (p Policy) For(token string) *Matcher {
	switch {
	case p.access == disallowAll:
		return &Matcher{token: token, rules: compile([]rule{{path: "/"}})}
	case p.access == allowAll || p.rules == nil:
		return &Matcher{token: token}
	}
	return p.rules.For(token)
}
