package scheduler

import "sync"

// hand is what a worker has in flight at sites: leases of requests that it has not brought back and whose pages have not landed. What
// Redis has taken away meanwhile is among them until the worker hears of it. Any goroutine may use it.
type hand struct {
	mu     sync.Mutex
	leases map[string]bool // guarded by mu; by ID
}

func (h *hand) add(l Lease) {
	if l.Slot == seedsSlot {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.leases == nil {
		h.leases = map[string]bool{}
	}
	h.leases[l.ID] = true
}

func (h *hand) remove(ids ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		delete(h.leases, id)
	}
}

func (h *hand) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.leases)
}
