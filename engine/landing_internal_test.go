package engine

import (
	"slices"
	"testing"
	"time"

	"luacrawl/scheduler"
)

// A page whose answer slows its site down keeps its place until that is in Redis: freed before, the place would let the next request out at once.
func TestLandingLeavesOutWhatSlowsItsSiteDown(t *testing.T) {
	t.Parallel()
	l := newLanding(nil, nil)
	for id, out := range map[string]scheduler.Outcome{
		"held":     {Hold: time.Second},
		"refused":  {Answer: scheduler.Answer{Verdict: scheduler.Refused}},
		"accepted": {Answer: scheduler.Answer{Verdict: scheduler.Accepted, Latency: time.Second}},
		"answered": {Answer: scheduler.Answer{Verdict: scheduler.Answered}},
		"silent":   {},
	} {
		l.arrive(&parcel{result: result{lease: scheduler.Lease{ID: id}, outcome: &out}})
	}
	got := l.late(time.Now().Add(time.Hour))
	slices.Sort(got)
	if want := []string{"accepted", "answered", "silent"}; !slices.Equal(got, want) {
		t.Errorf("landed %v, want %v", got, want)
	}
}
