package cli

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/urfave/cli/v2"
)

// followEvery is how often --follow looks for new items.
const followEvery = 300 * time.Millisecond

const itemsHelp = `Items are printed as they are stored, oldest first: one JSON object a line, which is what --json means here too.
--follow goes on as items come, until it is interrupted. It counts on the list only growing: with another program that
takes items out of it, some may pass unseen.

Examples:

  luacrawl items blog > posts.jsonl
  luacrawl items blog --tail 10 --follow
  luacrawl items spiders/blog.lua --count --redis redis://10.0.0.5:6379/0`

func (p *program) itemsCommand() *cli.Command {
	return &cli.Command{
		Name:        "items",
		Usage:       "print the items of a crawl",
		UsageText:   "luacrawl items SPIDER|FILE [OPTION...]",
		ArgsUsage:   spiderOrFile,
		Description: itemsHelp,
		Flags: targetFlags(
			&cli.BoolFlag{Name: "count", Usage: "print only how many there are", DisableDefaultText: true},
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on as items come", DisableDefaultText: true},
			&cli.Int64Flag{Name: "limit", Usage: "at most `N` items"},
			&cli.Int64Flag{Name: "tail", Usage: "begin with the `N` last items"},
			jsonFlag(),
		),
		Action: func(c *cli.Context) error {
			for _, name := range []string{"limit", "tail"} {
				if c.IsSet(name) && c.Int64(name) < 1 {
					return usagef("--%s %d: it is 1 or more", name, c.Int64(name))
				}
			}
			if c.NArg() > 1 {
				return usagef("items takes one spider")
			}
			return p.onTarget(c, where.look, func(ctx context.Context, t *target) error { return p.items(ctx, c, t) })
		},
	}
}

func (p *program) items(ctx context.Context, c *cli.Context, t *target) error {
	total, err := t.client.ItemCount(ctx, t.Spider, t.Keys)
	switch {
	case err != nil:
		return err
	case c.Bool("count") && c.Bool("json"):
		return p.printJSON(map[string]any{"spider": t.Spider, "items": total})
	case c.Bool("count"):
		_, err := fmt.Fprintln(p.Out, total)
		return err
	}
	r := itemReader{target: t, out: bufio.NewWriter(p.Out), most: math.MaxInt64}
	if tail := c.Int64("tail"); tail > 0 {
		r.at = max(0, total-tail)
	}
	follow := c.Bool("follow")
	if !follow {
		r.most = total - r.at
	}
	if limit := c.Int64("limit"); limit > 0 {
		r.most = min(r.most, limit)
	}
	if err := r.read(ctx); err != nil || !follow {
		return enough(err)
	}
	if t.redis.embedded() && !t.redis.joined() {
		t.logs.notice("no luacrawl runs in the folder: nothing more can come")
		return nil
	}
	return enough(r.follow(ctx))
}

// itemReader prints items from a place of the list on.
type itemReader struct {
	*target
	out  *bufio.Writer
	at   int64 // the next item; 0 is the oldest
	most int64 // that may still be printed
}

// read prints what is there.
func (r *itemReader) read(ctx context.Context) error {
	if r.most <= 0 {
		return nil
	}
	for item, err := range r.client.ItemsFrom(ctx, r.Spider, r.Keys, r.at) {
		if err != nil {
			return firstError(r.out.Flush(), err)
		}
		r.out.WriteString(item)
		if err := r.out.WriteByte('\n'); err != nil {
			return err
		}
		r.at++
		if r.most--; r.most == 0 {
			break
		}
	}
	return r.out.Flush()
}

// follow prints items as they come, until ctx ends or there have been enough.
func (r *itemReader) follow(ctx context.Context) error {
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for r.most > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		n, err := r.client.ItemCount(ctx, r.Spider, r.Keys)
		if err != nil {
			return err
		}
		if n < r.at {
			r.logs.notice(fmt.Sprintf("items were taken out of the list (%d of %d are left): going on at its end", n, r.at))
			r.at = n
		}
		if err := r.read(ctx); err != nil {
			return err
		}
	}
	return nil
}
