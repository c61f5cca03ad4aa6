package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const removeHelp = `Workers hand back what they run of it, at once, and leave it. Its queue, filter, items and revisions stay: pushed again, it goes
on where it stopped; "luacrawl flush" empties the queue.

Example:

  luacrawl remove hotnews`

func (p *program) removeCommand() *cli.Command {
	return &cli.Command{
		Name:        "remove",
		Usage:       "take a spider out of the fleet",
		UsageText:   "luacrawl remove SPIDER [OPTION...]",
		ArgsUsage:   spiderOrFile,
		Description: removeHelp,
		Flags:       append(registryFlags(), authorFlag(), yesFlag()),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usagef("remove takes one spider of the fleet")
			}
			return p.onFleet(c, func(ctx context.Context, f *fleet) error {
				spider := c.Args().First()
				entry, err := f.RegistryEntry(ctx, spider)
				if damaged := (*scheduler.DamagedEntryError)(nil); errors.As(err, &damaged) {
					entry.Version = damaged.Version
				} else if err != nil {
					return err
				}
				if !c.Bool("yes") {
					if err := p.confirm(ctx, fmt.Sprintf("%s on %s: no worker will run it any more; its queue, items and revisions stay. Go on?", spider, f.place)); err != nil {
						return err
					}
				}
				if err := f.Remove(ctx, spider, entry.Version, p.author(c)); err != nil {
					return err
				}
				f.logs.notice(fmt.Sprintf("%s: removed; \"luacrawl push\" brings it back", spider))
				return nil
			})
		},
	}
}
