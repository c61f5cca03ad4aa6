package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// waits is how long a call has to wait for a place.
func waits(t *testing.T, p *share) time.Duration {
	t.Helper()
	started := time.Now()
	at, err := p.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at.leave()
	return time.Since(started)
}

// TestSlowCallsGiveTheirPlace: the first slow calls make room after 100 ms, any number of them after a second.
func TestSlowCallsGiveTheirPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces(1).join()
		var slow []*place
		enter := func(n int) {
			for range n {
				at, err := p.enter(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				slow = append(slow, at)
			}
		}
		enter(callsPerCPU)
		if got := waits(t, p); got != slowAfter {
			t.Errorf("beside %d slow calls another waits %v, want %v", len(slow), got, slowAfter)
		}
		enter(slowCallsPerCPU)
		if got := waits(t, p); got > verySlowAfter {
			t.Errorf("beside %d slow calls another waits %v, want at most %v", len(slow), got, verySlowAfter)
		}
		enter(20)
		if got := waits(t, p); got > verySlowAfter {
			t.Errorf("beside %d slow calls another waits %v, want at most %v", len(slow), got, verySlowAfter)
		}
		for _, at := range slow {
			at.leave()
		}
		<-time.After(2 * verySlowAfter) // whatever is still timed happens
		if p.of.quick != 0 || p.of.slow != 0 {
			t.Errorf("%d and %d places are taken after the end", p.of.quick, p.of.slow)
		}
	})
}

func TestNoPlaceForAStoppedCall(t *testing.T) {
	t.Parallel()
	p := newPlaces(1).join()
	for range callsPerCPU {
		at, err := p.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer at.leave()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.enter(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
