package engine

import (
	"context"
	"testing"
)

// At the end of the grace period a lease may have been handed out that no worker has come to yet.
func TestWorkThatStartsWhileTheCrawlEndsIsStopped(t *testing.T) {
	t.Parallel()
	leases := newInflight()
	running, stopRunning := context.WithCancelCause(t.Context())
	late, stopLate := context.WithCancelCause(t.Context())
	leases.add("1")
	leases.add("2")
	leases.start("1", stopRunning)
	leases.cancelAll()
	leases.start("2", stopLate)
	if running.Err() == nil || late.Err() == nil {
		t.Errorf("running: %v, late: %v", running.Err(), late.Err())
	}
}
