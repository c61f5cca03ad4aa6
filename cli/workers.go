package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const workersHelp = `Every process of the fleet, by host, with what it runs. A "!" marks what a person should look at: a process of another luacrawl than this one,
one that has been silent (it is listed for an hour), a spider that is not at the fleet's current revision, with the reason.

Examples:

  luacrawl workers --redis redis://10.0.0.5:6379/0
  luacrawl workers blog --json`

func (p *program) workersCommand() *cli.Command {
	return &cli.Command{
		Name:        "workers",
		Usage:       "list the processes of the fleet and what they run",
		UsageText:   "luacrawl workers [SPIDER|FILE...] [OPTION...]",
		ArgsUsage:   spidersOrFiles,
		Description: workersHelp,
		Flags:       targetFlags(jsonFlag()),
		Action: func(c *cli.Context) error {
			return p.onSpiders(c, where.look, func(ctx context.Context, redis *place, l *logs, fleets []scheduler.Fleet) error {
				return p.workers(ctx, c, redis, l, fleets)
			})
		},
	}
}

func (p *program) workers(ctx context.Context, c *cli.Context, redis *place, l *logs, fleets []scheduler.Fleet) error {
	reports, err := redis.client.Workers(ctx)
	if err != nil {
		return err
	}
	entries, err := redis.client.Registry(ctx)
	if err != nil {
		l.Warn("part of the registry cannot be read", "error", err)
	}
	only := map[string]bool{}
	if c.NArg() > 0 {
		for _, f := range fleets {
			only[f.Spider] = true
		}
	}
	now, out := time.Now(), p.listing(c.Bool("json"))
	for _, r := range reports {
		w := shownWorker(r, registryOf(entries), readVersion().Version, now)
		if len(only) > 0 && !w.runsOnly(only) {
			continue
		}
		if err := out.add(w, func(to io.Writer) { writeWorker(to, w) }); err != nil {
			return out.end(err)
		}
	}
	if out.n == 0 && !out.json {
		l.notice("no process of the fleet on " + redis.String() + " has given a sign of life within the last hour")
	}
	return out.end(nil)
}

func writeWorker(out io.Writer, w fleetWorker) {
	fmt.Fprintf(out, "%s  pid %d  %s  luacrawl %s  up %s  heap %s  %d goroutines\n", oneLine(w.Host, 64), w.PID, oneLine(w.Kind, 20), oneLine(w.Version, 40),
		span(w.up()), bytesText(w.Heap), w.Goroutines)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range w.Spiders {
		mark := ""
		if s.Why != "" {
			mark = "!"
		}
		fmt.Fprintf(t, "  %s\t%s%s\t%s\t%s pages/s\t%d in flight\t%s errors\n", oneLine(s.Spider, 64), scheduler.ShortRevision(s.Revision), mark, s.State,
			rateText(s.Rate), s.InFlight, thousands(s.Errors))
	}
	_ = t.Flush() // listing reports what goes wrong
	for _, remark := range w.remarks() {
		fmt.Fprintf(out, "  ! %s\n", remark)
	}
}
