package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const slotsHelp = `A slot is a site, or what else shares a delay (setting partition, option slot of a request). It shows how much waits there, what is in flight
of how much may be, the delay and who says it (the spider's file, people live, robots.txt, what the site has refused, its latency), and what the slot waits for: a worker, its delay,
one of its leases to end, any lease of the fleet to end (concurrent_requests_total), Retry-After, robots.txt, the time of a retry. The longest queues come first, of a few that have been due for
longest, that are due next and that are full: it costs Redis the same however much is pending. With --json each slot says, while the fleet has a limit, how much is in flight in all and how much may be (fleet). Named sites are shown whatever they wait for.

Examples:

  luacrawl slots blog
  luacrawl slots blog www.example.com
  luacrawl slots blog --limit 100 --json --redis redis://10.0.0.5:6379/0
  luacrawl slots set blog www.example.com delay=2 concurrency=1
  luacrawl slots unset blog www.example.com`

// slotsShown is how many slots are shown at most.
const slotsShown = 100

func (p *program) slotsCommand() *cli.Command {
	return &cli.Command{
		Name:        "slots",
		Usage:       "show what each site waits for, or set delay and concurrency of one",
		UsageText:   "luacrawl slots [SPIDER|FILE [SITE...]] [OPTION...]\n   luacrawl slots set [SPIDER|FILE] SITE NAME=VALUE... [OPTION...]\n   luacrawl slots unset [SPIDER|FILE] SITE [OPTION...]",
		ArgsUsage:   spiderOrFile,
		Description: slotsHelp,
		Flags:       targetFlags(&cli.IntFlag{Name: "limit", Value: 20, Usage: fmt.Sprintf("`N` sites that nobody names, at most %d", slotsShown)}, jsonFlag()),
		Action: func(c *cli.Context) error {
			if n := c.Int("limit"); n < 1 || n > slotsShown {
				return usagef("--limit %d: it is 1 to %d", n, slotsShown)
			}
			return p.onSpider(c, where.look, c.Args().First(), func(ctx context.Context, t *target) error { return p.slots(ctx, c, t) })
		},
		Subcommands: []*cli.Command{p.slotSetCommand(), p.slotUnsetCommand()},
	}
}

func (p *program) slots(ctx context.Context, c *cli.Context, t *target) error {
	control, err := t.client.Control(ctx, t.Spider, t.Keys)
	if err != nil {
		return err
	}
	var view scheduler.Slots
	if c.NArg() > 1 {
		view, err = t.namedSlots(ctx, c.Args().Tail())
	} else {
		view, err = t.client.Slots(ctx, t.Spider, t.Keys, c.Int("limit"))
		view.First = view.First[:min(len(view.First), c.Int("limit"))]
	}
	if err != nil {
		return err
	}
	list := slotTable(view.First, view.Time, control.State)
	if c.Bool("json") {
		out := p.listing(true)
		for _, s := range view.First {
			if err := out.add(listedSlot{shownSlot(s, view.Time), shownFleet(view)}, nil); err != nil {
				return out.end(err)
			}
		}
		return out.end(nil)
	}
	return p.printSlots(t, view, list, len(view.First), control.State)
}

// listedSlot is a slot beside what the whole fleet has in flight.
type listedSlot struct {
	topSlot
	Fleet *fleetBusy `json:"fleet,omitempty"` // while it has a limit
}

type fleetBusy struct {
	Busy  int64 `json:"in_flight"`
	Limit int64 `json:"concurrency"` // concurrent_requests_total
}

func shownFleet(view scheduler.Slots) *fleetBusy {
	if view.Total == 0 {
		return nil
	}
	return &fleetBusy{Busy: view.InFlight, Limit: view.Total}
}

func (p *program) printSlots(t *target, view scheduler.Slots, list table, n int, state scheduler.State) error {
	if n == 0 {
		t.logs.notice("nothing waits for " + t.String())
		return nil
	}
	for _, line := range list.lines(200, 0, n) {
		if _, err := io.WriteString(p.Out, strings.TrimPrefix(line.text(200), "  ")+"\n"); err != nil {
			return enough(err)
		}
	}
	held := ""
	if view.Total > 0 {
		held = fmt.Sprintf("; %s of %s requests in flight (concurrent_requests_total)", thousands(view.InFlight), thousands(view.Total))
	}
	if state != scheduler.Running {
		held += "; the spider is " + string(state)
	}
	t.logs.notice(fmt.Sprintf("%s: %s due, %s wait for their time, %s at their concurrency%s", plural(int(view.Due+view.Delayed+view.Full), "slot"),
		thousands(view.Due), thousands(view.Delayed), thousands(view.Full), held))
	return nil
}

// namedSlots looks at the sites that a person names.
func (t *target) namedSlots(ctx context.Context, words []string) (view scheduler.Slots, err error) {
	var first []scheduler.Slot
	for _, word := range words {
		slot, err := t.slotOf(word)
		if err != nil {
			return view, err
		}
		if slices.ContainsFunc(first, func(s scheduler.Slot) bool { return s.Name == slot }) {
			continue
		}
		if view, err = t.client.Slot(ctx, t.Spider, t.Keys, slot); err != nil {
			return view, err
		}
		first = append(first, view.First...)
	}
	view.First = first
	return view, nil
}

// slotOf is the slot that a person means.
func (t *target) slotOf(word string) (string, error) {
	slot, err := scheduler.SlotName(word)
	if err != nil {
		return "", usagef("%s: %w", t.Spider, err)
	}
	return slot, nil
}
