package embedded

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// rest is how much longer than the work the pause after it is, so that snapshots of much data do not stall the crawl:
// they take at most a twentieth of the time.
const rest = 20

// Run expires keys and takes a snapshot every 5 seconds, less often if that takes long, until ctx ends; then it returns
// nil. Nothing is read if no write command has run since, nothing is written if the content is the same. A snapshot
// that fails (a full disk) is logged when that starts and when it ends, and tried again.
func (s *Server) Run(ctx context.Context) error {
	if s.joined {
		<-ctx.Done()
		return nil
	}
	snapshots, expiries := time.NewTimer(s.every), time.NewTimer(expireEvery)
	defer snapshots.Stop()
	defer expiries.Stop()
	var seen snapshotsSeen
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-expiries.C:
			expiries.Reset(max(expireEvery, rest*timed(s.expire)))
		case <-snapshots.C:
			snapshots.Reset(max(s.every, rest*timed(func() {
				if seen.needed(s.writes.total.Load()) {
					failing = s.report(s.snapshot(), failing)
					seen.again = seen.again || failing
				}
			})))
		}
	}
}

func timed(work func()) time.Duration {
	start := time.Now()
	work()
	return time.Since(start)
}

func (s *Server) report(err error, failing bool) bool {
	switch {
	case err != nil && !failing:
		s.logger.Error("the snapshot cannot be written; the crawl goes on, but would be lost if this process ended now", "error", err)
	case err == nil && failing:
		s.logger.Info("the snapshot can be written again")
	}
	return err != nil
}

// snapshot saves unless the server is closed, which has done it then.
func (s *Server) snapshot() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.dir == "" {
		return nil
	}
	return s.save()
}

// snapshotsSeen decides whether a snapshot may have something new. A command is counted before it runs, so one that
// was counted may have missed the snapshot: after each that was needed follows one more.
type snapshotsSeen struct {
	writes uint64
	again  bool
}

func (s *snapshotsSeen) needed(writes uint64) bool {
	changed := writes != s.writes
	needed := changed || s.again
	s.writes, s.again = writes, changed
	return needed
}

// writeCounter counts commands that may change data, those inside scripts included.
type writeCounter struct{ total atomic.Uint64 }

// harmless are commands that miniredis does not mark as read-only and that change nothing by themselves. EXEC is not
// one of them: the commands of a transaction are counted when they are queued.
var harmless = map[string]bool{
	"TIME": true, "PING": true, "ECHO": true, "HELLO": true, "AUTH": true, "SELECT": true, "CLIENT": true, "COMMAND": true,
	"INFO": true, "EVAL": true, "EVALSHA": true, "SCRIPT": true, "MULTI": true, "DISCARD": true, "WATCH": true,
	"UNWATCH": true, "QUIT": true, tokenCommand: true,
}

func (w *writeCounter) watch(s *server.Server) {
	s.SetPreHook(func(_ *server.Peer, cmd string, _ ...string) bool {
		if !harmless[cmd] && !s.IsReadOnlyCommand(cmd) {
			w.total.Add(1)
		}
		return false
	})
}
