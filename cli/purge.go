package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const purgeHelp = `Requests that a revision older than the one named has made leave the queue, pending and delayed ones alike. A revision is as old as the
last time that the fleet was set to it. Each becomes a dead letter with the reason "purged", so that the counts of status balance and "luacrawl dead requeue" brings
them back. What is in flight is finished, and seeds stay. It counts and asks first; the crawl goes on meanwhile.

Examples:

  luacrawl purge blog --older-than current
  luacrawl purge blog --older-than 3f9a01c2d4e5 --yes
  luacrawl dead requeue blog --reason purged               brings them back`

func (p *program) purgeCommand() *cli.Command {
	return &cli.Command{
		Name:        "purge",
		Usage:       "take requests of older revisions out of the queue",
		UsageText:   "luacrawl purge SPIDER|FILE --older-than REVISION [OPTION...]",
		ArgsUsage:   spiderOrFile,
		Description: purgeHelp,
		Flags: targetFlags(
			&cli.StringFlag{Name: "older-than", Usage: "`REVISION` whose requests stay, as those of all younger ones: at least 4 digits, or current"},
			&cli.BoolFlag{Name: "unknown", Usage: "also requests of no revision, and of revisions that were never pushed", DisableDefaultText: true},
			yesFlag(), authorFlag(), jsonFlag(),
		),
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usagef("purge takes one spider")
			}
			if c.String("older-than") == "" {
				return usagef("purge takes --older-than REVISION, or --older-than current; \"luacrawl log SPIDER\" lists them")
			}
			return p.onTarget(c, where.change, func(ctx context.Context, t *target) error { return p.purge(c, ctx, t) })
		},
	}
}

func (p *program) purge(c *cli.Context, ctx context.Context, t *target) error {
	events, err := t.client.History(ctx, t.Spider)
	if err != nil {
		return err
	}
	purge, err := scheduler.Older(events, c.String("older-than"))
	if err != nil {
		return fmt.Errorf("purging %s: %w", t.Spider, err)
	}
	purge.Unknown, purge.Author = c.Bool("unknown"), p.author(c)
	count, err := t.client.CountPurge(ctx, t.Fleet, purge)
	if err != nil {
		return err
	}
	if count.Requests > 0 && !c.Bool("yes") {
		question := fmt.Sprintf("%s\n  goes   %s: %s\n%sgo on?", t, plural(count.Requests, "request"), byRevision(count), strangers(count, "  stays  %s\n"))
		if err := p.confirm(ctx, question); err != nil {
			return err
		}
	}
	done := scheduler.Purged{Unknown: count.Unknown}
	if count.Requests > 0 {
		if done, err = t.client.Purge(ctx, t.Fleet, purge); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return p.printJSON(purgedRequests{done.Requests, done.ByRevision, done.Unknown})
	}
	tellPurged(t, done)
	return nil
}

type purgedRequests struct {
	Requests   int            `json:"requests"`
	ByRevision map[string]int `json:"by_revision"`
	Unknown    int            `json:"unknown"` // that stay because nobody knows their revision
}

func tellPurged(t *target, done scheduler.Purged) {
	if done.Requests == 0 {
		t.logs.notice(fmt.Sprintf("no request of %s is of an older revision", t))
	} else {
		t.logs.notice(fmt.Sprintf("%s of %s purged (%s); \"luacrawl dead requeue %s --reason %s\" brings them back",
			plural(done.Requests, "request"), t, byRevision(done), t.Spider, scheduler.ReasonPurged))
	}
	if text := strangers(done, "%s stay (--unknown takes them too)"); text != "" {
		t.logs.notice(text)
	}
}

// byRevision says how many requests are of which revision, the most first.
func byRevision(p scheduler.Purged) string {
	revisions := slices.SortedFunc(maps.Keys(p.ByRevision), func(a, b string) int {
		return cmp.Or(p.ByRevision[b]-p.ByRevision[a], strings.Compare(a, b))
	})
	parts := make([]string, 0, len(revisions))
	for i, r := range revisions {
		if i == 5 {
			parts = append(parts, fmt.Sprintf("and %d more revisions", len(revisions)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s of %s", thousands(int64(p.ByRevision[r])), cmp.Or(oneLine(r, 64), "no revision")))
	}
	return strings.Join(parts, ", ")
}

// strangers says how many requests stay because nobody knows their revision; "" for none.
func strangers(p scheduler.Purged, format string) string {
	if p.Unknown == 0 {
		return ""
	}
	return fmt.Sprintf(format, plural(p.Unknown, "request")+" of revisions that were never pushed")
}
