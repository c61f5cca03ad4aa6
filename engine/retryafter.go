package engine

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"luacrawl/scheduler"
)

const (
	retryAfterMost = time.Hour // more is not believed: a mistake there would end a crawl
	mostThrottled  = 50        // answers 429 to one request before each further one counts as a failed try
)

// retryAfter is how long a response asks to be left alone for (RFC 9110, 10.2.3): seconds or a date, which is compared with the
// server's own clock where it says that. 0 for none, for what is no such value, and for a time that has passed; an hour at most.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return retryAfterMost // more digits than there are seconds in a century
		}
		return min(time.Duration(seconds)*time.Second, retryAfterMost)
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return min(max(until.Sub(now), 0), retryAfterMost)
}

// heedRetryAfter keeps the whole fleet off the slot for as long as a 429 or 503 asks, whatever becomes of its page.
func (p *page) heedRetryAfter(resp *Response) {
	if resp.Status != http.StatusTooManyRequests && resp.Status != http.StatusServiceUnavailable {
		return
	}
	p.out.Hold, p.out.HoldWhy = retryAfter(resp.Header, time.Now()), scheduler.WaitRetryAfter
	if p.out.Hold > 0 {
		p.count(statRetryAfter, 1)
		p.Logger.Debug("the site asks to be left alone", slog.String("slot", p.lease.Slot), slog.Duration("for", p.out.Hold))
	}
}

// throttled: an answer 429 says that we are too fast and nothing of the page, so it uses up no try, up to mostThrottled times.
func throttled(again *scheduler.Request, resp *Response) bool {
	if resp == nil || resp.Status != http.StatusTooManyRequests || again.Throttled >= mostThrottled {
		return false
	}
	again.Throttled++
	return true
}
