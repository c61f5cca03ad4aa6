package cookies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// useStep is how exactly Cookie.Used is known: a cookie that is sent with every page is not written for every page.
const useStep = time.Hour

// Jar is a set of cookies. It is not safe for concurrent use, but Header and Len only read and may run side by side.
// Times come from the caller.
type Jar struct {
	sites   map[string]map[string]*Cookie // registrable domain -> Key -> cookie
	count   int
	size    int       // bytes, as Cookie.size counts
	over    bool      // a limit may have been passed since the last look
	created time.Time // the latest Created given: no two cookies share one
}

// New makes an empty jar.
func New() *Jar { return &Jar{sites: map[string]map[string]*Cookie{}} }

// Len is how many cookies there are, expired ones among them.
func (j *Jar) Len() int { return j.count }

// Receive takes the Set-Cookie headers of the answer from url. It gives the cookies that were set or removed, also those that the jar
// knows to be so while another worker's jar may not, those that made room for others, and an error for each header that was not taken: sites
// send such, and it stops nothing.
func (j *Jar) Receive(url string, setCookie []string, now time.Time) (changes []Change, refused []error) {
	if len(setCookie) == 0 {
		return nil, nil
	}
	return j.take(url, now, len(setCookie), func(i int, s site, now time.Time) (*Cookie, error) {
		return parse(setCookie[i], s, now)
	})
}

// take puts the n cookies that cookie gives, for or from url, into the jar.
func (j *Jar) take(url string, now time.Time, n int, cookie func(i int, s site, now time.Time) (*Cookie, error)) (changes []Change, refused []error) {
	s, err := siteOf(url)
	if err != nil {
		return nil, []error{err}
	}
	now = exact(now)
	l := newLedger(j, !s.secure)
	for i := range n {
		c, err := cookie(i, s, now)
		if err == nil {
			err = l.set(c, s, now)
		}
		if err != nil {
			refused = append(refused, err)
		}
		if len(j.sites[registrable(s.host)]) > 2*MaxPerSite { // not only at the end: an answer may have 100,000
			l.evict(now)
		}
	}
	l.evict(now)
	return l.changes(), refused
}

// exact is now as a stored cookie has it.
func exact(now time.Time) time.Time { return now.UTC().Truncate(time.Microsecond) }

// Header is the Cookie header for a request to url, "" if no cookie belongs there: longer paths first, then older cookies (RFC
// 6265bis, 5.8.3).
func (j *Jar) Header(url string, now time.Time) string {
	found := j.find(url, now)
	slices.SortFunc(found, func(a, b *Cookie) int {
		if c := cmp.Or(cmp.Compare(len(b.Path), len(a.Path)), a.Created.Compare(b.Created)); c != 0 {
			return c
		}
		return strings.Compare(a.Key(), b.Key())
	})
	pairs := make([]string, len(found))
	for i, c := range found {
		pairs[i] = c.pair()
	}
	return strings.Join(pairs, "; ")
}

// Touch notes that the cookies of a request to url are in use, so that others make room first. It changes nothing, and gives
// nothing, for cookies whose use was noted within the last hour.
func (j *Jar) Touch(url string, now time.Time) []Change {
	l := newLedger(j, false)
	for _, c := range j.find(url, now) {
		if now.Sub(c.Used) >= useStep {
			used := *c
			used.Used = exact(now)
			l.put(&used)
		}
	}
	changes := l.changes()
	for i := range changes {
		changes[i].Yields = true
	}
	return changes
}

func (j *Jar) find(url string, now time.Time) []*Cookie {
	if j.count == 0 {
		return nil
	}
	s, err := siteOf(url)
	if err != nil {
		return nil
	}
	var found []*Cookie
	for _, c := range j.sites[registrable(s.host)] {
		if c.matches(s) && !c.expired(now) {
			found = append(found, c)
		}
	}
	return found
}

// set takes c, which s has sent. A cookie that is over removes the one it replaces.
func (l *ledger) set(c *Cookie, s site, now time.Time) error {
	if err := l.jar.guardSecure(c, s, now); err != nil {
		return err
	}
	old := l.jar.get(c.Domain, c.Key())
	switch {
	case c.expired(now):
		l.end(c)
		return nil
	case old == nil:
		c.Created = l.jar.nextCreated(now)
	case old.same(c) && !old.expired(now):
		l.note(old.Key(), old, l.plain && !old.Secure) // another worker may have been told otherwise
		return nil
	default:
		c.Created = old.Created
	}
	l.put(c)
	return nil
}

// guardSecure keeps an answer over http, which anyone on the way may have written, from hiding a cookie of https (RFC 6265bis, 5.7).
func (j *Jar) guardSecure(c *Cookie, s site, now time.Time) error {
	if s.secure || c.Secure {
		return nil
	}
	for _, old := range j.sites[registrable(c.Domain)] {
		if old.Secure && old.Name == c.Name && !old.expired(now) && pathMatches(c.Path, old.Path) &&
			(old.Domain == c.Domain || (site{host: old.Domain}).under(c.Domain) || (site{host: c.Domain}).under(old.Domain)) {
			return fmt.Errorf("cookie %.40q: set over http, where https has set one", c.Name)
		}
	}
	return nil
}

func (j *Jar) get(domain, key string) *Cookie { return j.sites[registrable(domain)][key] }

// nextCreated is now, or a moment after the last one given, so that cookies of one answer keep their order.
func (j *Jar) nextCreated(now time.Time) time.Time {
	if !now.After(j.created) {
		now = j.created.Add(time.Microsecond)
	}
	j.created = now.Truncate(time.Microsecond)
	return j.created
}

// store and drop keep the counts.
func (j *Jar) store(c *Cookie) {
	domain, key := registrable(c.Domain), c.Key()
	j.drop(key, c.Domain)
	if j.sites[domain] == nil {
		j.sites[domain] = map[string]*Cookie{}
	}
	j.sites[domain][key] = c
	j.count++
	j.size += c.size()
	j.over = j.over || len(j.sites[domain]) > MaxPerSite || j.count > MaxPerJar || j.size > MaxSize
	if c.Created.After(j.created) {
		j.created = c.Created
	}
}

func (j *Jar) drop(key, domain string) {
	domain = registrable(domain)
	old := j.sites[domain][key]
	if old == nil {
		return
	}
	delete(j.sites[domain], key)
	if len(j.sites[domain]) == 0 {
		delete(j.sites, domain)
	}
	j.count--
	j.size -= old.size()
}
