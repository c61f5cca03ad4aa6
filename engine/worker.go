package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"luacrawl/scheduler"
)

// worker turns leases into outcomes, one at a time.
type worker struct{ crawl *Crawl }

func newWorker(c *Crawl) *worker { return &worker{crawl: c} }

// Run works until ctx ends.
func (w *worker) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case lease := <-w.crawl.feeder.work:
			p, out := w.do(ctx, lease)
			if r := (result{lease: lease, outcome: out}); !p.park(ctx, r) {
				w.crawl.feeder.bring(ctx, r)
			}
		}
	}
}

// do is one lease from start to end. It returns nil when the work was stopped on the way: nothing happened then.
func (w *worker) do(ctx context.Context, lease scheduler.Lease) (p *page, out *scheduler.Outcome) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w.crawl.inflight.start(lease.ID, cancel)
	defer w.crawl.inflight.start(lease.ID, nil)
	p = newPage(w.crawl, lease)
	defer func() {
		if r := recover(); r != nil {
			was := p.out
			p = newPage(w.crawl, lease)
			p.out.Cookies = was.Cookies // the pages here have them
			p.out.Hold, p.out.HoldWhy, p.out.Answer = was.Hold, was.HoldWhy, was.Answer
			p.fail(fmt.Errorf("internal error: %v", r))
			out = p.out
		}
	}()
	switch {
	case lease.Err != nil:
		p.unreadable()
	case lease.Request == nil:
		p.seed(ctx)
	default:
		p.request(ctx)
	}
	if ctx.Err() != nil {
		return p, nil
	}
	p.out.Prepare()
	return p, p.out
}

// page is a lease at work: it gathers the outcome.
type page struct {
	*Crawl
	Settings *Settings // in effect when the page was begun; nobody changes them
	lease    scheduler.Lease
	req      *scheduler.Request
	out      *scheduler.Outcome
	routes   []Route // items for the sinks
	revision string  // that made them
	files    *fileWork
	site     *siteRobots // what robots.txt says, once it has allowed the page
	from     *referrer   // what requests of the call tell of; nil for nothing

	jar          string // of the request
	keepsCookies bool   // they are sent and kept
	cookie       string // the header that was sent of them
}

func newPage(c *Crawl, lease scheduler.Lease) *page {
	return &page{Crawl: c, Settings: c.settings.Load(), lease: lease, req: lease.Request, out: &scheduler.Outcome{Lease: lease, Stats: make(map[string]int64, 16)}}
}

func (p *page) count(name string, by int64) { p.out.Stats[name] += by }

// unreadable gives up a member of a queue that is none of ours.
func (p *page) unreadable() {
	p.Logger.Warn("a member of the queue could not be read and went to dead", slog.String("slot", p.lease.Slot), slog.Any("error", p.lease.Err))
	p.dead(scheduler.DeadRequest, scheduler.ReasonUnreadable, p.lease.Err)
}

// fail gives up the request or seed whatever was wrong, as an error of the callback.
func (p *page) fail(err error) {
	p.Logger.Error("page failed", slog.String("url", leaseURL(p.lease)), slog.Any("error", err))
	p.count(statSpiderErrors, 1)
	if p.req == nil {
		p.dead(scheduler.DeadSeed, scheduler.ReasonBadSeed, err)
		return
	}
	p.dead(scheduler.DeadRequest, scheduler.ReasonCallbackError, err)
}

// dead gives up the lease's request or seed. Nothing else of the page but counters is stored.
func (p *page) dead(kind, reason string, err error) {
	p.out.Items, p.out.Elsewhere, p.out.Children, p.routes = nil, nil, nil, nil
	letter := scheduler.DeadLetter{Kind: kind, Reason: reason, Error: err.Error(), Attempts: p.lease.Attempts, Revision: p.Spider.Revision(), Time: time.Now().Unix()}
	var script *ScriptError
	if errors.As(err, &script) {
		letter.Detail = script.Detail()
	}
	letter.Describe(p.lease)
	p.out.Dead = append(p.out.Dead, letter)
}

