package engine

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// unavailability is what scripts have said of something that is down, or what was seen of the store of files: told once when it begins, and once when it is over.
type unavailability struct {
	since atomic.Int64 // Unix nanoseconds; 0 when nothing is down
}

// begun tells that something is down; what says whose word that is.
func (u *unavailability) begun(l *slog.Logger, what, why string) {
	if u.since.CompareAndSwap(0, time.Now().UnixNano()) {
		l.Error(fmt.Sprintf("%s; pages wait for it, and nothing is lost: %s", what, why))
	}
}

func (u *unavailability) over(l *slog.Logger) {
	since := u.since.Load()
	if since != 0 && u.since.CompareAndSwap(since, 0) {
		l.Info(fmt.Sprintf("what was down is there again, after %s", time.Since(time.Unix(0, since)).Round(time.Second)))
	}
}
