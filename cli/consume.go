package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const consumeHelp = `Takes items out of the list, or off the stream for a group of consumers, a batch at a time, oldest first. COMMAND is started for each batch,
which it reads from its standard input, one JSON object a line; when it ends with 0 the batch is done. Without a COMMAND the batch goes
to standard output and is done when all of it is written: what reads a pipe can still lose it, so use a COMMAND where that matters.

What is not done is not lost: when COMMAND fails, standard output is closed or the consumer is interrupted, its batch goes back to
the head and comes first next time. What a consumer held that was killed goes to the next one, when nothing was heard of it for
--hold. So an item comes at least once, and twice only if a consumer was killed or could not reach Redis: store by a key of the item,
or by item_id (setting item_meta). Any number of consumers share the work; start more by starting the command again.

A list's items are gone when they are done. A stream's stay until its maxlen takes them, and each --group gets every item.
Without --follow it ends when nothing is left, after waiting for --hold if other consumers have items in their hands.
Interrupting it lets COMMAND finish its batch; a second time ends COMMAND too.

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

func (p *program) consume(ctx context.Context, c *cli.Context, t *target) (err error) {
	consumer := t.client.Consume(t.Fleet, scheduler.ConsumerOptions{Name: p.Worker, Group: c.String("group"), Hold: c.Duration("hold")})
	kind, err := consumer.Kind(ctx)
	if err != nil {
		return err
	}
	if kind == "list" && c.IsSet("group") {
		return usagef("--group is for a stream of items, and those of %s are a list", t)
	}
	w := &consumption{target: t, consumer: consumer, batch: c.Int("batch"), follow: c.Bool("follow")}
	w.work = p.printBatch
	if command := c.Args().Tail(); len(command) > 0 {
		w.work = p.commandOf(t, command)
	}
	last, cancel := outlast(ctx)
	defer cancel()
	defer func() { err = errors.Join(err, consumer.Close(last)) }()
	err = w.run(ctx, last)
	t.logs.notice(fmt.Sprintf("%s consumed", plural(w.done, "item")))
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// lastWords is how long Redis is waited for after an interrupt.
const lastWords = 10 * time.Second

// outlast makes a context that ends some time after ctx: what has been worked on is still noted in Redis.
func outlast(ctx context.Context) (context.Context, context.CancelFunc) {
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(lastWords, cancel)
		context.AfterFunc(last, func() { timer.Stop() })
	})
	return last, func() { stop(); cancel() }
}

// consumption is a run of consume.
type consumption struct {
	*target
	consumer *scheduler.Consumer
	batch    int
	follow   bool
	work     func(ctx context.Context, items []string) error
	done     int

	waiting time.Time // since when there is nothing but what others have in their hands; zero when there is
}

// run works until nothing is left, or with follow until ctx ends. last is for what must be noted then.
func (w *consumption) run(ctx, last context.Context) error {
	for ctx.Err() == nil {
		taken, err := w.consumer.Take(ctx, w.batch)
		if err != nil {
			_, back := w.consumer.Back(last) // the answer may be lost, and the items in our hands
			return firstError(err, back)
		}
		if taken.Lost > 0 {
			w.logs.Warn("items were thrown away by the stream's maxlen before they were done", "items", taken.Lost)
		}
		if len(taken.Items) == 0 {
			if w.over(taken) || !pause(ctx, followEvery) {
				break
			}
			continue
		}
		w.waiting = time.Time{}
		if err := w.one(ctx, last, taken.Items); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// one works on a batch, and has it back unless all went well.
func (w *consumption) one(ctx, last context.Context, items []string) error {
	stop := w.keep(last)
	err := w.work(ctx, items)
	stop()
	if err != nil {
		n, back := w.consumer.Back(last)
		if back != nil {
			return errors.Join(err, back)
		}
		if ctx.Err() == nil && !errors.Is(err, syscall.EPIPE) {
			err = fmt.Errorf("%w; its %s went back and will come first", err, plural(n, "item"))
		}
		return err
	}
	kept, err := w.consumer.Done(last)
	if err != nil {
		return err
	}
	if !kept {
		w.logs.Warn("items took longer than --hold without a sign of life and were given to another consumer too", "items", len(items))
	}
	w.done += len(items)
	return nil
}

// keep gives signs of life until it is stopped.
func (w *consumption) keep(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for pause(ctx, w.consumer.Every()) {
			if err := w.consumer.Keep(ctx); err != nil && ctx.Err() == nil {
				w.logs.Warn("no sign of life reached redis", "error", err)
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// over reports that nothing more is to be waited for.
func (w *consumption) over(t scheduler.Taken) bool {
	if w.follow {
		if alone := w.redis.embedded() && !w.redis.joined() && t.Others == 0; alone {
			w.logs.notice("no luacrawl runs in the folder: nothing more can come")
			return true
		}
		return false
	}
	switch {
	case t.Others == 0:
		return true
	case w.waiting.IsZero():
		w.waiting = time.Now()
		w.logs.notice(fmt.Sprintf("%s in the hands of other consumers: waiting up to %s for those that were killed", plural(int(t.Others), "item"), w.consumer.Hold()))
	case time.Since(w.waiting) > w.consumer.Hold()+time.Second:
		w.logs.notice(fmt.Sprintf("%s left to other consumers, who are alive", plural(int(t.Others), "item")))
		return true
	}
	return false
}

// pause waits and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
