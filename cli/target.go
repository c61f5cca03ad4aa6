package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

// spiderOrFile is the argument of a command that works on a crawl's keys.
const spiderOrFile = "SPIDER|FILE"

// target is the crawl whose keys a command looks into or changes.
type target struct {
	scheduler.Fleet
	redis  *place
	client *scheduler.Client
	logs   *logs
	stop   *interrupts
}

func (t *target) String() string { return t.Spider + " on " + t.redis.String() }

// targetFlags are the flags of every command with a target.
func targetFlags(more ...cli.Flag) []cli.Flag {
	return slices.Concat(placeFlags(), spiderFlags(), []cli.Flag{
		&cli.BoolFlag{Name: "q", Aliases: []string{"quiet"}, Usage: "only warnings and errors", DisableDefaultText: true},
	}, more)
}

// yesFlag is for commands that ask.
func yesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask", DisableDefaultText: true}
}

// opener connects to the Redis that a command names: where.look, where.change or where.open.
type opener func(where, context.Context, *logs) (*place, error)

// change connects for a command that changes what is there: a folder without a crawl stays as it is.
func (w where) change(ctx context.Context, l *logs) (*place, error) {
	if w.url == "" {
		if _, err := os.Stat(w.dir); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("no crawl in data folder %s (start one, or name another with --data or --redis)", w.dir)
		}
	}
	return w.open(ctx, l)
}

// onTarget finds the crawl that the first argument names and does a command's work on it.
func (p *program) onTarget(c *cli.Context, open opener, work func(context.Context, *target) error) error {
	if c.NArg() == 0 {
		return usagef("%s takes a spider: its name, or its file. See \"luacrawl %s --help\"", commandPath(c), commandPath(c))
	}
	return p.onSpider(c, open, c.Args().First(), work)
}

// onSpider is onTarget with a spider's name or file; "" is the only one that there is.
func (p *program) onSpider(c *cli.Context, open opener, arg string, work func(context.Context, *target) error) (err error) {
	l, err := newLogs(p.screen, c)
	if err != nil {
		return err
	}
	var name string
	var keys scheduler.Keys
	if arg != "" {
		if name, keys, err = p.namedBy(c, l, arg); err != nil {
			return err
		}
	}
	stop := p.interruptible(&logs{quiet: true}) // there are no running pages to speak of
	defer stop.end()
	redis, err := open(p.where(c), stop.ctx, l)
	if err != nil {
		return stop.verdict(err, l)
	}
	defer func() { err = stop.verdict(errors.Join(err, redis.close()), l) }()
	if arg == "" {
		if name, err = redis.only(stop.ctx); err != nil {
			return err
		}
	}
	t := &target{redis: redis, client: redis.client, logs: l, stop: stop}
	if t.Fleet, err = redis.client.Fleet(stop.ctx, name, keys); err != nil {
		return err
	}
	if filepath.Ext(arg) != ".lua" {
		if err := t.known(stop.ctx); err != nil {
			return err
		}
	}
	return work(stop.ctx, t)
}

// only is the one spider that this Redis knows.
func (p *place) only(ctx context.Context) (string, error) {
	names, err := p.names(ctx)
	switch {
	case err != nil:
		return "", err
	case len(names) == 1:
		return names[0], nil
	case len(names) == 0:
		return "", fmt.Errorf("no spider has run on %s or was pushed there", p)
	}
	return "", usagef("which spider? %s has %s", p, listed(names))
}

// known refuses a name that no spider has: it is mistyped. A file's spider may have run nowhere yet.
func (t *target) known(ctx context.Context) error {
	names, err := t.redis.names(ctx)
	if err != nil || slices.Contains(names, t.Spider) {
		return err
	}
	s, err := t.client.Status(ctx, t.Spider, t.Keys)
	if err != nil || s.Items+s.InHand+s.DeadLetters+s.Seen > 0 { // of scrapy-redis, say
		return err
	}
	return unknownSpider(t.Spider, t.redis, names)
}

// commandPath is a command as it is typed, without the program: "dead list".
func commandPath(c *cli.Context) string {
	var path []string
	for _, ctx := range c.Lineage() {
		if ctx.Command != nil && ctx.Command.Name != "" && ctx.Command.Name != c.App.Name && !slices.Contains(path, ctx.Command.Name) {
			path = append([]string{ctx.Command.Name}, path...)
		}
	}
	return strings.Join(path, " ")
}
