package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"luacrawl/engine/fetch"
	"luacrawl/scheduler"
)

const (
	handBackAfter    = 5 * time.Second // for a worker that has the callback to come by
	mostHandedBack   = 3
	reasonHTTPStatus = "http_status"
	defaultCallback  = "parse" // of a request without one
)

// Failure is a request that did not end in a callback: a broken download, or a response that callbacks do not get.
type Failure struct {
	Request  *scheduler.Request
	Response *Response // nil when there was none
	Reason   string    // a fetch.Kind, http_status, robotstxt, bad_redirect, too_many_redirects, or retry when the script has asked too often
	Message  string
}

// wanted reports whether callbacks get responses with this status.
func (p *page) wanted(status int) bool {
	return status >= 200 && status < 300 || p.listed(status)
}

// listed: the spider's settings or the request's meta ask for this status.
func (p *page) listed(status int) bool {
	s := p.Settings
	if p.files != nil {
		return false
	}
	if s.HandleHTTPStatusAll || slices.Contains(s.HandleHTTPStatusList, status) {
		return true
	}
	if metaFlag(p.req, "handle_httpstatus_all") {
		return true
	}
	var list []int
	return metaValue(p.req, "handle_httpstatus_list", &list) && slices.Contains(list, status)
}

// unwanted: a response that callbacks do not get. Those of retry_http_codes are tried again.
func (p *page) unwanted(ctx context.Context, resp *Response) {
	f := &Failure{Request: p.req, Response: resp, Reason: reasonHTTPStatus, Message: "status " + strconv.Itoa(resp.Status)}
	if slices.Contains(p.Settings.RetryHTTPCodes, resp.Status) {
		p.retryOrGiveUp(ctx, f, strconv.Itoa(resp.Status))
		return
	}
	p.count(statResponses, 1)
	p.count(statIgnored, 1)
	p.count(statIgnoredStatus+strconv.Itoa(resp.Status), 1)
	p.Logger.Debug("response ignored", slog.String("url", p.req.URL), slog.Int("status", resp.Status))
	p.errback(ctx, f)
}

// downloadFailed: there is no response.
func (p *page) downloadFailed(ctx context.Context, err error) {
	f := &Failure{Request: p.req, Reason: string(fetch.KindBroken), Message: err.Error()}
	temporary := false
	var fe *fetch.Error
	if errors.As(err, &fe) {
		f.Reason, f.Message, temporary = string(fe.Kind), fe.Err.Error(), fe.Temporary()
	}
	p.count(statExceptions, 1)
	p.count(statException+f.Reason, 1)
	if !temporary {
		p.giveUp(ctx, f)
		return
	}
	p.retryOrGiveUp(ctx, f, f.Reason)
}

// giveUp is the end of a request that no retry can save: its errback is told, and it is dead.
func (p *page) giveUp(ctx context.Context, f *Failure) {
	if p.errback(ctx, f) {
		p.bury(f)
	}
}

// bury makes the request of a failure dead.
func (p *page) bury(f *Failure) {
	what := "download failed"
	if f.Reason == reasonAskedTo {
		what = "page given up"
	}
	p.Logger.Warn(what, slog.String("url", p.req.URL), slog.String("reason", f.Reason), slog.String("error", f.Message))
	p.deadBeside(scheduler.DeadRequest, scheduler.ReasonDownload, fmt.Errorf("%s: %s", f.Reason, f.Message)) // what the errback emitted stays
}

// errback tells the spider of a failure, if the request names a function for it. It reports false when that raised, or has said what becomes
// of the request.
func (p *page) errback(ctx context.Context, f *Failure) bool {
	if p.files != nil {
		p.fileFailed(ctx, f)
		return false
	}
	if p.req.Errback == "" {
		return true
	}
	out, err := p.callSpider(ctx, func(ctx context.Context) (*Output, error) { return p.Spider.Errback(ctx, f) })
	if ctx.Err() != nil {
		return false
	}
	var again *RetryError
	if errors.As(err, &again) {
		p.errbackAsked(f, again)
		return false
	}
	if err != nil {
		p.callFailed(err)
		return false
	}
	p.leadsFrom(f.Response)
	p.take(out, p.req.Depth)
	return true
}

// knowsCallbacks looks, before a page is fetched, whether there is anything to do with it.
func (p *page) knowsCallbacks(ctx context.Context) bool {
	for _, name := range []string{cmp.Or(p.req.Callback, defaultCallback), p.req.Errback} {
		if name == "" {
			continue
		}
		has, revision := p.Spider.HasCallback(ctx, name, p.req.Revision)
		if ctx.Err() != nil {
			return false
		}
		if !has {
			p.unknownCallback(name, revision)
			return false
		}
	}
	return true
}

// unknownCallback hands a request back whose callback another revision knows, and gives it up after some tries. revision is the one
// that does not know it. Nothing else of the page is stored.
func (p *page) unknownCallback(name, revision string) {
	p.out.Items, p.out.Children = nil, nil
	if p.req.Revision == revision || p.req.Returned >= mostHandedBack {
		err := fmt.Errorf("the spider has no function %q", name)
		p.Logger.Warn("no such callback: the request went to dead", slog.String("url", p.req.URL), slog.String("callback", name))
		p.dead(scheduler.DeadRequest, scheduler.ReasonUnknownCallback, err)
		return
	}
	again := *p.req
	again.Returned++
	p.count(statHandedBack, 1)
	p.out.Children = append(p.out.Children, scheduler.Child{Request: &again, Force: true, Delay: handBackAfter})
}
