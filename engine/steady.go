package engine

import (
	"context"
	"time"
)

const (
	steadyPart = 8                     // of a delay
	steadyMost = 25 * time.Millisecond // that the way from Redis to the site usually takes, on a machine that is busy
)

// steady waits for an eighth of the delay, 25 ms at most, from the question for the lease on. Starts are a delay apart when Redis hands them out; one
// that takes 30 ms from there to its site and the next one 5 ms would reach it closer than that.
func (p *page) steady(ctx context.Context) {
	wait := min(p.Settings.DownloadDelay/steadyPart, steadyMost) - time.Since(p.lease.Asked)
	if wait <= 0 || p.lease.Asked.IsZero() {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
