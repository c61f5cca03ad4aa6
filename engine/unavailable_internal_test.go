package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestUnavailableIsToldOnceAMinute however many calls wait, and over only when none does.
func TestUnavailableIsToldOnceAMinute(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	l := slog.New(slog.NewTextHandler(&b, nil))
	told := func() (begun, over int) {
		return strings.Count(b.String(), "something is down"), strings.Count(b.String(), "there again")
	}
	var u unavailability
	now := time.Now()
	for range 2 {
		u.enter(now)
		u.tell(l, "mysql", now)
	}
	u.leave(l, true, now)
	if begun, over := told(); begun != 1 || over != 0 {
		t.Errorf("one still waits: begun %d times, over %d", begun, over)
	}
	u.leave(l, true, now)
	for range 100 { // it comes and goes
		now = now.Add(time.Millisecond)
		u.enter(now)
		u.tell(l, "mysql", now)
		u.leave(l, true, now)
	}
	if begun, over := told(); begun != 1 || over != 1 {
		t.Errorf("within a minute: begun %d times, over %d", begun, over)
	}
	u.enter(now)
	u.tell(l, "mysql", now)
	u.tell(l, "mysql", now.Add(unavailableEvery))
	u.leave(l, false, now)
	if begun, over := told(); begun != 2 || over != 1 {
		t.Errorf("a minute later, and given up: begun %d times, over %d", begun, over)
	}
}
