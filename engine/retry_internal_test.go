package engine

import (
	"testing"
	"time"
)

func TestRetriesWaitLongerEachTimeAndNotAllTheSame(t *testing.T) {
	t.Parallel()
	for tries, least := range map[int]time.Duration{
		-1: time.Second, 0: time.Second, 1: 2 * time.Second, 2: 4 * time.Second, 5: 32 * time.Second,
		6: time.Minute, 60: time.Minute, 1 << 40: time.Minute,
	} {
		waits := map[time.Duration]bool{}
		var shortest, longest time.Duration
		for range 1000 {
			wait := retryWait(tries)
			if wait < least || wait >= least*3/2 {
				t.Fatalf("after %d tries: %s, want %s to half more", tries, wait, least)
			}
			if waits[wait] = true; shortest == 0 || wait < shortest {
				shortest = wait
			}
			longest = max(longest, wait)
		}
		if spread := longest - shortest; len(waits) < 900 || spread < least/3 {
			t.Errorf("after %d tries: %d different waits within %s", tries, len(waits), spread)
		}
	}
}
