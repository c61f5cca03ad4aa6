package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"luacrawl/scheduler"
)

const (
	commitAge   = 20 * time.Millisecond // an outcome waits at most so long for company
	commitBatch = 32                    // outcomes that are worth a commit
	leastWait   = 2 * time.Millisecond  // between two questions that gave less than was asked for
	mostWait    = time.Second           // the frontier answers it when nothing is due soon
)

// result is what a worker has done with a lease; without an outcome the lease is handed back.
type result struct {
	lease   scheduler.Lease
	outcome *scheduler.Outcome
	task    *taskDone // that it is of, nil for a lease; without an outcome it is given back
}

// feeder is the one goroutine that talks to the frontier: it commits outcomes and leases only what workers can start now,
// both in one round trip where it can.
type feeder struct {
	crawl *Crawl
	work  chan scheduler.Lease // some worker always comes for it: there are as many as leases that run
	done  chan result
	hire  func() // starts one more worker

	// Only the feeder's goroutine.
	waiting   []*scheduler.Outcome // not yet committed
	oldest    time.Time            // when the first of waiting came
	unstarted []string             // leases to hand back: their pages were not done
	running   int                  // leases with workers
	workers   int                  // that were started; those too many wait for work
	control   int64                // version of the crawl's control, as last heard
	rest      time.Time            // no commit for the sake of its size before this time
	short     bool                 // the last lease gave less than was asked for
	nextLease time.Time
	nextSeeds time.Time
	leaseWait backoff
	seedWait  backoff
	finish    finishWatch
	noSeeds   error // why seeds cannot be taken in
	released  int
	lost      int
	refused   bool    // OnItems has failed
	ran       *result // of a task; it is not stored

	state   atomic.Value // scheduler.State of the crawl, as last heard
	pending atomic.Int64
	paused  atomic.Bool
	idle    atomic.Bool
}

func newFeeder(c *Crawl) *feeder {
	n := c.Settings.ConcurrentRequests
	return &feeder{crawl: c, work: make(chan scheduler.Lease, n), done: make(chan result, n+c.Settings.SinkBuffer)}
}

// Run feeds until the crawl is to end, then drains, and says why it ended. ctx asks it to end; hard ends it at once.
func (f *feeder) Run(ctx, hard context.Context) (reason string, err error) {
	patience, cancel := afterGrace(ctx, hard, f.crawl.Settings.Grace)
	defer cancel()
	err = f.enqueueStart(patience)
	f.finish.lastWork = time.Now()
	for reason == "" && err == nil {
		f.collect()
		switch now := time.Now(); {
		case hard.Err() != nil:
			reason = ReasonKilled
		case ctx.Err() != nil:
			reason = stopReason(ctx)
		case f.heard() == scheduler.Stopped:
			reason = ReasonStopped
		case f.ran != nil:
			err = f.storeTask(patience)
		case f.exchangeDue(now):
			if err = f.exchange(patience, f.free()); err == nil {
				reason, err = f.closeCondition(patience)
			}
		default:
			if reason, err = f.watchFinish(patience, now); reason == "" && err == nil {
				f.wait(ctx, now)
			}
		}
	}
	if err != nil && (ctx.Err() == nil || f.refused) {
		return f.abandon(hard, err)
	}
	if reason = cancelReason(reason, ctx); reason == ReasonStopped {
		cancel() // what runs is handed back
	}
	return f.drain(patience, hard, reason)
}

// afterGrace is a context that ends a grace period after ctx, and with hard.
func afterGrace(ctx, hard context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	patience, cancel := context.WithCancel(hard)
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-patience.Done():
		}
	})
	return patience, func() { stop(); cancel() }
}

func stopReason(ctx context.Context) string {
	switch context.Cause(ctx) {
	case errTimeout:
		return ReasonTimeout
	case ErrStopped:
		return ReasonStopped
	}
	return ReasonInterrupted
}

func cancelReason(reason string, ctx context.Context) string {
	if reason == "" {
		return stopReason(ctx)
	}
	return reason
}

// collect takes what workers have ready.
func (f *feeder) collect() {
	for {
		select {
		case r := <-f.done:
			f.take(r)
		default:
			return
		}
	}
}

// bring gives the feeder a result, unless ctx ends: then nobody may listen any more.
func (f *feeder) bring(ctx context.Context, r result) {
	select {
	case f.done <- r:
	case <-ctx.Done():
	}
}

func (f *feeder) take(r result) {
	if r.task != nil {
		f.takeTask(r)
		return
	}
	f.running--
	f.finish.lastWork = time.Now()
	if r.outcome == nil {
		f.crawl.inflight.remove(r.lease.ID)
		f.unstarted = append(f.unstarted, r.lease.ID)
		return
	}
	if len(f.waiting) == 0 {
		f.oldest = time.Now()
	}
	f.waiting = append(f.waiting, r.outcome)
}

