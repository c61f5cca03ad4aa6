package engine

import (
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// unavailableEvery is the least time between two words of something that is down.
const unavailableEvery = time.Minute

// unavailability is what scripts say of something that is down: told when it begins, and once a minute while calls wait for it. That other
// calls succeed says nothing: they may not need it. It is over when no call waits any more.
type unavailability struct {
	mu      sync.Mutex
	waiting int       // guarded by mu; calls
	since   time.Time // guarded by mu; when the first of them began to wait
	told    time.Time // guarded by mu
	open    bool      // guarded by mu; something was told that is not over
}

// enter begins the wait of a call.
func (u *unavailability) enter(now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.waiting++; u.waiting == 1 {
		u.since = now
	}
}

// tell says what a waiting call has said.
func (u *unavailability) tell(l *slog.Logger, why string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.told.IsZero() && now.Sub(u.told) < unavailableEvery {
		return
	}
	u.told, u.open = now, true
	l.Error(fmt.Sprintf("the script says that something is down; pages wait for it, and nothing is lost: %s", why))
}

// leave ends the wait of a call. there is whether it has gone through.
func (u *unavailability) leave(l *slog.Logger, there bool, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.waiting--; u.waiting > 0 || !u.open {
		return
	}
	u.open = false
	if there {
		l.Info(fmt.Sprintf("what was down is there again, after %s", now.Sub(u.since).Round(time.Second)))
	}
}
