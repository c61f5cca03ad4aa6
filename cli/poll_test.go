package cli_test

import "time"

// poll asks every few milliseconds, for ten seconds at most.
func poll(ok func() bool) bool {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	timeout := time.After(10 * time.Second)
	for {
		if ok() {
			return true
		}
		select {
		case <-ticker.C:
		case <-timeout:
			return false
		}
	}
}
