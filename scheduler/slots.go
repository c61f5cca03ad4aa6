package scheduler

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Wait is what a slot waits for.
type Wait string

// What slots wait for.
const (
	WaitWorker     Wait = "worker"      // its time has come: for a worker to lease
	WaitDelay      Wait = "delay"       // for the time of its next start
	WaitRetryAfter Wait = "retry-after" // for the time that its site has asked to be left alone until
	WaitRobots     Wait = "robots"      // for its robots.txt
	WaitFull       Wait = "full"        // for one of its leases to end: it is at its concurrency
	WaitTotal      Wait = "total"       // for any lease of the fleet to end: it has as many requests in flight as it may have
	WaitBudget     Wait = "budget"      // for one of its leases to end: with them it may have all the pages that it is to have
	WaitBackoff    Wait = "backoff"     // for the time of requests that have failed, or are for later
	WaitWork       Wait = "empty"       // for work: its queue is empty, and it stays until its delay is over
	WaitBroken     Wait = "broken"      // for a person: the key of its queue holds another type
)

// Slot is one unit of politeness as it is now.
type Slot struct {
	Name       string // "" is the only one of partition none
	Wait       Wait
	Next       time.Time // it may be fetched from again, by Redis' clock
	Busy       int       // leases in flight
	Limit      int       // of Busy; 0 when it is not known
	Delay      time.Duration
	Says       Says      // who says the delay
	Randomized bool      // the delay is up to half as much again
	Queued     int64     // pending requests
	Later      int64     // requests that may not start yet, among the first 100 of the crawl
	Due        time.Time // the first of them may start
	Pages      int64     // responses that callbacks had, while there is a budget of them
}

// Says is who says the delay of a slot.
type Says string

// Who says the delay of a slot.
const (
	SaysAll     Says = ""        // the setting for all slots
	SaysFile    Says = "spider"  // download_slots of the spider's file
	SaysLive    Says = "live"    // people, by SetSlot
	SaysRobots  Says = "robots"  // the crawl-delay of its robots.txt
	SaysRefused Says = "refused" // the site has refused what it was asked for, with 429 say
	SaysLatency Says = "latency" // the latency of its answers
)

// Seeds reports whether it is the slot in which seeds wait.
func (s Slot) Seeds() bool { return s.Name == seedsSlot }

// SlotCounts says how many slots wait for what. Slots whose queue is empty are among them.
type SlotCounts struct{ Due, Delayed, Full int64 }

// Slots are the slots of a crawl: all of them counted, of each kind the first few.
type Slots struct {
	Time time.Time // Redis' clock
	SlotCounts
	Budget   int64  // pages that a slot may have; 0 for no budget
	Total    int64  // requests that the fleet may have in flight; 0 for no limit
	InFlight int64  // that it has, without those whose pages have landed
	First    []Slot // those that are due come first, then by their time, then the full ones, then those that have only requests for later
}

// Spent reports whether the fleet has as many requests in flight as it may have.
func (s Slots) Spent() bool { return s.Total > 0 && s.InFlight >= s.Total }

// mostSlots is how many slots of a kind are looked at at most.
const mostSlots = 100

// Slots looks at the slots of a crawl, most of each kind (up to 100). It costs Redis the same however much is pending.
func (c *Client) Slots(ctx context.Context, spider string, keys Keys, most int) (Slots, error) {
	return c.slots(ctx, spider, keys, min(max(most, 1), mostSlots))
}

// Slot looks at one slot of a crawl, also at one that has no requests: First holds it alone.
func (c *Client) Slot(ctx context.Context, spider string, keys Keys, slot string) (Slots, error) {
	return c.slots(ctx, spider, keys, 1, slot)
}

func (c *Client) slots(ctx context.Context, spider string, keys Keys, args ...any) (Slots, error) {
	if err := checkSpider(spider); err != nil {
		return Slots{}, err
	}
	r, err := c.run(ctx, c.keysOf(keys, spider), slotsScript, args...)
	if err != nil {
		return Slots{}, fmt.Errorf("reading the slots of %s: %w", spider, err)
	}
	s := readSlots(&r)
	return s, r.err
}

// slotFields are how many values scripts/slots.lua gives of a slot.
const slotFields = 11

// readSlots reads the reply of scripts/slots.lua.
func readSlots(r *answer) Slots {
	s := Slots{Time: time.UnixMilli(r.num(0)), SlotCounts: SlotCounts{Due: r.num(1), Delayed: r.num(2), Full: r.num(3)}, Budget: r.num(4), Total: r.num(7), InFlight: r.num(8)}
	list, later := r.texts(5), r.texts(6)
	at := map[string]int{}
	for i := 0; i+slotFields <= len(list); i += slotFields {
		at[list[i]] = len(s.First)
		slot := readSlot(list[i:i+slotFields], s.Budget)
		if slot.Wait == WaitWorker && s.Spent() && !slot.Seeds() {
			slot.Wait = WaitTotal
		}
		s.First = append(s.First, slot)
	}
	for i := 0; i+3 <= len(later); i += 3 {
		if k, known := at[later[i]]; known {
			s.First[k].later(number(later[i+1]), time.UnixMilli(number(later[i+2])))
		}
	}
	return s
}

// readSlot reads what scripts/slots.lua gives of one.
func readSlot(f []string, budget int64) Slot {
	s := Slot{
		Name: f[0], Next: time.UnixMilli(number(f[2])), Busy: int(number(f[3])), Delay: milliseconds(number(f[4])), Limit: int(number(f[5])),
		Says: Says(f[6]), Randomized: f[7] == "1", Queued: number(f[8]), Pages: number(f[10]),
	}
	kind, why := f[1], Wait(f[9])
	switch {
	case s.Queued < 0:
		s.Queued, s.Wait = 0, WaitBroken
	case kind == "3" && budget > 0 && s.Busy < s.Limit:
		s.Wait = WaitBudget
	case kind == "3":
		s.Wait = WaitFull
	case why != "":
		s.Wait = why
	case s.Queued == 0:
		s.Wait = WaitWork
	case kind == "2":
		s.Wait = WaitDelay
	default:
		s.Wait = WaitWorker
	}
	return s
}

// later takes in how many requests of the slot may not start yet, and when the first of them may.
func (s *Slot) later(n int64, due time.Time) {
	s.Later, s.Due = n, due
	if s.Wait == WaitWork && s.Busy == 0 {
		s.Wait = WaitBackoff
		if due.After(s.Next) {
			s.Next = due
		}
	}
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
