package scheduler

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Wait is what a slot waits for.
type Wait string

// What slots wait for.
const (
	WaitWorker Wait = "worker" // its time has come: for a worker to lease
	WaitDelay  Wait = "delay"  // for the time of its next start
	WaitFull   Wait = "full"   // for one of its leases to end: it is at its concurrency
	WaitWork   Wait = "empty"  // for work: its queue is empty, and it stays until its delay is over
	WaitBroken Wait = "broken" // for a person: the key of its queue holds another type
)

// Slot is one unit of politeness as it is now.
type Slot struct {
	Name   string // "" is the only one of partition none
	Wait   Wait
	Next   time.Time // it may be fetched from again, by Redis' clock
	Busy   int       // leases in flight
	Limit  int       // of Busy; 0 when it is not known
	Delay  time.Duration
	Queued int64 // pending requests
}

// Seeds reports whether it is the slot in which seeds wait.
func (s Slot) Seeds() bool { return s.Name == seedsSlot }

// SlotCounts says how many slots wait for what. Slots whose queue is empty are among them.
type SlotCounts struct{ Due, Delayed, Full int64 }

// Slots are the slots of a crawl: all of them counted, of each kind the first few.
type Slots struct {
	Time time.Time // Redis' clock
	SlotCounts
	First []Slot // those that are due come first, then by their time, then the full ones
}

// mostSlots is how many slots of a kind are looked at at most.
const mostSlots = 100

// Slots looks at the slots of a crawl, most of each kind (up to 100). It costs Redis the same however much is pending.
func (c *Client) Slots(ctx context.Context, spider string, keys Keys, most int) (Slots, error) {
	if err := checkSpider(spider); err != nil {
		return Slots{}, err
	}
	r, err := c.run(ctx, c.keysOf(keys, spider), slotsScript, min(max(most, 1), mostSlots))
	if err != nil {
		return Slots{}, fmt.Errorf("reading the slots of %s: %w", spider, err)
	}
	s := readSlots(&r)
	return s, r.err
}

// readSlots reads the reply of scripts/slots.lua.
func readSlots(r *answer) Slots {
	s := Slots{Time: time.UnixMilli(r.num(0)), SlotCounts: SlotCounts{Due: r.num(1), Delayed: r.num(2), Full: r.num(3)}}
	delay, limit := politeness(r.texts(4))
	list := r.texts(5)
	for i := 0; i+5 < len(list); i += 6 {
		slot := readSlot(list[i : i+6])
		if slot.Limit == 0 && !slot.Seeds() {
			slot.Delay, slot.Limit = delay, limit
		}
		s.First = append(s.First, slot)
	}
	return s
}

// readSlot reads name, kind, next start, leases, rule, queued.
func readSlot(f []string) Slot {
	num := func(text string) int64 {
		n, _ := strconv.ParseInt(text, 10, 64)
		return n
	}
	s := Slot{Name: f[0], Next: time.UnixMilli(num(f[2])), Busy: int(num(f[3])), Queued: num(f[5])}
	if delay, limit, ok := strings.Cut(f[4], " "); ok && !s.Seeds() {
		s.Delay, s.Limit = time.Duration(num(delay))*time.Millisecond, int(num(limit))
	}
	switch {
	case s.Queued < 0:
		s.Queued, s.Wait = 0, WaitBroken
	case f[1] == "3":
		s.Wait = WaitFull
	case s.Queued == 0:
		s.Wait = WaitWork
	case f[1] == "2":
		s.Wait = WaitDelay
	default:
		s.Wait = WaitWorker
	}
	return s
}

// politeness is the delay and the concurrency of slots without a rule: what people have set live, else what the fleet was started with.
func politeness(set []string) (delay time.Duration, limit int) {
	if len(set) < 4 {
		return 0, 0
	}
	delay, _ = time.ParseDuration(set[2])
	limit, _ = strconv.Atoi(set[3])
	if ms, err := strconv.ParseInt(set[0], 10, 64); err == nil {
		delay = time.Duration(ms) * time.Millisecond
	}
	if n, err := strconv.Atoi(set[1]); err == nil {
		limit = n
	}
	return delay, limit
}
