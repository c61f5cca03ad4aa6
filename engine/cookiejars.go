package engine

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"luacrawl/engine/fetch/cookies"
	"luacrawl/scheduler"
)

// mostCookies is how many cookies a worker copies before it reads all of them anew. Redis keeps fewer, and does not say which it drops.
const mostCookies = 120_000

// cookieJars are this worker's copy of the spider's jars. What a page changes is seen by the pages here at once; it reaches Redis with the
// page's outcome, and the other workers with the leases that they get after that.
type cookieJars struct {
	logger *slog.Logger
	filled atomic.Bool  // there have been cookies: pages of a spider without any look no further
	unsure atomic.Bool  // changes were made here that Redis will not get
	ahead  atomic.Int64 // ns by which Redis' clock is ahead of this host's: a cookie ends everywhere at once

	mu    sync.Mutex
	jars  map[string]*cookies.Jar // by name, without empty ones; guarded by mu
	total int                     // cookies of all jars; guarded by mu
	known scheduler.CookieMark    // what they hold of Redis; guarded by mu

	unsent, byHand sync.Once // what is said once
}

func newCookieJars(logger *slog.Logger) *cookieJars {
	return &cookieJars{logger: logger, jars: map[string]*cookies.Jar{}}
}

// outgoing merges a request's own cookies into a jar and gives its Cookie header, "" for none.
func (c *cookieJars) outgoing(jar string, r *scheduler.Request) (header string, changes []scheduler.CookieChange, refused []error) {
	if !c.filled.Load() && len(r.Cookies) == 0 {
		return "", nil, nil
	}
	own := make([]cookies.RequestCookie, len(r.Cookies))
	for i, cookie := range r.Cookies {
		own[i] = cookies.RequestCookie(cookie)
	}
	c.change(jar, func(j *cookies.Jar, now time.Time) []cookies.Change {
		var merged []cookies.Change
		merged, refused = j.Merge(r.URL, own, now)
		header = j.Header(r.URL, now)
		return append(merged, j.Touch(r.URL, now)...)
	}, &changes)
	return header, changes, refused
}

// header is the Cookie header that a request would have now.
func (c *cookieJars) header(jar, url string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j := c.jars[jar]; j != nil {
		return j.Header(url, c.now())
	}
	return ""
}

// now is the time by Redis' clock.
func (c *cookieJars) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// incoming takes a page's Set-Cookie headers into a jar.
func (c *cookieJars) incoming(jar, url string, lines []string) (changes []scheduler.CookieChange, refused []error) {
	c.change(jar, func(j *cookies.Jar, now time.Time) (made []cookies.Change) {
		made, refused = j.Receive(url, lines, now)
		return made
	}, &changes)
	return changes, refused
}

// change works on one jar and adds what it has changed to changes.
func (c *cookieJars) change(jar string, work func(j *cookies.Jar, now time.Time) []cookies.Change, changes *[]scheduler.CookieChange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in(jar, func(j *cookies.Jar) {
		for _, made := range work(j, c.now()) {
			change := scheduler.CookieChange{Jar: jar, Key: made.Key, Plain: made.Plain, Yields: made.Yields, Known: c.known}
			if made.Cookie != nil {
				change.Value = made.Cookie.Encode()
			}
			*changes = append(*changes, change)
		}
	})
}

// in works on a jar and keeps the counts. Callers hold mu.
func (c *cookieJars) in(jar string, work func(*cookies.Jar)) {
	j := c.jars[jar]
	if j == nil {
		j = cookies.New()
	}
	c.total -= j.Len()
	work(j)
	c.total += j.Len()
	if j.Len() == 0 {
		delete(c.jars, jar)
		return
	}
	c.jars[jar] = j
	c.filled.Store(true)
}

// setClock notes what Redis' clock says now.
func (c *cookieJars) setClock(redis time.Time) { c.ahead.Store(int64(time.Until(redis))) }

// spoil says that a page has changed jars and will not be stored: all cookies are to be read anew.
func (c *cookieJars) spoil() {
	if c.filled.Load() {
		c.unsure.Store(true)
	}
}

// learn takes in what Redis has. What pages have changed that are not stored yet comes back with them.
func (c *cookieJars) learn(news scheduler.CookieNews) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if news.All {
		clear(c.jars)
		c.total = 0
	}
	c.known = news.Mark
	var unread int
	var first error
	for _, change := range news.Changes {
		if err := c.apply(change); err != nil {
			if unread++; unread == 1 {
				first = err
			}
		}
	}
	if unread > 0 {
		c.logger.Warn("cookies in redis cannot be read and are passed over", slog.Int("cookies", unread), slog.Any("error", first))
	}
	if c.total > mostCookies {
		c.unsure.Store(true)
	}
}

// apply takes in one change. Callers hold mu.
func (c *cookieJars) apply(change scheduler.CookieChange) error {
	made := cookies.Change{Key: change.Key}
	if change.Value != "" {
		cookie, err := cookies.Decode(change.Value)
		if err == nil && cookie.Key() != change.Key {
			err = fmt.Errorf("the cookie's key is %.80q", cookie.Key())
		}
		if err != nil {
			return fmt.Errorf("jar %.80q, field %.80q: %w", change.Jar, change.Key, err)
		}
		made.Cookie = cookie
	}
	c.in(change.Jar, func(j *cookies.Jar) { j.Apply([]cookies.Change{made}) })
	return nil
}
