package engine

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"luacrawl/scheduler"
)

const (
	retryLeast    = time.Second // before the first retry; doubled for each further one
	retryMost     = time.Minute
	mostRetries   = 1000 // that a request's meta or a script may ask for
	reasonAskedTo = "retry"
)

// RetryError says that a callback or errback wants its page fetched again. Nothing that it has emitted is kept.
type RetryError struct {
	Reason   string
	Delay    *time.Duration // at least, before the page is fetched again; nil for the usual backoff
	MaxTimes *int           // retries of the request at most; nil for those of its meta or the setting
	Priority *int           // added to the request's; nil for the setting
}

func (e *RetryError) Error() string { return "retry: " + e.Reason }

// retryOrGiveUp tries a request again whose download has failed.
func (p *page) retryOrGiveUp(ctx context.Context, f *Failure, reason string) {
	again, most := *p.req, p.retries()
	free := throttled(&again, f.Response)
	if !free && p.req.RetryTimes >= most || most == 0 || metaFlag(p.req, "dont_retry") {
		p.retriesOver(ctx, f)
		return
	}
	if !free {
		again.RetryTimes++
		again.Priority += p.Settings.RetryPriorityAdjust
	}
	p.again(&again, f, reason, retryWait(p.req.RetryTimes+p.req.Throttled))
}

// retryAsked tries a page again because its callback has asked for it; once it was too often, it is given up.
func (p *page) retryAsked(ctx context.Context, resp *Response, asked *RetryError) {
	f := &Failure{Request: p.req, Response: resp, Reason: reasonAskedTo, Message: asked.Reason}
	if !p.tryAgain(f, asked) {
		p.retriesOver(ctx, f)
	}
}

// errbackAsked tries a request again because its errback has asked for it. Once it was too often, the request is dead: its errback has
// spoken. What is told of it names what had failed, too.
func (p *page) errbackAsked(failed *Failure, asked *RetryError) {
	f := &Failure{Request: p.req, Response: failed.Response, Reason: reasonAskedTo, Message: asked.Reason + " (" + failed.Reason + ": " + failed.Message + ")"}
	if !p.tryAgain(f, asked) {
		p.count(statRetriesOver, 1)
		p.bury(f)
	}
}

// tryAgain puts a request back as a script has asked, and reports false when that was too often.
func (p *page) tryAgain(f *Failure, asked *RetryError) bool {
	most, adjust, wait := p.retries(), p.Settings.RetryPriorityAdjust, retryWait(p.req.RetryTimes+p.req.Throttled)
	if asked.MaxTimes != nil {
		most = *asked.MaxTimes
	}
	if asked.Priority != nil {
		adjust = *asked.Priority
	}
	if asked.Delay != nil {
		wait = *asked.Delay
	}
	if p.req.RetryTimes >= most {
		return false
	}
	again := *p.req
	again.RetryTimes++
	again.Priority += adjust
	p.again(&again, f, clip(asked.Reason), wait)
	return true
}

// retries is how often the request is tried again: what its meta says, else the setting.
func (p *page) retries() int {
	most := p.Settings.RetryTimes
	if metaValue(p.req, "max_retry_times", &most) {
		return min(max(most, 0), mostRetries)
	}
	return p.Settings.RetryTimes
}

// again puts a request back for another try.
func (p *page) again(r *scheduler.Request, f *Failure, reason string, wait time.Duration) {
	p.count(statRetries, 1)
	p.count(statRetryReason+reason, 1)
	p.Logger.Debug("will be tried again", slog.String("url", r.URL), slog.String("reason", f.Reason), slog.String("error", f.Message))
	p.out.Children = append(p.out.Children, scheduler.Child{Request: r, Force: true, Delay: max(wait, p.out.Hold)})
}

func (p *page) retriesOver(ctx context.Context, f *Failure) {
	p.count(statRetriesOver, 1)
	p.giveUp(ctx, f)
}

// retryWait is the time before a retry, after so many others: doubled each time, and up to half longer by chance, so that what failed
// in one outage does not come back at one moment.
func retryWait(tries int) time.Duration {
	wait := min(retryLeast<<min(max(tries, 0), 10), retryMost)
	return wait + rand.N(wait/2)
}
