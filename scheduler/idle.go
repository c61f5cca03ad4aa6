package scheduler

import (
	"context"
	"fmt"
)

// Idle is what a crawl has left.
type Idle struct {
	Pending, Leases, Seeds int64 // Pending includes the delayed
	Dequeued               int64 // grows with each lease
	Paused                 bool
}

// Done reports whether nothing is left at all.
func (i Idle) Done() bool { return i.Pending == 0 && i.Leases == 0 && i.Seeds == 0 }

// Idle asks, in one step, what is left. A crawl is finished when it is Done twice, a second apart, with the same Dequeued.
func (f *Frontier) Idle(ctx context.Context) (Idle, error) {
	r, err := f.run(ctx, doneScript)
	if err != nil {
		return Idle{}, fmt.Errorf("asking what is left: %w", err)
	}
	i := Idle{Pending: r.num(0), Leases: r.num(1), Seeds: r.num(2), Dequeued: r.num(3), Paused: r.num(4) != 0}
	return i, r.err
}

// Finish announces that the crawl is finished; first is true for one caller of a whole fleet, until new requests or
// seeds come in or the crawl is flushed. With work left it announces nothing. Task is what is due then, OnFinished or "" for nothing.
func (f *Frontier) Finish(ctx context.Context, task string) (first bool, err error) {
	r, err := f.run(ctx, finishScript, task)
	if err != nil {
		return false, fmt.Errorf("announcing the end: %w", err)
	}
	return r.num(0) == 1, r.err
}
