// Package weburl reads URLs as browsers do (WHATWG URL) and as scrapy-redis does (w3lib's canonical form).
package weburl

import "errors"

// Base is an absolute URL prepared for resolving many links against it.
type Base struct{ href string }

// ParseBase parses an absolute URL.
func ParseBase(raw string) (*Base, error) { return nil, errors.New("stub") }

// String returns the normalised URL.
func (b *Base) String() string { return b.href }

// Resolve returns what a browser makes of a link found on a page with this base, fragment kept.
func (b *Base) Resolve(ref string) (string, error) { return "", errors.New("stub") }

// Parse returns the normalised form of an absolute URL of any scheme.
func Parse(raw string) (string, error) { return "", errors.New("stub") }

// Canonicalize returns w3lib's canonical form of a URL, fragment dropped.
func Canonicalize(raw string) string { return raw }

// StripFragment drops what follows "#".
func StripFragment(u string) string { return u }

// Host returns the lower-case host[:port] of a normalised URL; a scheme's own port is left out.
func Host(u string) string { return "" }

// Hostname is Host without the port.
func Hostname(u string) string { return "" }

// Domain returns the registrable domain of a host name (public suffix list), or the host itself when it has none.
func Domain(hostname string) string { return hostname }

// IsHTTP reports whether a normalised URL has the scheme http or https.
func IsHTTP(u string) bool { return false }
