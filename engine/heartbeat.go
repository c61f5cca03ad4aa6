package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// inflight knows the leases that this process holds and how to stop work on each.
type inflight struct {
	mu     sync.Mutex
	leases map[string]context.CancelCauseFunc // guarded by mu; nil unless a worker is on the page
	ending bool                               // guarded by mu; work that starts now is stopped at once
}

func newInflight() *inflight { return &inflight{leases: map[string]context.CancelCauseFunc{}} }

func (f *inflight) add(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leases[id] = nil
}

// start says how to stop the work on a lease; nil says that it is over and only its commit is to come.
func (f *inflight) start(id string, cancel context.CancelCauseFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ours := f.leases[id]; ours {
		f.leases[id] = cancel
	}
	if f.ending && cancel != nil {
		cancel(errEnding)
	}
}

func (f *inflight) remove(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.leases, id)
}

func (f *inflight) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.leases)
}

func (f *inflight) ids() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	ids := make([]string, 0, len(f.leases))
	for id := range f.leases {
		ids = append(ids, id)
	}
	return ids
}

// cancel stops the work on leases that are no longer ours, which whoever has them now does, and returns how many were at work.
func (f *inflight) cancel(ids []string) (stopped int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		if stop := f.leases[id]; stop != nil {
			stop(errLeaseLost)
			stopped++
		}
	}
	return stopped
}

// cancelAll stops all work, also on leases that no worker has come to yet.
func (f *inflight) cancelAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ending = true
	for _, stop := range f.leases {
		if stop != nil {
			stop(errEnding)
		}
	}
}

var (
	errLeaseLost = errors.New("the lease has expired")
	errEnding    = errors.New("the crawl is ending")
)

// heartbeat lengthens all leases of the process three times a lease.
type heartbeat struct {
	crawl *Crawl
	every time.Duration
}

func newHeartbeat(c *Crawl) *heartbeat { return &heartbeat{crawl: c, every: c.Settings.Lease / 3} }

// Run beats until ctx ends.
func (h *heartbeat) Run(ctx context.Context) error {
	tick := time.NewTicker(h.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		lost, err := h.crawl.Frontier.Extend(ctx, h.crawl.inflight.ids())
		if err != nil {
			continue // the frontier has said so; leases that expire meanwhile are fenced
		}
		if n := h.crawl.inflight.cancel(lost); n > 0 {
			h.crawl.Logger.Warn("leases expired before their pages were done", slog.Int("leases", n))
		}
	}
}
