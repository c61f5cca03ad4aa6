package scheduler

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// CookieChange is a cookie of one of the spider's jars that was set, or is gone.
type CookieChange struct {
	Jar   string // "" is the jar of requests that name none
	Key   string // names the cookie in its jar; has no line break
	Value string // what Redis keeps of it, JSON in which "sec" is true for a Secure cookie, and "e" the end in Unix microseconds; "" deletes it

	Plain  bool       // nobody on the way to the site could be kept from making it: it leaves Secure cookies alone, also those that came after Known
	Yields bool       // a cookie that has changed after Known, or is gone, stays as it is
	Known  CookieMark // what the worker knew when it made the change
}

// CookieMark is how far a worker knows the jars. The zero one knows nothing.
type CookieMark struct {
	era    int // a number means something within its era
	number int64
}

func (c CookieChange) field() string { return c.Jar + "\n" + c.Key }

// CookieNews are changes that other workers, or this one, have made.
type CookieNews struct {
	Changes []CookieChange // in the order in which they were made
	All     bool           // they are all that there is: what the worker has had is void
	Mark    CookieMark     // who has taken them in knows so much
}

const (
	newsChunk     = 4000 // changes that one script call reads
	unknownChange = -1   // after Redis has forgotten
)

// NewCookies gives what has changed since it was last called; anew gives all cookies. It goes on until Redis has answered or ctx ends, and
// is called by the goroutine that calls Exchange.
func (f *Frontier) NewCookies(ctx context.Context, anew bool) (CookieNews, error) {
	var news CookieNews
	since := f.cookies.number
	if anew {
		since = 0
	}
	for {
		r, err := f.run(ctx, cookiesScript, since, newsChunk)
		if err != nil {
			return CookieNews{}, fmt.Errorf("reading the cookies of %s: %w", f.cfg.Spider, err)
		}
		last, all, more := r.num(0), r.num(1) == 1, r.num(2) == 1
		if all {
			news = CookieNews{All: true}
		}
		for i := 3; i+1 < len(r.values); i += 2 {
			if jar, key, ok := cutLast(r.text(i), "\n"); ok {
				news.Changes = append(news.Changes, CookieChange{Jar: jar, Key: key, Value: r.text(i + 1)})
			}
		}
		if r.err != nil {
			return CookieNews{}, r.err
		}
		if since = last; !more {
			f.cookies.number = last
			news.Mark = f.cookies
			return news, nil
		}
	}
}

// condition is what a change depends on, as scripts/commit.lua reads it.
func (f *Frontier) condition(c CookieChange) string {
	known := "0"
	if c.Known.era == f.cookies.era {
		known = strconv.FormatInt(c.Known.number, 10)
	}
	switch {
	case c.Plain && c.Yields:
		return "plain yields " + known
	case c.Yields:
		return "yields " + known
	case c.Plain:
		return "plain " + known
	}
	return ""
}

// cutLast is strings.Cut around the last sep: a jar's name may have any bytes.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+len(sep):], true
}

// forgetCookies says that Redis has: the numbers of changes no longer mean what they did.
func (f *Frontier) forgetCookies() { f.cookies = CookieMark{f.cookies.era + 1, unknownChange} }

// cookieArgs are a part's cookies as scripts/commit.lua reads them; n is the outcome's place in the commit, from 1.
func (f *Frontier) cookieArgs(args []any, p *part, n int) []any {
	for _, c := range p.cookies {
		args = append(args, n, c.field(), c.Value, f.condition(c))
	}
	return args
}

// takeCookies puts an outcome's cookies into its first part, so that no child is leased before they are there.
func (p *part) takeCookies(o *Outcome, from int) {
	if from > 0 {
		return
	}
	p.cookies = o.Cookies
	for _, c := range o.Cookies {
		p.bytes += len(c.Jar) + len(c.Key) + len(c.Value)
	}
}
