package cli_test

import (
	"testing"
	"time"
)

// poll asks every few milliseconds until ok, and reports whether that came in time.
func poll(within time.Duration, ok func() bool) bool {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	timeout := time.After(within)
	for !ok() {
		select {
		case <-ticker.C:
		case <-timeout:
			return false
		}
	}
	return true
}

// eventually is poll for a test that cannot go on without.
func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	if !poll(within, ok) {
		t.Fatalf("%s: not within %v", what, within)
	}
}
