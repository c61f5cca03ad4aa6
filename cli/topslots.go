package cli

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"luacrawl/scheduler"
)

var slotColumns = []column{
	{head: "SLOT"}, {head: "QUEUED", right: true}, {head: "LEASED", right: true, drop: 1}, {head: "DELAY", right: true, drop: 2}, {head: "WAITS FOR", wide: true},
}

// slots are those of the chosen spider, the longest queues first.
func (m *topModel) slots(rows int) []topLine {
	first := slices.Clone(m.view.Slots.First)
	if len(first) == 0 || m.place() < 0 || rows == 0 || m.view.Chosen != m.chosen {
		return nil
	}
	slices.SortStableFunc(first, func(a, b scheduler.Slot) int { return cmp.Compare(b.Queued, a.Queued) })
	t, s := table{columns: slotColumns, chosen: -1}, &m.view.Spiders[m.place()]
	for _, slot := range first {
		why, look := waits(slot, m.view.Slots.Time, s.State())
		leased := thousands(int64(slot.Busy))
		if slot.Limit > 0 {
			leased = fmt.Sprintf("%d/%d", slot.Busy, slot.Limit)
		}
		t.rows = append(t.rows, []piece{
			{slotLabel(slot), plain}, {thousands(slot.Queued), plain}, {leased, plain}, {delayText(slot.Delay), plain}, {why, look},
		})
	}
	return t.lines(m.width, 0, rows)
}

func slotLabel(s scheduler.Slot) string {
	switch {
	case s.Seeds():
		return "(seeds)"
	case s.Name == "":
		return "(the whole spider)"
	}
	return oneLine(s.Name, 60)
}

// waits says what a slot waits for.
func waits(s scheduler.Slot, now time.Time, state scheduler.State) (string, style) {
	held := state == scheduler.Paused || state == scheduler.Stopped
	switch s.Wait {
	case scheduler.WaitBroken:
		return "its queue's key holds another type", bad
	case scheduler.WaitFull:
		return fmt.Sprintf("full: %d of %d in flight", s.Busy, s.Limit), warn
	case scheduler.WaitWork:
		return "empty", dim
	}
	if held {
		return "the spider is " + string(state), warn
	}
	if s.Wait == scheduler.WaitDelay {
		return fmt.Sprintf("its delay, until %s (%s)", s.Next.UTC().Format("15:04:05.0"), delayText(s.Next.Sub(now))), dim
	}
	return "a worker", plain
}

// delayText writes a short time with a tenth of a second.
func delayText(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return span(d)
}
