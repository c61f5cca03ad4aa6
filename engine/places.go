package engine

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	callsPerCPU     = 2 // ordinary calls that run at once
	slowCallsPerCPU = 1 // slow ones beside them
	slowAfter       = 100 * time.Millisecond
	verySlowAfter   = time.Second
)

// Places are what calls into the spiders of a process run on: a script computes, so more at once would not be faster, would hold more trees
// in memory, and would be slowed by each other past their timeout. A call that turns out to be slow gives its place to the next
// and takes one of the few for slow calls; after a second it goes on without any, so that no number of them holds up the
// others for longer. What crawls that share Places leave to each other is in share.go.
type Places struct {
	cpus                 int
	slowAfter, muchLater time.Duration

	mu          sync.Mutex
	quick, slow int      // guarded by mu; places that are taken
	shares      []*share // guarded by mu; of the crawls
}

// NewPlaces makes the Places of a process.
func NewPlaces() *Places { return newPlaces(runtime.GOMAXPROCS(0)) }

func newPlaces(cpus int) *Places {
	return &Places{cpus: cpus, slowAfter: slowAfter, muchLater: verySlowAfter - slowAfter}
}

// place is what one call holds. The Places' mu guards it.
type place struct {
	of      *share
	held    *int // the count of Places that it is in; nil when it holds none
	timer   *time.Timer
	started time.Time
	ended   bool
}

// join adds a crawl.
func (p *Places) join() *share {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := newShare(p)
	p.shares = append(p.shares, s)
	return s
}

// part takes a crawl out. Its calls have ended.
func (p *Places) part(s *share) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shares = slices.DeleteFunc(p.shares, func(other *share) bool { return other == s })
	p.dispatch(time.Now())
}

// enter waits for a place.
func (s *share) enter(ctx context.Context) (*place, error) {
	p := s.of
	at := &place{of: s}
	p.mu.Lock()
	if s.alone() && p.quick < callsPerCPU*p.cpus {
		at.start(time.Now())
		p.mu.Unlock()
		return at, nil
	}
	w := &entrant{at, make(chan struct{})}
	s.waiting = append(s.waiting, w)
	p.dispatch(time.Now())
	p.mu.Unlock()
	select {
	case <-w.in:
		return at, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(s.waiting, w); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	} else {
		at.end(time.Now())
	}
	return nil, ctx.Err()
}

// alone reports that no call of this crawl waits, nor another crawl could want the place. The caller holds mu.
func (s *share) alone() bool { return len(s.of.shares) == 1 && len(s.waiting) == 0 }

// start takes the place. The caller holds mu.
func (at *place) start(now time.Time) {
	p := at.of.of
	at.started, at.held = now, &p.quick
	p.quick++
	at.of.running++
	at.timer = time.AfterFunc(p.slowAfter, at.age)
}

// age moves a slow call on.
func (at *place) age() {
	p := at.of.of
	p.mu.Lock()
	defer p.mu.Unlock()
	if at.ended || at.held != &p.quick {
		return
	}
	if p.slow >= slowCallsPerCPU*p.cpus {
		at.timer = time.AfterFunc(p.muchLater, at.giveUp)
		return
	}
	p.slow++
	at.release()
	at.held = &p.slow
	p.dispatch(time.Now())
}

func (at *place) giveUp() {
	p := at.of.of
	p.mu.Lock()
	defer p.mu.Unlock()
	if !at.ended {
		at.release()
		p.dispatch(time.Now())
	}
}

// release gives the place back. The caller holds mu.
func (at *place) release() {
	if at.held != nil {
		*at.held--
		at.held = nil
	}
}

// leave is the end of the call.
func (at *place) leave() {
	p := at.of.of
	p.mu.Lock()
	defer p.mu.Unlock()
	at.end(time.Now())
}

// end is leave. The caller holds mu.
func (at *place) end(now time.Time) {
	at.ended = true
	at.timer.Stop()
	at.release()
	at.of.running--
	at.of.took(now.Sub(at.started))
	at.of.seen = now
	at.of.of.dispatch(now)
}
