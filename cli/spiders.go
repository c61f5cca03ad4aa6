package cli

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const spidersHelp = `It lists what the fleet runs: state, current revision, who pushed it, and how many of the live workers run that revision.

Examples:

  luacrawl spiders --redis redis://10.0.0.5:6379/0
  luacrawl spiders --json`

func (p *program) spidersCommand() *cli.Command {
	return &cli.Command{
		Name:        "spiders",
		Usage:       "list the spiders of the fleet",
		UsageText:   "luacrawl spiders [OPTION...]",
		Description: spidersHelp,
		Flags:       append(registryFlags(), jsonFlag()),
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usagef("spiders takes no arguments; \"luacrawl show %s\" shows one", c.Args().First())
			}
			return p.onFleet(c, func(ctx context.Context, f *fleet) error { return p.spiders(ctx, f, c.Bool("json")) })
		},
	}
}

// listedSpider is a spider of the fleet as --json prints it.
type listedSpider struct {
	Spider   string           `json:"spider"`
	State    scheduler.State  `json:"state"`
	Revision string           `json:"revision"`
	Main     string           `json:"main"`
	Policy   scheduler.Policy `json:"policy"`
	Author   string           `json:"author"`
	Message  string           `json:"message"`
	Time     time.Time        `json:"time"`
	Version  int64            `json:"version"`
	Workers  int              `json:"workers"` // alive and with the spider
	Current  int              `json:"current"` // of those, with the current revision
}

func (p *program) spiders(ctx context.Context, f *fleet, asJSON bool) error {
	entries, damaged := f.Registry(ctx)
	if damaged != nil && len(entries) == 0 {
		return damaged
	}
	workers, err := f.Workers(ctx)
	if err != nil {
		return err
	}
	list := []listedSpider{} // never null in JSON
	for _, e := range entries {
		list = append(list, listSpider(e, workers))
	}
	if asJSON {
		return firstError(p.printJSON(list), damaged)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintf(p.Out, "no spider has been pushed to %s\n", f.place)
		return firstError(err, damaged)
	}
	t := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SPIDER\tSTATE\tREVISION\tPUSHED\tBY\tWORKERS\tMESSAGE")
	for _, s := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d/%d\t%s\n", s.Spider, s.State, short(s.Revision), s.Time.Local().Format(time.DateTime), s.Author, s.Current, s.Workers, oneLine(s.Message, 60))
	}
	return firstError(t.Flush(), damaged)
}

func listSpider(e scheduler.Entry, workers []scheduler.WorkerReport) listedSpider {
	s := listedSpider{
		Spider: e.Spider, State: e.State, Revision: e.Revision, Main: e.Main, Policy: e.Policy, Author: e.Author, Message: e.Message,
		Time: e.Time, Version: e.Version,
	}
	for _, w := range workers {
		r := reportOf(w, e.Spider)
		if r == nil || !w.Alive {
			continue
		}
		s.Workers++
		if short(r.Revision) == short(e.Revision) {
			s.Current++
		}
	}
	return s
}
