package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"luacrawl/engine/fetch"
	"luacrawl/scheduler"
)

const (
	mostJarName = 256 // bytes
	noCookies   = "set cookies = {...} on the request, or keep the jar out with meta.dont_merge_cookies or cookies_enabled = false"
)

// jarOf names a request's jar by meta.cookiejar, "" for the default one; a number and its digits as a string are the same jar. merges
// is false for meta.dont_merge_cookies.
func jarOf(r *scheduler.Request) (name string, merges bool, err error) {
	if !bytes.Contains(r.Meta, []byte("cookie")) {
		return "", true, nil
	}
	merges = !metaFlag(r, "dont_merge_cookies")
	var raw json.RawMessage
	if !merges || !metaValue(r, "cookiejar", &raw) || string(raw) == "null" {
		return "", merges, nil
	}
	var number json.Number
	switch {
	case raw[0] == '"':
		err = json.Unmarshal(raw, &name)
	case json.Unmarshal(raw, &number) == nil:
		if name = number.String(); !isInteger(name) {
			f, _ := number.Float64() // too large is +Inf: a jar like another
			name = strconv.FormatFloat(f, 'f', -1, 64)
		}
	default:
		err = errors.New("it must be a string or a number")
	}
	if err == nil && len(name) > mostJarName {
		err = fmt.Errorf("it has %d bytes; a jar's name may have %d", len(name), mostJarName)
	}
	if err != nil {
		err = fmt.Errorf("meta.cookiejar %.50s: %w", raw, err)
	}
	return name, true, err
}

func isInteger(s string) bool {
	_, err := strconv.ParseInt(s, 10, 64)
	return err == nil
}

// outgoingHeader is what the page's request sends. The error is a *fetch.Error.
func (p *page) outgoingHeader() (http.Header, error) {
	h, err := p.withCookies()
	sent, own := h["Cookie"]
	if !own {
		sent = p.Settings.DefaultRequestHeaders["Cookie"]
	}
	if err == nil {
		p.showSent(sent)
	}
	return h, err
}

// withCookies is what the spider asked for, with the cookies of the jar. A Cookie header made by hand gives way to them, as in Scrapy, unless the
// jar is kept out.
func (p *page) withCookies() (http.Header, error) {
	h := p.req.Headers
	if !p.Settings.CookiesEnabled {
		return h, nil
	}
	var err error
	if p.jar, p.keepsCookies, err = jarOf(p.req); err != nil {
		return nil, &fetch.Error{Kind: fetch.KindInvalid, Err: err}
	}
	if !p.keepsCookies {
		return h, nil
	}
	cookie, changes, refused := p.jars.outgoing(p.jar, p.req)
	p.cookie = cookie
	p.out.Cookies = append(p.out.Cookies, changes...)
	if len(refused) > 0 {
		p.cookiesRefused(refused)
		p.jars.unsent.Do(func() {
			p.Logger.Warn("a cookie of a request cannot be sent; no more will be shown", slog.String("url", p.req.URL), slog.Any("error", refused[0]))
		})
	}
	byHand := len(h["Cookie"])+len(p.Settings.DefaultRequestHeaders["Cookie"]) > 0
	if byHand {
		p.jars.byHand.Do(func() {
			p.Logger.Warn("a Cookie header is not sent, as in Scrapy: "+noCookies, slog.String("url", p.req.URL))
		})
	}
	if cookie == "" && !byHand {
		return h, nil
	}
	full := make(http.Header, len(h)+1)
	maps.Copy(full, h)
	if full["Cookie"] = nil; cookie != "" { // nil keeps the default out
		full["Cookie"] = []string{cookie}
	}
	return full, nil
}

// keepCookies takes what a page's response sets, whatever its status.
func (p *page) keepCookies(resp *Response) {
	lines := resp.Header["Set-Cookie"]
	p.showReceived(resp.Status, lines)
	if !p.keepsCookies || len(lines) == 0 {
		return
	}
	changes, refused := p.jars.incoming(p.jar, p.req.URL, lines)
	p.out.Cookies = append(p.out.Cookies, changes...)
	p.cookiesRefused(refused)
}

// withoutCookies is a seed up to its cookies, which no log may show.
func withoutCookies(seed string) string {
	const key = `"cookies"`
	if i := strings.Index(seed, key); i >= 0 {
		return seed[:i] + key + "..."
	}
	return seed
}

// cookiesRefused counts what no jar takes. Sites send such, and it stops nothing.
func (p *page) cookiesRefused(refused []error) {
	if len(refused) == 0 {
		return
	}
	p.count(statCookiesRefused, int64(len(refused)))
	level := slog.LevelDebug
	if p.Settings.CookiesDebug {
		level = slog.LevelInfo
	}
	if p.Logger.Enabled(context.Background(), level) {
		for _, err := range refused[:min(len(refused), 10)] {
			p.Logger.Log(context.Background(), level, "a cookie was not taken", slog.String("url", p.req.URL), slog.Any("error", err))
		}
	}
}

// learnCookies brings the copy of the jars up to date before pages are begun that may need it. It waits for Redis; if it cannot, the
// leases are handed back.
func (f *feeder) learnCookies(ctx context.Context, x *scheduler.Exchanged) error {
	c := f.crawl
	if len(x.Leases) == 0 {
		return nil
	}
	c.jars.setClock(x.Now)
	if !c.settings.Load().CookiesEnabled || !x.Cookies && !c.jars.unsure.Load() {
		return nil
	}
	news, err := c.Frontier.NewCookies(ctx, c.jars.unsure.Swap(false))
	if err == nil {
		c.jars.learn(news)
		return nil
	}
	c.jars.unsure.Store(true)
	for _, lease := range x.Leases {
		f.unstarted = append(f.unstarted, lease.ID)
	}
	x.Leases = nil
	return err
}
