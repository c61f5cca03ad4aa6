package engine

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"luacrawl/engine/fetch"
	"luacrawl/engine/fetch/robots"
	"luacrawl/scheduler"
	"luacrawl/scheduler/weburl"
)

const (
	robotsTimeout  = 30 * time.Second // of each download of a robots.txt, if download_timeout is not less
	robotsOnTheWay = time.Hour        // for which a redirect is remembered that nobody has followed
)

// askFleet looks a site's robots.txt up in Redis, and asks the site if this page is the one to do it.
func (p *page) askFleet(ctx context.Context, origin string) (robotsFound, error) {
	host := origin + " " + p.robots.token
	known, err := p.Frontier.LookRobots(ctx, p.lease, host, false)
	if err != nil {
		return robotsFound{}, err
	}
	if known.State == scheduler.RobotsKnown {
		policy, err := robots.Load([]byte(known.Text), p.robots.token)
		if err == nil {
			return robotsFound{site: newSiteRobots(policy, p.robots.token, known.Keep)}, nil
		}
		p.Logger.Warn("the site is asked again for its robots.txt", slog.String("site", origin), slog.Any("error", err))
		if known, err = p.Frontier.LookRobots(ctx, p.lease, host, true); err != nil {
			return robotsFound{}, err
		}
	}
	if known.State != scheduler.RobotsYours {
		return robotsFound{after: robotsWait(known.Keep)}, nil
	}
	return p.askSite(ctx, origin, host, known)
}

// robotsAnswer is what one download has given. A location is that of a redirect to follow.
type robotsAnswer struct {
	policy   robots.Policy
	location string
}

// askSite asks for robots.txt in place of the page: the page's lease is the start that the slot allows. If the slot has a delay, each
// redirect takes a lease of its own, and so does the page in the end.
func (p *page) askSite(ctx context.Context, origin, host string, claim scheduler.Robots) (robotsFound, error) {
	url, hops := origin+"/robots.txt", 0
	if claim.Redirects > 0 {
		url, hops = claim.Text, claim.Redirects
	}
	for {
		answer, err := p.fetchRobots(ctx, url, hops)
		switch {
		case ctx.Err() != nil:
			return robotsFound{}, ctx.Err()
		case err != nil:
			return robotsFound{err: err}, nil
		case answer.location == "":
			return p.keepRobots(ctx, origin, host, answer.policy)
		}
		url, hops = answer.location, hops+1
		if claim.Delay > 0 {
			_, err := p.Frontier.KeepRobots(ctx, p.lease, host, scheduler.RobotsAnswer{Text: url, Redirects: hops, Keep: robotsOnTheWay})
			return robotsFound{}, err
		}
	}
}

// fetchRobots makes one download. err is one that the page would have too.
func (p *page) fetchRobots(ctx context.Context, url string, hops int) (robotsAnswer, *fetch.Error) {
	limited, cancel := context.WithTimeout(ctx, min(robotsTimeout, p.Settings.DownloadTimeout))
	defer cancel()
	p.count(statRobots, 1)
	got, err := p.Downloader.Fetch(limited, &fetch.Request{URL: url, Proxy: requestProxy(p.req), Most: robots.MaxSize + 1})
	if err != nil {
		p.count(statRobotsFailed, 1)
		if lost := unreachable(err); lost != nil && hops == 0 {
			return robotsAnswer{}, lost
		}
		p.leftAlone(url, err.Error())
		return robotsAnswer{policy: robots.FromResponse(0, nil)}, nil
	}
	defer got.Release()
	p.count(statRobotsStatus+strconv.Itoa(got.Status), 1)
	if target := robotsTarget(url, got); target != "" && hops < robots.MaxRedirects {
		return robotsAnswer{location: target}, nil
	}
	policy := robots.FromResponse(got.Status, got.Body)
	if policy.Unreachable() {
		p.leftAlone(url, "status "+strconv.Itoa(got.Status))
	}
	return robotsAnswer{policy: policy}, nil
}

// leftAlone is said once a site and hour in the whole fleet.
func (p *page) leftAlone(url, why string) {
	p.Logger.Warn(fmt.Sprintf("%s could not be had (%s): no page of its site is fetched for %s", url, why, robots.KeepUnreachable))
}

// robotsTarget is where a redirect leads, "" for none and for what cannot be followed.
func robotsTarget(url string, got *fetch.Response) string {
	switch got.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return ""
	}
	location := strings.TrimSpace(got.Header.Get("Location"))
	base, err := weburl.ParseBase(url)
	if err != nil || location == "" {
		return ""
	}
	target, err := base.Resolve(location)
	if err != nil || !weburl.IsHTTP(target) {
		return ""
	}
	return weburl.StripFragment(target)
}

// keepRobots tells the fleet.
func (p *page) keepRobots(ctx context.Context, origin, host string, policy robots.Policy) (robotsFound, error) {
	site := newSiteRobots(policy, p.robots.token, policy.Keep())
	answer := scheduler.RobotsAnswer{Text: string(policy.Store(p.robots.token)), Keep: policy.Keep()}
	if site.slow {
		p.Logger.Warn(fmt.Sprintf("%s is skipped: its robots.txt asks for a crawl-delay of %s, and more than %s is not kept", origin, site.asks(), crawlDelayMost))
	} else {
		answer.CrawlDelay = site.asks()
	}
	delay, err := p.Frontier.KeepRobots(ctx, p.lease, host, answer)
	if err != nil {
		return robotsFound{}, err
	}
	found := robotsFound{site: site, used: delay > 0}
	if found.used {
		found.after = answer.CrawlDelay
	}
	return found, nil
}
