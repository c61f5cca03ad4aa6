package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"luacrawl/scheduler"
)

// startOutput is what the start URLs give: spider.start_urls and Options.Seeds.
type startOutput struct {
	requests []scheduler.Child
	beside   []*page // of the start URLs that gave other things than requests
}

// startRequests asks the spider what it makes of its start URLs. Their requests go through the duplicate check, so that a resumed run does
// not start over, and what they give beside requests is stored once a crawl.
func (c *Crawl) startRequests(ctx context.Context) (startOutput, error) {
	var start startOutput
	seeds := make([][]byte, 0, len(c.Seeds))
	for _, u := range c.Spider.StartURLs() {
		seeds = append(seeds, []byte(u))
	}
	for _, seed := range append(seeds, c.Seeds...) {
		out, err := c.callSpider(ctx, func(ctx context.Context) (*Output, error) { return c.Spider.MakeRequests(ctx, seed) })
		if err != nil {
			return start, startFault(seed, err)
		}
		for _, r := range out.Requests {
			checked := *r
			checked.DontFilter = false
			start.requests = append(start.requests, scheduler.Child{Request: &checked})
		}
		p := newPage(c, scheduler.OnceLease(seed))
		beside := *out
		beside.Requests = nil
		p.seedGave(&beside, len(out.Requests))
		if o := p.out; len(o.Items)+len(o.Children)+len(o.Dead)+len(o.Stats)+len(p.routes) > 0 {
			start.beside = append(start.beside, p)
		}
	}
	return start, nil
}

// enqueueStart stores what the start URLs give.
func (f *feeder) enqueueStart(ctx context.Context) error {
	c := f.crawl
	start, err := c.startRequests(ctx)
	if err != nil || len(start.requests)+len(start.beside) == 0 {
		return err
	}
	beside, err := f.deliver(ctx, start.beside)
	if err != nil {
		return fmt.Errorf("start URLs: %w", err)
	}
	added, stored, err := c.Frontier.Enqueue(ctx, start.requests, beside...)
	if err != nil {
		return fmt.Errorf("start URLs: %w", err)
	}
	if seen := len(start.requests) - added; seen > 0 {
		c.Logger.Info("start URLs that were seen before are not fetched again", slog.Int("seen", seen), slog.Int("new", added))
	}
	var taken []*scheduler.Outcome
	for i, o := range beside {
		if stored[i] {
			taken = append(taken, o)
			f.finish.work(time.Now())
		}
	}
	return f.passOn(taken)
}

// deliver brings the items of pages that have no lease to the sinks, and gives the outcomes that are left. It waits for sinks that are down;
// when ctx ends first nothing is to be stored, and the next start brings them again.
func (f *feeder) deliver(ctx context.Context, pages []*page) ([]*scheduler.Outcome, error) {
	outs := make([]*scheduler.Outcome, 0, len(pages))
	var routed []*page
	var leases []scheduler.Lease
	for _, p := range pages {
		outs = append(outs, p.out)
		if len(p.routes) > 0 {
			routed, leases = append(routed, p), append(leases, p.lease)
		}
	}
	stored, err := f.crawl.Frontier.StoredOnce(ctx, leases) // an earlier run or another worker has brought them
	if err != nil {
		return nil, err
	}
	done := make(chan result, len(routed))
	parked := 0
	for i, p := range routed {
		if !stored[i] && p.parkFor(ctx, result{lease: p.lease, outcome: p.out}, done) {
			parked++
		}
	}
	for range parked {
		select {
		case r := <-done:
			if r.outcome == nil {
				return nil, errEnding
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return outs, nil
}

// startFault is why a start URL cannot be used. A mistake of the script, and the end of ctx, speak for themselves.
func startFault(seed []byte, err error) error {
	var script *ScriptError
	if errors.As(err, &script) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("start URL %.200q: %w", withoutCookies(string(seed)), err)
	}
	return &StartError{Seed: string(seed), Err: err}
}

// StartError is a start URL that cannot be used: one of the spider's start_urls or of Options.Seeds. Nothing has been crawled then.
type StartError struct {
	Seed string
	Err  error
}

func (e *StartError) Error() string {
	return fmt.Sprintf("start URL %.200q cannot be used: %s", withoutCookies(e.Seed), e.Err)
}

func (e *StartError) Unwrap() error { return e.Err }
