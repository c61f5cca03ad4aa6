package engine

import (
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"luacrawl/engine/fetch"
	"luacrawl/engine/fetch/robots"
)

const (
	robotsHosts    = 4096             // kept compiled in a worker
	robotsRules    = 200_000          // of all of them together
	crawlDelayMost = 30 * time.Second // a site that asks for more is skipped
)

// siteRobots is what a site's robots.txt says to this crawler.
type siteRobots struct {
	rules    *robots.Matcher
	sitemaps []string // as it names them; not nil
	slow     bool     // its crawl-delay is more than crawlDelayMost
	until    time.Time
}

func newSiteRobots(policy robots.Policy, token string, keep time.Duration) *siteRobots {
	s := &siteRobots{rules: policy.For(token), sitemaps: []string{}, until: time.Now().Add(keep)}
	for _, url := range policy.Sitemaps() {
		s.sitemaps = append(s.sitemaps, strings.Clone(url)) // not to keep the whole text
	}
	s.slow = s.asks() > crawlDelayMost
	return s
}

// asks is the crawl-delay, 0 for none.
func (s *siteRobots) asks() time.Duration {
	delay, _ := s.rules.CrawlDelay()
	return delay
}

// weight is how many lines of the file it keeps.
func (s *siteRobots) weight() int { return s.rules.Len() + len(s.sitemaps) }

func (s *siteRobots) allows(path string) bool { return !s.slow && s.rules.Allowed(path) }

// robotsCache keeps what sites' robots.txt say, the ones used last, and who is finding out about others. A look costs no memory.
type robotsCache struct {
	token string // by which robots.txt files call us

	mu      sync.Mutex
	known   *simplelru.LRU[string, *siteRobots] // by origin; guarded by mu
	rules   int                                 // of all of them; guarded by mu
	flights map[string]*robotsFlight            // by origin; guarded by mu
}

func newRobotsCache(token string) *robotsCache {
	c := &robotsCache{token: token, flights: map[string]*robotsFlight{}}
	known, err := simplelru.NewLRU(robotsHosts, func(_ string, s *siteRobots) { c.rules -= s.weight() })
	if err != nil {
		panic(err) // the size is wrong
	}
	c.known = known
	return c
}

// robotsFlight is a page that finds out what a site's robots.txt says. found is written before done is closed.
type robotsFlight struct {
	begun time.Time
	done  chan struct{}
	found robotsFound
}

// robotsFound is what has become of a flight.
type robotsFound struct {
	site  *siteRobots   // nil: it is not known yet; come again
	after time.Duration // when to come again, for the whole slot
	used  bool          // the site has been asked, and its slot has a delay: the leases of it are used up
	err   *fetch.Error  // no way leads to the site
}

func (c *robotsCache) get(origin string) *siteRobots {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.known.Get(origin)
	if !ok || !time.Now().Before(s.until) {
		return nil
	}
	return s
}

// begin joins the flight for a site; mine says that the caller is to make it, and to end it.
func (c *robotsCache) begin(origin string) (f *robotsFlight, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.flights[origin]; f != nil {
		return f, false
	}
	f = &robotsFlight{begun: time.Now(), done: make(chan struct{})}
	c.flights[strings.Clone(origin)] = f // not to keep the whole URL
	return f, true
}

func (c *robotsCache) end(origin string, f *robotsFlight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights, origin)
	if s := f.found.site; s != nil {
		c.known.Remove(origin)
		c.rules += s.weight()
		c.known.Add(strings.Clone(origin), s)
		for c.rules > robotsRules && c.known.Len() > 1 {
			c.known.RemoveOldest()
		}
	}
	close(f.done)
}
