package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const consumeHelp = `Takes items out of the list, or off the stream for a group of consumers, a batch at a time, oldest first. COMMAND is started for each batch,
which it reads from its standard input, one JSON object a line; when it ends with 0 the batch is done. Without a COMMAND the batch goes
to standard output and is done when all of it is written: what reads a pipe can still lose it, so use a COMMAND where that matters.

What is not done is not lost: when COMMAND fails, standard output is closed or the consumer is interrupted, its batch goes back to
the head and comes first next time. What a consumer held that was killed goes to the next one, when nothing was heard of it for
--hold. So an item comes at least once, and twice only if a consumer was killed, failed or could not reach Redis: store by a key of the
item, or by item_id (setting item_meta). Any number of consumers share the work; start more by starting the command again.

A list's items are gone when they are done. A stream's stay until its maxlen takes them, and each --group gets every item. When a crawl
keeps a stream in place of a list, what killed consumers held of the list goes to the next one, of any group.
Without --follow it ends when nothing is left, after waiting for --hold if other consumers have items in their hands. With it or without,
the first COMMAND that fails ends it with 1. Interrupting it, with Ctrl-C too, lets COMMAND finish its batch; a second time ends COMMAND and
what it has started.

Examples:

  luacrawl items consume blog > posts.jsonl
  luacrawl items consume blog --follow --batch 500 -- ./load.sh
  luacrawl items consume blog --group search --follow -- sh -c 'curl -sf --data-binary @- http://search.example/bulk'`

// Bounds of consume's flags.
const (
	maxBatch = 10_000
	maxHold  = 24 * time.Hour
)

func (p *program) consumeCommand() *cli.Command {
	return &cli.Command{
		Name:        "consume",
		Usage:       "take items out, each once it has been worked on",
		UsageText:   "luacrawl items consume SPIDER|FILE [OPTION...] [-- COMMAND [ARGUMENT...]]",
		ArgsUsage:   spiderOrFile,
		Description: consumeHelp,
		Flags: targetFlags(
			&cli.IntFlag{Name: "batch", Value: 100, Usage: "at most `N` items at a time"},
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on as items come", DisableDefaultText: true},
			&cli.StringFlag{Name: "group", Value: scheduler.DefaultGroup, Usage: "`GROUP` of a stream's consumers"},
			&cli.DurationFlag{Name: "hold", Value: 30 * time.Second, Usage: "how long items stay with a consumer that gives no sign of life, as `TIME`"},
		),
		Action: func(c *cli.Context) error {
			switch batch, hold := c.Int("batch"), c.Duration("hold"); {
			case batch < 1 || batch > maxBatch:
				return usagef("--batch %d: it is 1 to %d", batch, maxBatch)
			case hold < 100*time.Millisecond || hold > maxHold:
				return usagef("--hold %s: it is 100ms to 24h", hold)
			case c.String("group") == "":
				return usagef("--group: a group has a name")
			}
			if command := c.Args().Get(1); command != "" {
				if _, err := exec.LookPath(command); err != nil {
					return usagef("command %w", err)
				}
			}
			return p.onTarget(c, where.change, func(ctx context.Context, t *target) error { return p.consume(ctx, c, t) })
		},
	}
}

func (p *program) consume(ctx context.Context, c *cli.Context, t *target) error {
	consumer := t.client.Consume(t.Fleet, scheduler.ConsumerOptions{Name: p.Worker, Group: c.String("group"), Hold: c.Duration("hold")})
	kind, err := consumer.Kind(ctx)
	if err != nil {
		return err
	}
	if kind == "list" && c.IsSet("group") {
		return usagef("--group is for a stream of items, and those of %s are a list", t)
	}
	w := &consumption{target: t, consumer: consumer, batch: c.Int("batch"), follow: c.Bool("follow"), patience: lastWords}
	w.work = p.printBatch
	if command := c.Args().Tail(); len(command) > 0 {
		w.work = p.commandOf(t, command)
	}
	err = w.run(ctx)
	t.logs.notice(fmt.Sprintf("%s consumed", plural(w.done, "item")))
	last, cancel := outlast(ctx, lastWords)
	defer cancel()
	return errors.Join(err, consumer.Close(last))
}