// deadBeside is dead, with what was emitted before kept.
func (p *page) deadBeside(kind, reason string, err error) {
	items, elsewhere, children, routes := p.out.Items, p.out.Elsewhere, p.out.Children, p.routes
	p.dead(kind, reason, err)
	p.out.Items, p.out.Elsewhere, p.out.Children, p.routes = items, elsewhere, children, routes
}

// seed turns a seed into requests.
func (p *page) seed(ctx context.Context) {
	out, err := p.callSpider(ctx, func(ctx context.Context) (*Output, error) { return p.Spider.MakeRequests(ctx, p.lease.Seed) })
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		p.seedFailed(leaseURL(p.lease), err)
		p.count(statSeedsBad, 1)
		p.dead(scheduler.DeadSeed, scheduler.ReasonBadSeed, err)
		return
	}
	p.seedGave(out, len(out.Requests))
}

// seedGave adds what a seed gave; requests is how many of them, which may not be in out.
func (p *page) seedGave(out *Output, requests int) {
	if requests == 0 && len(out.Items) == 0 {
		p.count(statSeedsSkipped, 1)
	}
	p.take(out, -1)
}

// seedFailed tells of a seed that goes to dead: a script's mistake once, another's each time.
func (p *page) seedFailed(seed string, err error) {
	var script *ScriptError
	if errors.As(err, &script) {
		p.raise(scheduler.ReasonBadSeed, seed, err)
		return
	}
	p.Logger.Warn("a seed could not be used and went to dead", slog.String("seed", seed), slog.Any("error", err))
}

// request fetches the page and calls its callback.
func (p *page) request(ctx context.Context) {
	p.steady(ctx)
	if p.req.Callback == scheduler.FilesCallback {
		p.file(ctx)
		return
	}
	if !p.knowsCallbacks(ctx) {
		return
	}
	if !p.robotsAllow(ctx) {
		return
	}
	resp, err := p.download(ctx)
	if err != nil {
		if ctx.Err() == nil {
			p.downloadFailed(ctx, err)
		}
		return
	}
	defer resp.Release()
	p.heed(resp)
	switch {
	case p.isRedirect(resp):
		p.redirect(ctx, resp)
	case !p.wanted(resp.Status):
		p.unwanted(ctx, resp)
	default:
		p.count(statResponses, 1)
		p.heedDirectives(resp)
		p.parse(ctx, resp)
	}
}

func (p *page) parse(ctx context.Context, resp *Response) {
	out, err := p.callSpider(ctx, func(ctx context.Context) (*Output, error) { return p.Spider.Parse(ctx, resp) })
	if ctx.Err() != nil {
		return
	}
	var again *RetryError
	if errors.As(err, &again) {
		p.retryAsked(ctx, resp, again)
		return
	}
	if err != nil {
		p.callFailed(err)
		return
	}
	p.leadsFrom(resp)
	p.take(out, p.req.Depth)
}

// callFailed: a callback or errback raised, or an edit has taken it away since the page was begun.
func (p *page) callFailed(err error) {
	var unknown *UnknownCallbackError
	if errors.As(err, &unknown) {
		p.unknownCallback(unknown.Callback, unknown.Revision)
		return
	}
	p.callbackFailed(err)
}

// callbackFailed: a callback or errback raised. Nothing of it is stored; trying again would raise again.
func (p *page) callbackFailed(err error) {
	script := p.raise(scheduler.ReasonCallbackError, p.req.URL, err)
	p.count(statSpiderErrors, 1)
	p.count(statSpiderError+script.Kind, 1)
	p.dead(scheduler.DeadRequest, scheduler.ReasonCallbackError, script)
}

// raise tells of an error that a script raised.
func (p *page) raise(reason, url string, err error) *ScriptError {
	var script *ScriptError
	if !errors.As(err, &script) {
		script = &ScriptError{Kind: "error", Message: err.Error()}
	}
	if script.Revision == "" {
		told := *script
		told.Revision = p.Spider.Revision()
		script = &told
	}
	p.raised.add(reason, url, script)
	return script
}

