// Package cookies keeps what sites remember a crawler by. A Jar takes Set-Cookie headers as browsers do (RFC 6265bis), answers with
// the Cookie header of a request, and can live in a hash outside of the process: every call that changes it says which cookies
// have changed, so that several workers write one jar without undoing each other's work. The package does no I/O.
package cookies

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Limits of one cookie, in bytes (RFC 6265bis, 5.6), and of its life.
const (
	maxNameValue = 4096
	maxAttribute = 1024
	maxLife      = 400 * 24 * time.Hour
)

// Cookie is one cookie as a jar keeps it. It is not changed once it is in a jar, so it may be read at any time.
type Cookie struct {
	Name     string // may be empty; any bytes but controls and ";"
	Value    string // the same
	Domain   string // a host in lower case, without a dot before it
	Path     string // begins with "/"
	HostOnly bool   // for Domain itself and not for hosts below it
	Secure   bool   // for https only
	HTTPOnly bool   // kept for whoever looks; the crawler has no scripts to hide it from

	Expires time.Time // zero: as long as the jar lives
	Created time.Time // when it was set first; its place in the Cookie header goes by it
	Used    time.Time // when it was set or sent last, to the hour; what is used least is dropped first
}

// Key names the cookie within a jar. Domain (with a dot before it if hosts below it have the cookie too), path and name are what
// makes one cookie, with ";" between them. Of these only the path can contain one, as in /shop;pgid=1/: it is a control character then, which no
// path has, so that paths below each other stay so in their keys.
func (c *Cookie) Key() string {
	dot := "."
	if c.HostOnly {
		dot = ""
	}
	return dot + c.Domain + ";" + strings.ReplaceAll(c.Path, ";", "\x1f") + ";" + c.Name
}

// overhead is what a cookie takes beside its texts.
const overhead = 64

func (c *Cookie) size() int {
	return len(c.Name) + len(c.Value) + len(c.Domain) + len(c.Path) + overhead
}

func (c *Cookie) expired(now time.Time) bool { return !c.Expires.IsZero() && !c.Expires.After(now) }

// pair is the cookie as a Cookie header has it.
func (c *Cookie) pair() string {
	if c.Name == "" {
		return c.Value
	}
	return c.Name + "=" + c.Value
}

// matches reports whether a request for s carries the cookie.
func (c *Cookie) matches(s site) bool {
	return (s.host == c.Domain || !c.HostOnly && s.under(c.Domain)) && (s.secure || !c.Secure) && pathMatches(s.path, c.Path)
}

// same reports whether putting newer in the place of c would change nothing but times that need not be known so exactly.
func (c *Cookie) same(newer *Cookie) bool {
	a, b := *c, *newer
	if b.Used.Sub(a.Used) >= useStep || !a.Expires.Equal(b.Expires) {
		return false
	}
	for _, x := range []*Cookie{&a, &b} {
		x.Created, x.Used, x.Expires = time.Time{}, time.Time{}, time.Time{}
	}
	return a == b
}

// check refuses what no header can carry and no jar may hold.
func (c *Cookie) check() error {
	switch {
	case hasControl(c.Name) || hasControl(c.Value):
		return fmt.Errorf("cookie %.40q: a control character in name or value", c.Name)
	case strings.ContainsAny(c.Name, ";=") || strings.Contains(c.Value, ";"):
		return fmt.Errorf(`cookie %.40q: ";" in name or value, or "=" in the name, cannot be sent`, c.Name)
	case c.Name == "" && c.Value == "":
		return fmt.Errorf("a cookie with neither name nor value")
	case len(c.Name)+len(c.Value) > maxNameValue:
		return fmt.Errorf("cookie %.40q: name and value have %d bytes, more than %d", c.Name, len(c.Name)+len(c.Value), maxNameValue)
	}
	return c.checkPrefix()
}

// checkPrefix holds cookies to what their names promise (RFC 6265bis, 4.1.3). A nameless one may not look like such a name.
func (c *Cookie) checkPrefix() error {
	name := c.Name
	if name == "" {
		name = c.Value
	}
	secure, host := hasPrefixFold(name, "__Secure-"), hasPrefixFold(name, "__Host-")
	switch {
	case (secure || host) && c.Name == "":
		return errors.New("cookie without a name: its value looks like a name that promises something")
	case secure && !c.Secure:
		return fmt.Errorf("cookie %.40q: it has to be Secure", c.Name)
	case host && (!c.Secure || !c.HostOnly || c.Path != "/"):
		return fmt.Errorf(`cookie %.40q: it has to be Secure, with Path "/" and no Domain`, c.Name)
	}
	return nil
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// hasControl reports whether s has a control character other than a tab.
func hasControl(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return true
		}
	}
	return false
}
