package cookies

import (
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// site is what of a URL decides about cookies.
type site struct {
	secure bool   // https
	host   string // lower case, without port, brackets and a dot at the end
	ip     bool   // host is an address
	path   string // begins with "/"
}

// siteOf takes a normalised URL apart. It does not use net/url, which refuses paths that browsers send.
func siteOf(url string) (site, error) {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return site{}, fmt.Errorf("url %.80q is not an absolute http or https URL", url)
	}
	s := site{secure: scheme == "https", path: "/"}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		rest, s.path = rest[:i], rest[i:]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	s.host = hostname(rest)
	if s.host == "" || strings.ContainsAny(s.host, "; \t") || hasControl(s.host) {
		return site{}, fmt.Errorf("url %.80q: the host is not valid", url)
	}
	_, err := netip.ParseAddr(s.host)
	s.ip = err == nil
	return s, nil
}

func hostname(authority string) string {
	if end := strings.IndexByte(authority, ']'); strings.HasPrefix(authority, "[") && end > 0 {
		return strings.ToLower(authority[1:end])
	}
	host, _, _ := strings.Cut(authority, ":")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// under reports whether the host lies below domain.
func (s site) under(domain string) bool {
	n := len(s.host) - len(domain)
	return !s.ip && n > 1 && domain != "" && s.host[n-1] == '.' && s.host[n:] == domain
}

// defaultPath is the path of a cookie that names none (RFC 6265bis, 5.1.4): the folder of the page.
func (s site) defaultPath() string {
	if i := strings.LastIndexByte(s.path, '/'); i > 0 {
		return s.path[:i]
	}
	return "/"
}

// pathMatches is RFC 6265bis, 5.1.4: path is that of the cookie or lies below it.
func pathMatches(path, cookie string) bool {
	return strings.HasPrefix(path, cookie) &&
		(len(path) == len(cookie) || strings.HasSuffix(cookie, "/") || path[len(cookie)] == '/')
}

// isPublicSuffix reports whether anyone may register names below domain, so that a cookie for it would go to strangers.
func isPublicSuffix(domain string) bool {
	suffix, _ := publicsuffix.PublicSuffix(domain)
	return suffix == domain
}

// registrable is the domain that its owner has registered, for limits that no number of hosts gets around; host itself if it has
// none.
func registrable(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}
