package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
	t := slotTable(first, m.view.Slots.Time, m.view.Spiders[m.place()].State())
	return t.lines(m.width, 0, rows)
}

// slotTable shows slots, the longest queues first, which it sorts.
func slotTable(list []scheduler.Slot, now time.Time, state scheduler.State) table {
	slices.SortStableFunc(list, func(a, b scheduler.Slot) int { return cmp.Compare(b.Queued, a.Queued) })
	t := table{columns: slotColumns, chosen: -1}
	for _, slot := range list {
		why, look := waits(slot, now, state)
		leased := thousands(int64(slot.Busy))
		if slot.Limit > 0 {
			leased = fmt.Sprintf("%d/%d", slot.Busy, slot.Limit)
		}
		t.rows = append(t.rows, []piece{
			{slotLabel(slot), plain}, {thousands(slot.Queued), plain}, {leased, plain}, {slotDelay(slot), plain}, {why, look},
		})
	}
	return t
}

// slotDelay is a slot's delay with who says it, if that is not the setting for all.
func slotDelay(s scheduler.Slot) string {
	text := delayText(s.Delay)
	if s.Randomized && s.Delay > 0 {
		text = strings.TrimSuffix(text, "s") + "-" + delayText(s.Delay*3/2)
	}
	if s.Says != scheduler.SaysAll {
		text += " " + string(s.Says)
	}
	return text
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
	case scheduler.WaitBudget:
		return fmt.Sprintf("its page budget: %d in flight may be the last", s.Busy), warn
	case scheduler.WaitWork:
		return "empty", dim
	}
	if held {
		return "the spider is " + string(state), warn
	}
	until := fmt.Sprintf(", until %s (%s)", s.Next.UTC().Format("15:04:05.0"), delayText(s.Next.Sub(now)))
	switch s.Wait {
	case scheduler.WaitRetryAfter:
		return "Retry-After" + until, warn
	case scheduler.WaitRobots:
		return "its robots.txt" + until, dim
	case scheduler.WaitTotal:
		return "the fleet is at its concurrent_requests_total", warn
	case scheduler.WaitBackoff:
		return fmt.Sprintf("the time of a retry or a later request%s", until), dim
	case scheduler.WaitDelay:
		switch s.Says {
		case scheduler.SaysRobots:
			return "the crawl-delay of its robots.txt" + until, dim
		case scheduler.SaysRefused:
			return "its delay after it has refused" + until, warn
		}
		return "its delay" + until, dim
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
