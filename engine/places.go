package engine

import (
	"context"
	"sync"
	"time"
)

const (
	callsPerCPU     = 2 // ordinary calls that run at once
	slowCallsPerCPU = 1 // slow ones beside them
	slowAfter       = 100 * time.Millisecond
	verySlowAfter   = time.Second
)

// places are what calls into the spider run on: a script computes, so more at once would not be faster, would hold more trees in
// memory, and would be slowed by each other past their timeout. A call that turns out to be slow gives its place to the next
// and takes one of the few for slow calls; after a second it goes on without any, so that no number of them holds up the
// others for longer.
type places struct {
	quick, slow          chan struct{}
	slowAfter, muchLater time.Duration
}

func newPlaces(cpus int) *places {
	return &places{make(chan struct{}, callsPerCPU*cpus), make(chan struct{}, slowCallsPerCPU*cpus), slowAfter, verySlowAfter - slowAfter}
}

// place is what one call holds.
type place struct {
	of    *places
	mu    sync.Mutex
	held  chan struct{} // guarded by mu; nil when it holds none
	timer *time.Timer   // guarded by mu
	ended bool          // guarded by mu
}

// enter waits for a place.
func (p *places) enter(ctx context.Context) (*place, error) {
	select {
	case p.quick <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	at := &place{of: p, held: p.quick}
	at.mu.Lock()
	at.timer = time.AfterFunc(p.slowAfter, at.age)
	at.mu.Unlock()
	return at, nil
}

// age moves a slow call on.
func (at *place) age() {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.ended || at.held != at.of.quick {
		return
	}
	select {
	case at.of.slow <- struct{}{}:
		<-at.held
		at.held = at.of.slow
	default:
		at.timer = time.AfterFunc(at.of.muchLater, at.giveUp)
	}
}

func (at *place) giveUp() {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.release()
}

func (at *place) release() {
	if at.held != nil {
		<-at.held
		at.held = nil
	}
}

// leave is the end of the call.
func (at *place) leave() {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.ended = true
	at.timer.Stop()
	at.release()
}
