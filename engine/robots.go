package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"luacrawl/engine/fetch"
	"luacrawl/scheduler"
	"luacrawl/scheduler/weburl"
)

const (
	reasonRobots    = "robotstxt"
	robotsPatience  = 100 * time.Millisecond // for which a page waits while another one here asks its site
	robotsLeastWait = 100 * time.Millisecond // before its slot is tried again, if that was not enough
	robotsMostWait  = 5 * time.Second
)

// robotsAllow reports whether the page may be fetched. If not, the outcome says what becomes of it: it is kept out for good, or comes
// again because its site's robots.txt is not known yet.
func (p *page) robotsAllow(ctx context.Context) bool {
	if !p.Settings.RobotstxtObey || !weburl.IsHTTP(p.req.URL) {
		return true
	}
	origin, path := splitOrigin(p.req.URL)
	site := p.robots.get(origin)
	if site == nil {
		if site = p.findRobots(ctx, origin); site == nil {
			return false
		}
	}
	if site.allows(path) {
		p.site = site
		return true
	}
	why := "robots.txt forbids it"
	if site.slow {
		why = fmt.Sprintf("the crawl-delay of %s in robots.txt is more than %s", site.asks(), crawlDelayMost)
	}
	p.count(statRobotsForbidden, 1)
	p.Logger.Debug("kept out", slog.String("url", p.req.URL), slog.String("why", why))
	p.errback(ctx, &Failure{Request: p.req, Reason: reasonRobots, Message: why})
	return false
}

// splitOrigin takes a normalised URL apart: "http://h:1", "/path?query". It makes a new string only when there is a user.
func splitOrigin(url string) (origin, path string) {
	begin := strings.Index(url, "://") + len("://")
	end := len(url)
	if n := strings.IndexAny(url[begin:], "/?#"); n >= 0 {
		end = begin + n
	}
	if at := strings.LastIndexByte(url[begin:end], '@'); at >= 0 {
		return url[:begin] + url[begin+at+1:end], url[end:]
	}
	return url[:end], url[end:]
}

// findRobots finds out what a site's robots.txt says: from another page that is at it, from Redis, or from the site. It gives nil when
// the outcome is made.
func (p *page) findRobots(ctx context.Context, origin string) *siteRobots {
	flight, mine := p.robots.begin(origin)
	if mine {
		p.fly(ctx, origin, flight)
	} else {
		waiting, cancel := context.WithTimeout(ctx, robotsPatience)
		defer cancel()
		select {
		case <-flight.done:
		case <-waiting.Done():
			if ctx.Err() == nil {
				p.comeAgain(robotsWait(time.Since(flight.begun)))
			}
			return nil
		}
	}
	found := &flight.found
	switch {
	case ctx.Err() != nil:
	case found.err != nil && mine:
		p.downloadFailed(ctx, found.err)
	case found.err != nil: // it may be that page's own: its proxy, say
		p.comeAgain(robotsLeastWait)
	case found.site == nil || found.used:
		p.comeAgain(found.after)
	default:
		return found.site
	}
	return nil
}

// fly makes a flight. It ends in any case.
func (p *page) fly(ctx context.Context, origin string, flight *robotsFlight) {
	flight.found = robotsFound{after: robotsLeastWait} // for those who wait, should this panic
	defer p.robots.end(origin, flight)
	found, err := p.askFleet(ctx, origin)
	if err != nil && ctx.Err() == nil {
		p.Logger.Error("no page of the site is fetched before its robots.txt is known", slog.String("site", origin), slog.Any("error", err))
		found.after = robotsMostWait
	}
	flight.found = found
}

// robotsWait is how long to keep off a slot whose robots.txt has been asked for that long already.
func robotsWait(age time.Duration) time.Duration {
	return min(max(age, robotsLeastWait), robotsMostWait)
}

// comeAgain puts the page back. It keeps its attempts and tries; other pages of its slot would meet the same, so the slot waits.
func (p *page) comeAgain(after time.Duration) {
	p.count(statRobotsWaited, 1)
	child := scheduler.Child{Request: p.req, Force: true}
	if p.Settings.Partition == scheduler.PartitionHost && p.req.Slot == "" {
		p.out.Hold, p.out.HoldWhy = after, scheduler.WaitRobots
	} else {
		child.Delay = after // other hosts share the slot
	}
	p.out.Children = append(p.out.Children, child)
}

// unreachable is a failure that shows nothing of robots.txt: the page itself would fail by it.
func unreachable(err error) *fetch.Error {
	var fe *fetch.Error
	if !errors.As(err, &fe) {
		return nil
	}
	switch fe.Kind {
	case fetch.KindDNS, fetch.KindConnect, fetch.KindTLS, fetch.KindProxy, fetch.KindPrivate, fetch.KindInvalid:
		return fe
	}
	return nil
}