// take adds what a call emitted. depth is that of the page it came from; -1 for a seed.
func (p *page) take(out *Output, depth int) {
	if err := checkRoutes(out.Routes, len(p.Sinks)); err != nil {
		p.fail(err)
		return
	}
	if err := p.await(out.Waiting, max(depth, 0), out.Revision); err != nil {
		p.fail(err)
		return
	}
	p.takeItems(out)
	for _, d := range out.Dropped {
		p.count(statDropped, 1)
		p.count(statDroppedReason+clip(d.Reason), 1)
	}
	for _, f := range out.Failed {
		p.itemFailed(f)
	}
	for name, by := range out.Stats {
		p.count(name, by)
	}
	headers := p.from.headersOf()
	for _, r := range out.Requests {
		r = linked(r, depth+1, out.Revision)
		if depth < 0 && p.tooLong(r) {
			p.seedTooLong(r)
		} else if p.allowed(r) {
			p.out.Children = append(p.out.Children, scheduler.Child{Request: r, Headers: headers})
		}
	}
}

// linked is the request with its depth and revision. A script may have kept the request and read it on another goroutine, so it is
// not changed; a spider that has set both saves the copy.
func linked(r *scheduler.Request, depth int, revision string) *scheduler.Request {
	if r.Depth == depth && r.Revision == revision {
		return r
	}
	own := *r
	own.Depth, own.Revision = depth, revision
	return &own
}

func (p *page) takeItems(out *Output) {
	places := make([]int, 0, len(out.Items)) // of each item in the outcome
	for i, item := range out.Items {
		about := ItemInfo{Number: i}
		if i < len(out.About) {
			about = out.About[i]
		}
		if p.Settings.ItemMeta {
			full, err := item.withMeta(out.Revision, p.itemID(about))
			if err != nil {
				p.itemFailed(FailedItem{Item: item, Err: &ScriptError{Kind: "error", Message: err.Error()}})
				places = append(places, -1)
				continue
			}
			item = full
		}
		places = append(places, len(p.out.Items)+len(p.out.Elsewhere))
		if p.Elsewhere {
			p.out.Elsewhere = append(p.out.Elsewhere, item)
		} else {
			if p.Frontier.StreamsItems() {
				p.out.ItemIDs = append(p.out.ItemIDs[:len(p.out.Items)], p.itemID(about))
			}
			p.out.Items = append(p.out.Items, item)
		}
		p.count(statItems, 1)
	}
	p.routes, p.revision = out.Routes, out.Revision
	for i, r := range p.routes {
		if r.Kept >= 0 {
			p.routes[i].Kept = places[r.Kept]
		}
	}
}

func (p *page) itemFailed(f FailedItem) {
	script := p.raise(scheduler.ReasonProcessItem, leaseURL(p.lease), f.Err)
	p.count(statItemErrors, 1)
	letter := scheduler.DeadLetter{
		Kind: scheduler.DeadItem, Reason: scheduler.ReasonProcessItem, Error: script.Error(), Detail: script.Detail(),
		URL: leaseURL(p.lease), Item: []byte(f.Item), Revision: script.Revision, Time: time.Now().Unix(),
	}
	if p.req != nil {
		letter.Callback = p.req.Callback
	}
	p.out.Dead = append(p.out.Dead, letter)
}

// seedTooLong gives a seed up for its URL. Whatever else the seed gave is kept.
func (p *page) seedTooLong(r *scheduler.Request) {
	err := fmt.Errorf("its URL has %d bytes, more than the %d of setting urllength_limit", len(r.URL), p.Settings.URLLengthLimit)
	p.Logger.Warn("a seed could not be used and went to dead", slog.String("seed", leaseURL(p.lease)), slog.Any("error", err))
	p.count(statSeedsBad, 1)
	if p.out.GivenUp() {
		return // one letter a seed
	}
	p.deadBeside(scheduler.DeadSeed, scheduler.ReasonBadSeed, err)
}

// clip shortens a text of the script's or of a seed's for a log line or a counter's name.
func clip(s string) string {
	if len(s) > mostDropReasonBytes {
		return s[:mostDropReasonBytes] + "..."
	}
	return s
}
