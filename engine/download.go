package engine

import (
	"context"
	"net/http"
	"strings"
	"time"

	"luacrawl/engine/fetch"
	"luacrawl/scheduler"
	"luacrawl/scheduler/weburl"
)

// download fetches the request's page. Errors are *fetch.Error.
func (p *page) download(ctx context.Context) (*Response, error) {
	r := p.req
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	header, err := p.outgoingHeader()
	if err != nil {
		return nil, err
	}
	p.count(statRequests, 1)
	p.count(statMethod+method, 1)
	started := time.Now()
	got, err := p.Downloader.Fetch(ctx, &fetch.Request{Method: method, URL: r.URL, Header: header, Body: r.Body, Proxy: requestProxy(r)})
	p.Observer.Fetched(time.Since(started))
	if err != nil {
		return nil, err
	}
	p.count(statRequestBytes, got.BytesSent)
	p.count(statDownloaded, 1)
	p.count(statResponseBytes, got.BytesReceived)
	p.count(statusStat(got.Status), 1)
	resp := newResponse(r, got)
	p.keepCookies(resp)
	resp.Crawler = p.robots.token
	if p.site != nil {
		resp.Sitemaps = p.site.sitemaps
	}
	return resp, nil
}

// requestProxy is what meta.proxy says, as in Scrapy; null, false and "" are no proxy.
func requestProxy(r *scheduler.Request) string {
	var proxy any
	if !metaValue(r, "proxy", &proxy) {
		return ""
	}
	switch proxy {
	case nil, false, "":
		return fetch.NoProxy
	}
	text, ok := proxy.(string)
	if !ok {
		return "?" // which the downloader refuses
	}
	return text
}

func (p *page) isRedirect(resp *Response) bool {
	switch resp.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return resp.Header.Get("Location") != "" && !p.listed(resp.Status) && !metaFlag(p.req, "dont_redirect")
	}
	return false
}

// redirect makes the target a new request of the frontier, so that offsite, slot and duplicate filter hold for it too.
func (p *page) redirect(ctx context.Context, resp *Response) {
	base, err := weburl.ParseBase(p.req.URL)
	target := ""
	if err == nil {
		target, err = base.Resolve(strings.TrimSpace(resp.Header.Get("Location")))
	}
	switch {
	case err != nil || !weburl.IsHTTP(target):
		p.giveUp(ctx, &Failure{Request: p.req, Response: resp, Reason: "bad_redirect", Message: "cannot follow a redirect to " + clip(resp.Header.Get("Location"))})
		return
	case p.req.RedirectTimes >= p.Settings.RedirectMaxTimes:
		p.giveUp(ctx, &Failure{Request: p.req, Response: resp, Reason: "too_many_redirects", Message: "more than redirect_max_times redirects"})
		return
	}
	next := *p.req
	next.URL = weburl.StripFragment(target)
	next.RedirectTimes++
	next.RetryTimes, next.Throttled = 0, 0
	next.Cookies = nil // the jar has them, and knows to whom they go
	next.Priority += redirectPriority
	redirectMethod(&next, resp.Status)
	if weburl.Host(next.URL) != weburl.Host(p.req.URL) || strings.HasPrefix(p.req.URL, "https:") && !strings.HasPrefix(next.URL, "https:") {
		dropCredentials(&next)
	}
	if weburl.Host(next.URL) != weburl.Host(p.req.URL) {
		next.Slot = "" // another site, with a politeness of its own
	}
	p.referAgain(&next)
	p.count(statRedirects, 1)
	switch {
	case p.allowed(&next):
		p.out.Children = append(p.out.Children, scheduler.Child{Request: &next, Force: p.comesBack(&next)})
	case p.files != nil:
		p.giveUp(ctx, &Failure{Request: p.req, Response: resp, Reason: "bad_redirect", Message: "a redirect that the settings do not let pass"})
	}
}

const redirectPriority = 2 // Scrapy's REDIRECT_PRIORITY_ADJUST

// redirectMethod changes the method as browsers do (WHATWG Fetch, HTTP-redirect fetch, step 12).
func redirectMethod(r *scheduler.Request, status int) {
	post := r.Method == http.MethodPost
	safe := r.Method == "" || r.Method == http.MethodGet || r.Method == http.MethodHead
	if post && status <= http.StatusFound || status == http.StatusSeeOther && !safe {
		r.Method, r.Body = "", nil
		r.Headers = r.Headers.Clone()
		for _, name := range []string{"Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location"} {
			r.Headers.Del(name)
		}
	}
}

// dropCredentials keeps what was meant for one origin from another.
func dropCredentials(r *scheduler.Request) {
	r.Headers = r.Headers.Clone()
	for _, name := range []string{"Authorization", "Cookie", "Host", "Proxy-Authorization"} {
		r.Headers.Del(name)
	}
}

func newResponse(r *scheduler.Request, got *fetch.Response) *Response {
	return &Response{URL: r.URL, Status: got.Status, Header: got.Header, Body: got.Body, Request: r, latency: got.Latency, free: got.Release}
}
