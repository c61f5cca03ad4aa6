package fetch

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Memory bounds what all bodies take, of one Downloader or of several that share it. Downloads take from it piece by piece, so that a
// wrong Content-Length reserves nothing, and wait in order when it is used up. One download at a time may take more than there is: it can always go on to its end, and
// with its release the next. So the budget cannot deadlock, and is exceeded by one body at most.
type Memory struct {
	size    int64
	mu      sync.Mutex
	free    int64     // below zero while over has taken more than there was
	over    *grant    // may take without limit, until it has given all back
	waiters []*waiter // in order of arrival
}

// NewMemory makes a Memory of so many bytes; 0 means 256 MB.
func NewMemory(bytes int64) *Memory {
	bytes = cmp.Or(max(bytes, 0), 256<<20)
	return &Memory{size: bytes, free: bytes}
}

// grant is what one body has taken. The Memory's mu guards it.
type grant struct{ held int64 }

type waiter struct {
	g     *grant
	n     int64
	ready chan struct{}
}

// take adds n bytes to g, or returns a waiter for them.
func (b *Memory) take(g *grant, n int64) *waiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g == b.over || len(b.waiters) == 0 && b.admit(g, n) {
		b.grant(g, n)
		return nil
	}
	w := &waiter{g, n, make(chan struct{})}
	b.waiters = append(b.waiters, w)
	return w
}

// wait returns when w has been served. When ctx ends first it returns ctx's cause.
func (b *Memory) wait(ctx context.Context, w *waiter) error {
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		b.leave(w)
		return context.Cause(ctx)
	}
}

// admit reports whether g may have n bytes now.
func (b *Memory) admit(g *grant, n int64) bool {
	if b.free >= n {
		return true
	}
	if b.over == nil {
		b.over = g
	}
	return b.over == g
}

func (b *Memory) grant(g *grant, n int64) {
	b.free -= n
	g.held += n
}

// give takes n bytes off g; with the last of them g's right to go beyond the budget passes on.
func (b *Memory) give(g *grant, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.grant(g, -n)
	if g.held == 0 && b.over == g {
		b.over = nil
	}
	b.wake()
}

// leave takes a waiter out of the line. If it has been served meanwhile its grant stands, and its body gives it back.
func (b *Memory) leave(w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.waiters, w); i >= 0 {
		b.waiters = slices.Delete(b.waiters, i, i+1)
		b.wake()
	}
}

// wake serves waiters from the front of the line. The caller holds mu.
func (b *Memory) wake() {
	for len(b.waiters) > 0 {
		w := b.waiters[0]
		if !b.admit(w.g, w.n) {
			return
		}
		b.grant(w.g, w.n)
		b.waiters = slices.Delete(b.waiters, 0, 1)
		close(w.ready)
	}
}
