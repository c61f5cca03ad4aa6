package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
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
	got := leasesOf(l.late(time.Now().Add(time.Hour)))
	slices.Sort(got)
	if want := []string{"accepted", "answered", "silent"}; !slices.Equal(got, want) {
		t.Errorf("landed %v, want %v", got, want)
	}
}

// What Redis has refused to land is tried again, before what came later and without what has left the sinks meanwhile.
func TestPagesThatCouldNotLandAreTriedAgain(t *testing.T) {
	t.Parallel()
	var asked []string
	roused := 0
	l := newLanding(nil, func() { roused++ })
	refused := errors.New("OOM")
	l.land = func(_ context.Context, ids []string) error {
		asked = append(asked, strings.Join(ids, " "))
		return refused
	}
	arrive := func(id string) *parcel {
		p := &parcel{result: result{lease: scheduler.Lease{ID: id}, outcome: &scheduler.Outcome{}}}
		l.arrive(p)
		return p
	}
	arrive("a")
	gone := arrive("b")
	later := time.Now().Add(time.Hour)
	l.round(t.Context(), later)
	arrive("c")
	gone.gone.Store(true)
	refused = nil
	l.round(t.Context(), later)
	l.round(t.Context(), later)
	if want := []string{"a b", "a c"}; !slices.Equal(asked, want) || roused != 1 || !l.freed.Load() {
		t.Errorf("landed %q, want %q; the feeder was woken %d times", asked, want, roused)
	}
}
