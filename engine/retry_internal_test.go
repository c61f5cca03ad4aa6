package engine

import (
	"log/slog"
	"testing"
	"time"

	"luacrawl/scheduler"
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

// Answers 429 lengthen the wait of whatever is tried next, also when it is the script that asks.
func TestRetriesThatAScriptAsksForWaitAsOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		retried, throttled int
		least              time.Duration
	}{{0, 0, time.Second}, {2, 0, 4 * time.Second}, {0, 5, 32 * time.Second}, {2, 3, 32 * time.Second}} {
		p := newTestPage(&scheduler.Request{RetryTimes: c.retried, Throttled: c.throttled})
		if !p.tryAgain(&Failure{}, &RetryError{}) || len(p.out.Children) != 1 {
			t.Fatalf("%+v: not tried again", c)
		}
		if wait := p.out.Children[0].Delay; wait < c.least || wait >= c.least*3/2 {
			t.Errorf("%+v: waits %s", c, wait)
		}
	}
}

func newTestPage(r *scheduler.Request) *page {
	crawl := &Crawl{Options: Options{Logger: slog.New(slog.DiscardHandler)}}
	return &page{Crawl: crawl, Settings: &Settings{RetryTimes: 9}, req: r, out: &scheduler.Outcome{Stats: map[string]int64{}}}
}
