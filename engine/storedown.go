package engine

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"luacrawl/engine/files"
)

// storeDown is that a store of files takes nothing: told once when it begins, and once when it is over.
type storeDown struct {
	since  atomic.Int64 // Unix nanoseconds; 0 when it takes files
	trying atomic.Bool  // while it takes nothing: a page looks whether it does again
}

func newStoresDown(stores map[float64]*files.Store) map[float64]*storeDown {
	all := make(map[float64]*storeDown, len(stores))
	for order := range stores {
		all[order] = &storeDown{}
	}
	return all
}

// try reports whether a page may use the store, which then says so once the store has answered. While it takes nothing one page at a time
// tries, so that a store that hangs keeps no more than that one's place.
func (d *storeDown) try() (answered func(), ok bool) {
	if d.since.Load() == 0 {
		return func() {}, true
	}
	if !d.trying.CompareAndSwap(false, true) {
		return nil, false
	}
	return sync.OnceFunc(func() { d.trying.Store(false) }), true
}

func (d *storeDown) begun(l *slog.Logger, store, why string) {
	if d.since.CompareAndSwap(0, time.Now().UnixNano()) {
		l.Error(fmt.Sprintf("the store of files %s takes nothing; pages wait for it, and nothing is lost: %s", store, why))
	}
}

func (d *storeDown) over(l *slog.Logger) {
	since := d.since.Load()
	if since != 0 && d.since.CompareAndSwap(since, 0) {
		l.Info(fmt.Sprintf("the store of files takes them again, after %s", time.Since(time.Unix(0, since)).Round(time.Second)))
	}
}
