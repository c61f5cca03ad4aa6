package engine

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// unavailability is what scripts have said of something that is down: told once when it begins, and once when it is over.
type unavailability struct {
	since atomic.Int64 // Unix nanoseconds; 0 when nothing is down
}

func (u *unavailability) begun(l *slog.Logger, why string) {
	if u.since.CompareAndSwap(0, time.Now().UnixNano()) {
		l.Error(fmt.Sprintf("the script says that something is down; pages wait for it, and nothing is lost: %s", why))
	}
}

func (u *unavailability) over(l *slog.Logger) {
	since := u.since.Load()
	if since != 0 && u.since.CompareAndSwap(since, 0) {
		l.Info(fmt.Sprintf("what was down is there again, after %s", time.Since(time.Unix(0, since)).Round(time.Second)))
	}
}
