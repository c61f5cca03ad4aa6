package engine

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// storeDown is that the store of files takes nothing: told once when it begins, and once when it is over.
type storeDown struct {
	since atomic.Int64 // Unix nanoseconds; 0 when it takes files
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
