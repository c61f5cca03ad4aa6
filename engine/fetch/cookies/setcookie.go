package cookies

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// parse reads a Set-Cookie header that came from s, in the steps of RFC 6265bis, 5.6 and 5.7. An error says why the cookie is not
// taken, and shows no value.
func parse(line string, s site, now time.Time) (*Cookie, error) {
	pair, attributes, _ := strings.Cut(line, ";")
	c := &Cookie{Domain: s.host, HostOnly: true, Path: s.defaultPath(), Created: now, Used: now}
	c.Name, c.Value = splitPair(pair)
	if hasControl(line) {
		return nil, fmt.Errorf("cookie %.40q: a control character", c.Name)
	}
	a := readAttributes(attributes, now)
	c.Secure, c.HTTPOnly, c.Expires = a.secure, a.httpOnly, a.expires(now)
	if strings.HasPrefix(a.path, "/") {
		c.Path = a.path
	}
	if err := c.setDomain(a.domain, s); err != nil {
		return nil, err
	}
	if c.Secure && !s.secure {
		return nil, fmt.Errorf("cookie %.40q: Secure, but set over http", c.Name)
	}
	return c, c.check()
}

// splitPair takes what has no "=" for a value without a name, as browsers do.
func splitPair(pair string) (name, value string) {
	name, value, ok := strings.Cut(pair, "=")
	if !ok {
		name, value = "", pair
	}
	return trim(name), trim(value)
}

func trim(s string) string { return strings.Trim(s, " \t") }

// setDomain makes the cookie one for a whole domain, if s may set such a cookie.
func (c *Cookie) setDomain(domain string, s site) error {
	domain = strings.ToLower(strings.TrimPrefix(domain, "."))
	switch {
	case domain == "":
		return nil
	case domain != s.host && !s.under(domain):
		return fmt.Errorf("cookie %.40q: set by %s for another domain, %.80q", c.Name, s.host, domain)
	case s.ip:
		return nil
	case isPublicSuffix(domain) && domain != s.host:
		return fmt.Errorf("cookie %.40q: set by %s for the public suffix %q", c.Name, s.host, domain)
	case isPublicSuffix(domain):
		return nil
	}
	c.Domain, c.HostOnly = domain, false
	return nil
}

// attributes are what follows the pair. The last of a name counts.
type attributes struct {
	domain, path     string
	secure, httpOnly bool
	maxAge           *time.Duration
	date             *time.Time
}

// readAttributes passes over what is unknown or too long, SameSite among it: a crawler has no page from which it asks.
func readAttributes(text string, now time.Time) attributes {
	var a attributes
	for text != "" {
		var part string
		part, text, _ = strings.Cut(text, ";")
		name, value, _ := strings.Cut(part, "=")
		if value = trim(value); len(value) > maxAttribute {
			continue
		}
		switch strings.ToLower(trim(name)) {
		case "domain":
			a.domain = value
		case "path":
			a.path = value
		case "secure":
			a.secure = true
		case "httponly":
			a.httpOnly = true
		case "max-age":
			if age, err := readAge(value); err == nil {
				a.maxAge = &age
			}
		case "expires":
			if when, err := readDate(value); err == nil {
				a.date = &when
			}
		}
	}
	return a
}

// expires is when the cookie ends, zero if it ends with the jar. Max-Age goes before Expires, and neither reaches beyond 400 days.
func (a attributes) expires(now time.Time) time.Time {
	var when time.Time
	switch {
	case a.maxAge != nil:
		when = now.Add(*a.maxAge)
	case a.date != nil:
		when = *a.date
	default:
		return time.Time{}
	}
	if latest := now.Add(maxLife); when.After(latest) {
		return latest
	}
	return when
}

var errAge = errors.New("not a number of seconds")

// readAge reads a Max-Age: digits, perhaps with a minus, any number of them.
func readAge(s string) (time.Duration, error) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, errAge
	}
	var n time.Duration
	for i := 0; i < len(digits) && n < maxLife; i++ {
		n = n*10 + time.Duration(digits[i]-'0')*time.Second
	}
	if s != digits || n == 0 {
		return -time.Second, nil
	}
	return n, nil
}
