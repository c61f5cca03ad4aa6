package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const logHelp = `The newest is first: pushes, rollbacks, removals, what people have told the spider (pause, settings), and what of its crawl was thrown
away (flush, purge). 1000 are kept; of more the oldest go, pushes and rollbacks last.

Examples:

  luacrawl log hotnews
  luacrawl log hotnews --limit 5 --json`

func (p *program) logCommand() *cli.Command {
	return &cli.Command{
		Name:        "log",
		Usage:       "show the history of a spider of the fleet",
		UsageText:   "luacrawl log SPIDER [OPTION...]",
		ArgsUsage:   spiderOrFile,
		Description: logHelp,
		Flags:       append(registryFlags(), &cli.IntFlag{Name: "limit", Usage: "the newest `N` only"}, jsonFlag()),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usagef("log takes one spider of the fleet")
			}
			return p.onFleet(c, func(ctx context.Context, f *fleet) error {
				return p.history(ctx, f, c.Args().First(), c.Int("limit"), c.Bool("json"))
			})
		},
	}
}

// listedEvent is an event as --json prints it.
type listedEvent struct {
	scheduler.Event
	Version int64 `json:"version"`
	Current bool  `json:"current"` // its revision is the one that the fleet runs
}

func (p *program) history(ctx context.Context, f *fleet, spider string, limit int, asJSON bool) error {
	events, err := f.History(ctx, spider)
	if err != nil {
		return err
	}
	if len(events) == 0 {
		return fmt.Errorf("no spider %s has been pushed to %s", spider, f.place)
	}
	entry, _ := f.RegistryEntry(ctx, spider) // removed, or damaged: no revision is current then
	slices.Reverse(events)
	if limit > 0 {
		events = events[:min(limit, len(events))]
	}
	list := p.listing(asJSON)
	t := tabwriter.NewWriter(list.w, 0, 0, 2, ' ', 0)
	for _, e := range events {
		one := listedEvent{e, e.Version, e.Version == entry.Version && e.Revision != ""}
		if err = list.add(one, func(io.Writer) { writeEvent(t, one) }); err != nil {
			break
		}
	}
	return list.end(firstError(err, t.Flush()))
}

func writeEvent(w io.Writer, e listedEvent) {
	mark := ""
	if e.Current {
		mark = "*"
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e.Time.Local().Format(time.DateTime), e.What, short(e.Revision)+mark, e.Author, eventDetail(e.Event), oneLine(e.Message, 160))
}

// eventDetail is what an event says beside the revision.
func eventDetail(e scheduler.Event) string {
	var parts []string
	if e.State != "" {
		parts = append(parts, string(e.State))
	}
	if e.Policy == scheduler.FinishOld {
		parts = append(parts, string(e.Policy))
	}
	if e.Slot != "" {
		parts = append(parts, oneLine(e.Slot, 64))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Settings)) {
		parts = append(parts, name+"="+e.Settings[name])
	}
	return strings.Join(parts, " ")
}