// exchange commits all that waits and leases up to want.
func (f *feeder) exchange(ctx context.Context, want int) error {
	c, now := f.crawl, time.Now()
	seeds := 0
	if want > 0 && f.seedsDue(now) {
		seeds = c.settings.Load().RedisBatchSize
	}
	if err := f.handBack(ctx); err != nil {
		return err
	}
	outs := f.waiting
	x, err := c.Frontier.Exchange(ctx, outs, want, seeds)
	if err != nil {
		return errors.Join(err, f.keep(outs, x.Stored))
	}
	f.waiting = nil
	took := time.Since(now)
	f.observe(took, len(outs), want)
	f.rest = time.Now().Add(took)
	if took >= c.Settings.Lease { // this process stood still: others may have these pages by now, and a host would be asked twice at once
		for _, lease := range x.Leases {
			f.unstarted = append(f.unstarted, lease.ID)
		}
		x.Leases = nil
	}
	f.start(ctx, x)
	f.pending.Store(x.Pending)
	f.paused.Store(x.Paused)
	f.hear(x)
	f.tellSpent(x.Spent)
	if want > 0 {
		f.plan(time.Now(), x, want, seeds)
	}
	if seeds > 0 {
		f.noteSeeds(x.Seeds)
	}
	return f.settle(outs, x.Stored)
}

// observe tells of an exchange.
func (f *feeder) observe(took time.Duration, outcomes, want int) {
	if outcomes > 0 {
		f.crawl.Observer.Committed(took)
	}
	if want > 0 {
		f.crawl.Observer.Leased(took)
	}
}

// keep is for an exchange that failed half way: what was stored is settled, the rest waits on.
func (f *feeder) keep(outs []*scheduler.Outcome, stored []bool) error {
	taken := make([]*scheduler.Outcome, 0, len(outs))
	f.waiting = nil
	for i, o := range outs {
		if stored[i] {
			taken = append(taken, o)
		} else {
			f.waiting = append(f.waiting, o)
		}
	}
	return f.settle(taken, slices.Repeat([]bool{true}, len(taken)))
}

// start hands leases to workers.
func (f *feeder) start(ctx context.Context, x scheduler.Exchanged) {
	c := f.crawl
	debug := c.Logger.Enabled(ctx, slog.LevelDebug)
	for _, lease := range x.Leases {
		if debug {
			c.Logger.Debug("leased", slog.String("slot", lease.Slot), slog.String("url", clip(leaseURL(lease))), slog.Int64("at", x.Now.UnixMilli()))
		}
		c.inflight.add(lease.ID)
		f.running++
		if f.workers < f.running-f.crawl.sinks.waiting() {
			f.workers++
			f.hire()
		}
		f.give(ctx, lease)
	}
}

// give waits for a worker to take a lease, and takes results meanwhile: with concurrent_requests raised since the start, workers may all wait
// to be rid of one.
func (f *feeder) give(ctx context.Context, lease scheduler.Lease) {
	for {
		select {
		case f.work <- lease:
			return
		case r := <-f.done:
			f.take(r)
		case <-ctx.Done():
			f.take(result{lease: lease})
			return
		}
	}
}

// hear takes in what people have told the crawl. The answer to a commit alone says nothing of it.
func (f *feeder) hear(x scheduler.Exchanged) {
	if x.State == "" || x.State == f.heard() && x.Control == f.control {
		return
	}
	f.state.Store(x.State)
	f.control = x.Control
	if f.crawl.OnControl != nil {
		f.crawl.OnControl(x.Control, x.State)
	}
}

// tellSpent says, once a slot in the whole fleet, that it has had all its pages.
func (f *feeder) tellSpent(slots []string) {
	for _, slot := range slots {
		f.crawl.Logger.Info("a site has had all its pages (closespider_pagecount_per_slot): its other requests are dropped", slog.String("slot", slot))
	}
}

// heard is the state of the crawl in the whole fleet, "" before Redis has said it.
func (f *feeder) heard() scheduler.State {
	s, _ := f.state.Load().(scheduler.State)
	return s
}

// noteSeeds says, once, that seeds cannot be taken in, and once that they can again; the crawl of all else goes on.
func (f *feeder) noteSeeds(err error) {
	switch {
	case err != nil && f.noSeeds == nil:
		f.crawl.Logger.Error("seeds cannot be taken in; the rest of the crawl goes on", slog.Any("error", err))
	case err == nil && f.noSeeds != nil:
		f.crawl.Logger.Info("seeds can be taken in again")
	}
	f.noSeeds = err
}

func leaseURL(l scheduler.Lease) string {
	if l.Request != nil {
		return l.Request.URL
	}
	return clip(string(l.Seed))
}
