package weburl

import (
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// StripFragment drops what follows "#", and the "#" itself.
func StripFragment(u string) string {
	if i := strings.IndexByte(u, '#'); i >= 0 {
		return u[:i]
	}
	return u
}

// IsHTTP reports whether a normalised URL has the scheme http or https.
func IsHTTP(u string) bool {
	return strings.HasPrefix(u, "http://") || strings.HasPrefix(u, "https://")
}

// Host returns the lower-case host[:port] of a normalised URL; a scheme's own port is left out. An IPv6 address keeps
// its brackets. It is empty for a URL without a host, such as mailto:x.
func Host(u string) string {
	colon := strings.IndexByte(u, ':')
	if colon < 0 || !strings.HasPrefix(u[colon:], "://") {
		return ""
	}
	authority := u[colon+len("://"):]
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority = authority[:end]
	}
	return authority[strings.LastIndexByte(authority, '@')+1:]
}

// Hostname is Host without the port; an IPv6 address keeps its brackets.
func Hostname(u string) string {
	host := Host(u)
	if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
		return host[:colon]
	}
	return host
}

// Domain returns the registrable domain of a host name: one label more than its public suffix (publicsuffix.org, the
// private part included, so that a.github.io and b.github.io are two). An IP address, a single label and a public
// suffix are their own domain; a trailing dot is kept.
func Domain(hostname string) string {
	if isAddress(hostname) {
		return hostname
	}
	name, dot := hostname, ""
	if strings.HasSuffix(name, ".") {
		name, dot = name[:len(name)-1], "."
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return hostname
	}
	return hostname[len(hostname)-len(domain)-len(dot):]
}

func isAddress(hostname string) bool {
	if strings.HasPrefix(hostname, "[") {
		return true
	}
	if hostname == "" || !isDigit(hostname[len(hostname)-1]) && !strings.Contains(hostname, ":") {
		return false
	}
	_, err := netip.ParseAddr(hostname)
	return err == nil
}
