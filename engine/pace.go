package engine

import (
	"net/http"
	"slices"

	"luacrawl/scheduler"
)

// heed takes in what a response says of the pace that its site bears: a time to be left alone, a refusal, its latency.
func (p *page) heed(resp *Response) {
	p.heedRetryAfter(resp)
	p.out.Answer = scheduler.Answer{Verdict: p.verdict(resp.Status), Latency: resp.latency, Size: int64(len(resp.Body))}
}

// verdict is what a status says of the pace. With a Retry-After the site itself has said how long to wait, which is no reason to be slower
// after that, and none to be faster.
func (p *page) verdict(status int) scheduler.Verdict {
	throttling := p.Settings.Throttling.ByLatency
	switch {
	case slices.Contains(p.Settings.BackoffHTTPCodes, status) && p.out.Hold == 0:
		return scheduler.Refused
	case status == http.StatusOK, !throttling && status < http.StatusInternalServerError && status != http.StatusTooManyRequests:
		return scheduler.Accepted
	case throttling:
		return scheduler.Answered
	}
	return scheduler.NoVerdict
}
