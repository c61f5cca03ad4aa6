package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"luacrawl/scheduler"
)

const (
	landAfter = 100 * time.Millisecond // that a page waits in the sinks before its site hears of it
	landEvery = 100 * time.Millisecond
)

// landing gives the places in their slots back of pages that wait in the sinks: a slow sink is to hold up the pages in its buffer and not,
// long before that is full, the site that they are of. A crawl whose sinks are quick asks Redis nothing.
type landing struct {
	land  func(ctx context.Context, ids []string) error
	rouse func()      // the feeder
	freed atomic.Bool // slots have places since the feeder has asked for the last time

	mu      sync.Mutex
	arrived []arrival // guarded by mu; in their order
}

// arrival is a page that came to the sinks.
type arrival struct {
	parcel *parcel
	at     time.Time
}

func newLanding(c *Crawl, rouse func()) *landing {
	return &landing{land: func(ctx context.Context, ids []string) error { return c.Frontier.Land(ctx, ids) }, rouse: rouse}
}

// arrive notes a page that begins its way through the sinks. One whose site wants to be left alone, or finds us too fast, is none: that
// comes to Redis with the page, and until then its place keeps others away.
func (l *landing) arrive(p *parcel) {
	if out := p.result.outcome; out.Hold > 0 || out.Answer.Verdict == scheduler.Refused {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.arrived = append(l.arrived, arrival{p, time.Now()})
}

// late takes pages that have waited for long and still do.
func (l *landing) late(now time.Time) (pages []arrival) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for ; n < len(l.arrived) && now.Sub(l.arrived[n].at) >= landAfter; n++ {
		if p := l.arrived[n].parcel; !p.gone.Load() && !p.stopped.Load() {
			pages = append(pages, l.arrived[n])
		}
		l.arrived[n].parcel = nil
	}
	l.arrived = l.arrived[n:]
	return pages
}

func leasesOf(pages []arrival) []string {
	ids := make([]string, len(pages))
	for i, a := range pages {
		ids[i] = a.parcel.result.lease.ID
	}
	return ids
}

// again puts pages back that could not be landed. They came before all others.
func (l *landing) again(pages []arrival) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.arrived = append(pages, l.arrived...)
}

// round lands what is late by now. What fails is for the next round, unless the commits give its places back before.
func (l *landing) round(ctx context.Context, now time.Time) {
	pages := l.late(now)
	if len(pages) == 0 {
		return
	}
	if err := l.land(ctx, leasesOf(pages)); err != nil {
		l.again(pages)
		return
	}
	l.freed.Store(true)
	l.rouse()
}

// Run lands pages until ctx ends.
func (l *landing) Run(ctx context.Context) error {
	tick := time.NewTicker(landEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		l.round(ctx, time.Now())
	}
}
