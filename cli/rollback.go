package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"luacrawl/luabind"
	"luacrawl/scheduler"
)

const rollbackHelp = `Without REV it goes back to the revision that the fleet ran before the current one. The revision is loaded first: one that no
longer loads is refused.

Examples:

  luacrawl rollback hotnews --wait
  luacrawl rollback hotnews 3f9c2a -m "the new selector misses the date"`

func (p *program) rollbackCommand() *cli.Command {
	return &cli.Command{
		Name:        "rollback",
		Usage:       "make the fleet run an earlier revision of a spider",
		UsageText:   "luacrawl rollback SPIDER [REV] [OPTION...]",
		ArgsUsage:   spiderOrFile,
		Description: rollbackHelp,
		Flags: append(registryFlags(),
			&cli.StringFlag{Name: "m", Aliases: []string{"message"}, Usage: "`TEXT` for the history"},
			authorFlag(),
			&cli.BoolFlag{Name: "wait", Usage: "until every host has confirmed it; fails when one cannot", DisableDefaultText: true},
			&cli.DurationFlag{Name: "wait-timeout", Value: 10 * time.Second, Usage: "how long --wait waits, as `TIME`"},
		),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 && c.NArg() != 2 {
				return usagef("rollback takes a spider of the fleet, and maybe a revision")
			}
			return p.onFleet(c, func(ctx context.Context, f *fleet) error {
				how := &pushing{fleet: f, program: p, author: p.author(c), message: c.String("m")}
				if c.Bool("wait") {
					how.wait = c.Duration("wait-timeout")
				}
				return how.back(ctx, c.Args().First(), c.Args().Get(1))
			})
		},
	}
}

// back makes an earlier revision the current one.
func (p *pushing) back(ctx context.Context, spider, rev string) error {
	was, err := p.RegistryEntry(ctx, spider)
	if err != nil {
		return err
	}
	if rev == "" {
		if rev, err = p.before(ctx, was); err != nil {
			return err
		}
	}
	r, err := p.revision(ctx, rev, spider)
	if err != nil {
		return err
	}
	if r.ID == was.Revision {
		p.logs.notice(fmt.Sprintf("%s: the fleet runs revision %s already", spider, short(r.ID)))
		return p.confirmed(ctx, spider, r.ID, was.Version)
	}
	if err := loads(r); err != nil {
		return err
	}
	entry := was
	entry.Revision, entry.Main, entry.Author, entry.Message, entry.Time = r.ID, r.Main, p.author, p.message, time.Now().UTC()
	version, err := p.Flip(ctx, entry, was.Version, "rollback")
	if err != nil {
		return err
	}
	p.logs.notice(fmt.Sprintf("%s: back to revision %s%s", spider, short(r.ID), after(was, spider, p.state(ctx, was, spider))))
	return p.confirmed(ctx, spider, r.ID, version)
}

// before is the revision that the fleet ran before the current one.
func (p *pushing) before(ctx context.Context, now scheduler.Entry) (string, error) {
	events, err := p.History(ctx, now.Spider)
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(events) {
		if e.Revision != "" && e.Revision != now.Revision {
			return e.Revision, nil
		}
	}
	return "", fmt.Errorf("spider %s has no earlier revision than %s", now.Spider, short(now.Revision))
}

// loads refuses a revision that this luacrawl cannot run.
func loads(r *scheduler.Revision) error {
	s, err := luabind.LoadRevision(r, luabind.Options{})
	if err != nil {
		return fmt.Errorf("revision %s of %s does not load: %w", short(r.ID), r.Spider, err)
	}
	s.Close()
	return nil
}
