package engine

import (
	"context"
	"time"

	"luacrawl/scheduler"
)

// free is how many pages may be begun now. There are none for a while after concurrent_requests was made smaller. Pages that wait for a sink
// hold no worker, up to the buffer.
func (f *feeder) free() int {
	return max(0, f.crawl.settings.Load().ConcurrentRequests-f.running+f.crawl.sinks.waiting())
}

// commitDue: enough wait and Redis has rested as long as it last took, one has waited long enough, or nothing else would come.
// The rest makes for bigger commits where they are slow, as with the embedded Redis, which sorts a queue at each lease.
func (f *feeder) commitDue(now time.Time) bool {
	return len(f.waiting) > 0 && (f.running == 0 || f.enough() && !now.Before(f.rest) || now.Sub(f.oldest) >= commitAge)
}

func (f *feeder) enough() bool {
	return len(f.waiting) >= min(commitBatch, (f.crawl.settings.Load().ConcurrentRequests+1)/2)
}

// exchangeDue: a commit is due, or a worker is free, none is about to go, and asking may give something.
func (f *feeder) exchangeDue(now time.Time) bool {
	if f.commitDue(now) {
		return true
	}
	return f.free() > 0 && len(f.waiting) == 0 && (!now.Before(f.nextLease) || f.seedsDue(now))
}

func (f *feeder) seedsDue(now time.Time) bool { return f.short && !now.Before(f.nextSeeds) }

// plan says when to ask again.
func (f *feeder) plan(now time.Time, x scheduler.Exchanged, want, seeds int) {
	f.short = len(x.Leases) < want
	if len(x.Leases) > 0 || x.Refilled > 0 {
		f.finish.work(now)
		f.idle.Store(false)
		f.leaseWait.reset()
	}
	if x.Refilled > 0 {
		f.seedWait.reset()
	}
	if !f.short || x.Refilled > 0 {
		f.nextLease, f.nextSeeds = now, now
		return
	}
	wait := max(x.Wait, leastWait)
	if wait >= mostWait {
		wait = f.leaseWait.next() // another worker may add what nobody knows of yet
	}
	f.nextLease = now.Add(wait)
	if seeds > 0 {
		f.nextSeeds = now.Add(f.seedWait.next())
	}
}

// wait sleeps until a worker is done or something is due.
func (f *feeder) wait(ctx context.Context, now time.Time) {
	next := now.Add(mostWait)
	earlier := func(t time.Time) {
		if t.Before(next) {
			next = t
		}
	}
	if len(f.waiting) > 0 {
		earlier(f.oldest.Add(commitAge))
		if f.enough() {
			earlier(f.rest)
		}
	} else if f.free() > 0 {
		earlier(f.nextLease)
		if f.short {
			earlier(f.nextSeeds)
		}
	}
	earlier(f.lookDue(now))
	f.receive(ctx, time.Until(next))
}

// receive takes a result, unless none comes for d, the sinks have room for more pages, or ctx ends.
func (f *feeder) receive(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case r := <-f.done:
		f.take(r)
	case <-f.crawl.sinks.wake:
		if f.crawl.sinks.landing.freed.Swap(false) {
			f.nextLease = time.Now()
		}
	case <-timer.C:
	case <-ctx.Done():
	}
}
