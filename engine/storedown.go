package engine

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"luacrawl/engine/files"
)

// storeDown is whether a store of files takes nothing: told once when it begins, and once when it is over.
type storeDown struct {
	mu      sync.Mutex
	down    bool
	changed time.Time // when it last went down or came back
	looking *storeTry // while it is down: the one that looks whether it is back
}

// storeTry is a page's use of a store. What it found counts only when it began after the last change: others may have been under way
// when the store went down, or came back.
type storeTry struct {
	of    *storeDown
	began time.Time
}

func newStoresDown(stores map[float64]*files.Store) map[float64]*storeDown {
	all := make(map[float64]*storeDown, len(stores))
	for order := range stores {
		all[order] = &storeDown{}
	}
	return all
}

// try is nil when a page may not use the store. While it takes nothing one page at a time tries, until it says that it was answered, so that
// a store that hangs keeps no more than that one's place.
func (d *storeDown) try() *storeTry {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := &storeTry{of: d, began: time.Now()}
	if d.down {
		if d.looking != nil {
			return nil
		}
		d.looking = t
	}
	return t
}

// answered lets the next page look.
func (t *storeTry) answered() {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	if t.of.looking == t {
		t.of.looking = nil
	}
}

// failed says that the store took nothing, and why. It reports whether the store is down: for what began before it came back it is not.
func (t *storeTry) failed(l *slog.Logger, store, why string) bool {
	changed, down, _ := t.found(true)
	if changed {
		l.Error(fmt.Sprintf("the store of files %s takes nothing; pages wait for it, and nothing is lost: %s", store, why))
	}
	return down
}

// worked says that the store took what it was given.
func (t *storeTry) worked(l *slog.Logger) {
	if changed, _, after := t.found(false); changed {
		l.Info(fmt.Sprintf("the store of files takes them again, after %s", after.Round(time.Second)))
	}
}

// found takes what a page found, and says whether that is new, how it is now, and how long it was as before.
func (t *storeTry) found(down bool) (changed, isDown bool, after time.Duration) {
	d := t.of
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down == down || t.began.Before(d.changed) {
		return false, d.down, 0
	}
	after = time.Since(d.changed)
	d.down, d.changed = down, time.Now()
	return true, down, after
}
