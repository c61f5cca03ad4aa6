package cookies

import (
	"errors"
	"fmt"
	"time"
)

// RequestCookie is one of the cookies that a request brings along.
type RequestCookie struct {
	Name, Value string
	Domain      string // "": the request's host alone
	Path        string // "": the folder of the request's URL, or "/" for a name that begins with "__Host-"
	Secure      *bool  // nil: as the request's URL is https
}

// Merge takes the cookies that the request for url brings along into the jar, as Scrapy does: they replace those of the same name,
// domain and path, and later requests have them too. It gives what Receive gives. A jar into which others have put too much is cut, also for a
// request without cookies, so that none carries more than the limits.
func (j *Jar) Merge(url string, list []RequestCookie, now time.Time) (changes []Change, refused []error) {
	if len(list) == 0 && !j.over {
		return nil, nil
	}
	return j.take(url, now, len(list), func(i int, s site, now time.Time) (*Cookie, error) {
		return list[i].cookie(s, now)
	})
}

// Check says what no request could send, whatever its URL, and of a cookie without a name: a script that asks for one has lost it.
func (r RequestCookie) Check() error {
	if trim(r.Name) == "" {
		return errors.New("a cookie without a name")
	}
	secure := Cookie{Name: trim(r.Name), Value: trim(r.Value), Secure: true, HostOnly: r.Domain == "", Path: "/"}
	return secure.check()
}

func (r RequestCookie) cookie(s site, now time.Time) (*Cookie, error) {
	c := &Cookie{
		Name: trim(r.Name), Value: trim(r.Value), Domain: s.host, HostOnly: true, Path: r.Path, Secure: s.secure,
		Created: now, Used: now,
	}
	if r.Secure != nil {
		c.Secure = *r.Secure
	}
	switch {
	case c.Path == "" && hasPrefixFold(c.Name, "__Host-"):
		c.Path = "/"
	case c.Path == "":
		c.Path = s.defaultPath()
	case c.Path[0] != '/' || hasControl(c.Path) || len(c.Path) > maxAttribute:
		return nil, fmt.Errorf(`cookie %.40q: path %.40q has to begin with "/" and to have no control characters`, c.Name, c.Path)
	}
	if err := c.setDomain(r.Domain, s); err != nil {
		return nil, err
	}
	return c, c.check()
}
