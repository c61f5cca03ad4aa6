package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const flushHelp = `The queue, the filter and the cookies of a crawl go: the next run starts over, logged in nowhere, and the counts of status begin at zero. Seeds stay, and items, dead letters
and counters unless they are named. It says what will go, asks, and refuses while a worker is alive.

Examples:

  luacrawl flush blog
  luacrawl flush blog --items --dead --stats --yes
  luacrawl flush spiders/blog.lua --redis redis://10.0.0.5:6379/0`

func (p *program) flushCommand() *cli.Command {
	return &cli.Command{
		Name:        "flush",
		Usage:       "forget the queue, the filter and the cookies of a crawl",
		UsageText:   "luacrawl flush SPIDER|FILE [OPTION...]",
		ArgsUsage:   spiderOrFile,
		Description: flushHelp,
		Flags: targetFlags(
			&cli.BoolFlag{Name: "items", Usage: "delete the items too", DisableDefaultText: true},
			&cli.BoolFlag{Name: "dead", Usage: "delete the dead letters too", DisableDefaultText: true},
			&cli.BoolFlag{Name: "stats", Usage: "delete the counters too", DisableDefaultText: true},
			&cli.BoolFlag{Name: "force", Usage: "even while a worker is alive: what it fetches at the moment is lost", DisableDefaultText: true},
			yesFlag(), authorFlag(),
		),
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usagef("flush takes one spider")
			}
			o := scheduler.FlushOptions{Force: c.Bool("force"), Items: c.Bool("items"), Dead: c.Bool("dead"), Stats: c.Bool("stats"), Author: p.author(c)}
			return p.onTarget(c, where.change, func(ctx context.Context, t *target) error { return p.flush(ctx, t, o, c.Bool("yes")) })
		},
	}
}

func (p *program) flush(ctx context.Context, t *target, o scheduler.FlushOptions, yes bool) error {
	s, err := t.client.Status(ctx, t.Spider, t.Keys)
	if err != nil {
		return err
	}
	if len(s.Workers) > 0 && !o.Force {
		return fmt.Errorf("%w: %s; stop it first, or give --force (one that was killed counts as alive for another while)",
			scheduler.ErrFleetAlive, strings.Join(s.Workers, ", "))
	}
	goes, stays := flushed(s, o)
	if !yes {
		if err := p.confirm(ctx, fmt.Sprintf("%s\n  goes   %s\n  stays  %s\ngo on?", t, goes, stays)); err != nil {
			return err
		}
	}
	o.Message = goes
	if err := t.client.Flush(ctx, t.Spider, t.Keys, o); err != nil {
		return err
	}
	t.logs.notice(fmt.Sprintf("flushed %s: %s", t, goes))
	return nil
}

// flushed says what a flush takes and what it leaves.
func flushed(s scheduler.Status, o scheduler.FlushOptions) (goes, stays string) {
	gone := []string{
		thousands(s.Pending) + " pending", thousands(s.Delayed) + " delayed", thousands(s.InFlight) + " in flight",
		plural(int(s.Seen), "fingerprint"),
	}
	if s.Cookies > 0 {
		gone = append(gone, plural(int(s.Cookies), "cookie"))
	}
	left := []string{plural(int(s.Seeds), "seed")}
	for _, part := range []struct {
		what string
		goes bool
	}{{plural(int(s.Items+s.InHand), "item"), o.Items}, {plural(int(s.DeadLetters), "dead letter"), o.Dead}, {"the counters", o.Stats}} {
		if part.goes {
			gone = append(gone, part.what)
		} else {
			left = append(left, part.what)
		}
	}
	return strings.Join(gone, ", "), strings.Join(left, ", ")
}
