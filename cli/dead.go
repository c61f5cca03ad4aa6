package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const deadHelp = `A request, seed or item that a crawl has given up is a dead letter, with the reason, the error, and what it takes to try again. Letters
have a number, 1 being the oldest, which changes when older ones go, and an id, which does not.

Examples:

  luacrawl dead list blog --reason callback_error --limit 20
  luacrawl dead show blog 3
  luacrawl dead requeue blog --callback parse_post         after mending parse_post
  luacrawl dead requeue blog 0f3a5c7e9b1d
  luacrawl dead drop blog --url 'https://blog.example/tag/*' --yes`

func (p *program) deadCommand() *cli.Command {
	return &cli.Command{
		Name:        "dead",
		Usage:       "look into dead letters, put them back or drop them",
		UsageText:   "luacrawl dead list|show|requeue|drop SPIDER|FILE [NUMBER|ID...] [OPTION...]",
		Description: deadHelp,
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list dead letters: number, id, reason, time, URL and error", ArgsUsage: spiderOrFile,
				UsageText:   "luacrawl dead list SPIDER|FILE [OPTION...]",
				Description: "Example:\n\n  luacrawl dead list blog --reason callback_error --url /tag/ --json",
				Flags:       targetFlags(append(letterFlags(), jsonFlag())...),
				Action:      func(c *cli.Context) error { return p.onTarget(c, where.look, p.deadList(c)) },
			},
			{
				Name: "show", Usage: "show dead letters in full", ArgsUsage: spiderOrFile,
				UsageText:   "luacrawl dead show SPIDER|FILE NUMBER|ID... [OPTION...]",
				Description: "Example:\n\n  luacrawl dead show blog 3",
				Flags:       targetFlags(jsonFlag()),
				Action:      func(c *cli.Context) error { return p.onTarget(c, where.look, p.deadShow(c)) },
			},
			{
				Name: "requeue", Usage: "put requests and seeds back into the queue, as if they had never been tried", ArgsUsage: spiderOrFile,
				UsageText:   "luacrawl dead requeue SPIDER|FILE [NUMBER|ID...] [OPTION...]",
				Description: "Without a number, an id or a filter it is all of them. Items stay: only crawling their page again makes them anew.\n\nExample:\n\n  luacrawl dead requeue blog --reason callback_error",
				Flags:       targetFlags(append(letterFlags(), yesFlag(), jsonFlag())...),
				Action: func(c *cli.Context) error {
					return p.onTarget(c, where.change, p.deadMove(c, "put back into the queue", (*scheduler.Client).Requeue))
				},
			},
			{
				Name: "drop", Usage: "throw dead letters away", ArgsUsage: spiderOrFile,
				UsageText:   "luacrawl dead drop SPIDER|FILE [NUMBER|ID...] [OPTION...]",
				Description: "Without a number, an id or a filter it is all of them.\n\nExample:\n\n  luacrawl dead drop blog --kind item --yes",
				Flags:       targetFlags(append(letterFlags(), yesFlag(), jsonFlag())...),
				Action: func(c *cli.Context) error {
					return p.onTarget(c, where.change, p.deadMove(c, "thrown away", (*scheduler.Client).Drop))
				},
			},
		},
	}
}

func (p *program) deadList(c *cli.Context) func(context.Context, *target) error {
	return func(ctx context.Context, t *target) error {
		f, err := newLetterFilter(c)
		if err != nil {
			return err
		}
		out := p.listing(c.Bool("json"))
		err = f.each(ctx, t, func(l *scheduler.Letter) error {
			return out.add(shown(l), func(w io.Writer) { writeLetter(w, l) })
		})
		if out.n == 0 && err == nil && !c.Bool("json") {
			t.logs.notice("no such dead letters of " + t.String())
		}
		return out.end(err)
	}
}

func (p *program) deadShow(c *cli.Context) func(context.Context, *target) error {
	return func(ctx context.Context, t *target) error {
		f, err := newLetterFilter(c)
		if err != nil {
			return err
		}
		if !f.named() {
			return usagef("dead show takes the numbers or ids of letters, as \"luacrawl dead list\" shows them")
		}
		out := p.listing(c.Bool("json"))
		err = f.each(ctx, t, func(l *scheduler.Letter) error {
			return out.add(shown(l), func(w io.Writer) { writeFullLetter(w, l) })
		})
		return out.end(err)
	}
}

// mover is scheduler.Client's Requeue or Drop.
type mover func(*scheduler.Client, context.Context, scheduler.Fleet, func(*scheduler.Letter) bool) (scheduler.Swept, error)

// deadMove puts letters back or throws them away: exactly those that it has counted and asked about.
func (p *program) deadMove(c *cli.Context, done string, move mover) func(context.Context, *target) error {
	return func(ctx context.Context, t *target) error {
		f, err := newLetterFilter(c)
		if err != nil {
			return err
		}
		chosen, n := map[string]int{}, 0
		err = f.each(ctx, t, func(l *scheduler.Letter) error {
			chosen[l.ID]++
			n++
			return nil
		})
		if err != nil {
			return err
		}
		if n > 1 && !f.named() && !c.Bool("yes") {
			if err := p.confirm(ctx, fmt.Sprintf("%s of %s to be %s: go on?", plural(n, "dead letter"), t, done)); err != nil {
				return err
			}
		}
		swept, err := move(t.client, ctx, t.Fleet, func(l *scheduler.Letter) bool {
			chosen[l.ID]--
			return chosen[l.ID] >= 0
		})
		if c.Bool("json") {
			return firstError(p.printJSON(movedLetters{swept.Moved, swept.Gone, swept.Kept}), err)
		}
		tellSwept(t, swept, done)
		return err
	}
}

type movedLetters struct {
	Moved int            `json:"moved"`
	Gone  int            `json:"gone"` // somebody else took them at the same time
	Kept  map[string]int `json:"kept"` // why they stay -> how many
}

func tellSwept(t *target, s scheduler.Swept, done string) {
	t.logs.notice(fmt.Sprintf("%s of %s %s", plural(s.Moved, "dead letter"), t, done))
	for _, why := range slices.Sorted(maps.Keys(s.Kept)) {
		t.logs.notice(fmt.Sprintf("%s left where they are: %s", thousands(int64(s.Kept[why])), why))
	}
	if s.Gone > 0 {
		t.logs.notice(fmt.Sprintf("%s had gone by then", plural(s.Gone, "letter")))
	}
}
