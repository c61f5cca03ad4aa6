package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

// spidersOrFiles is the argument of a command that works on several crawls.
const spidersOrFiles = "SPIDER|FILE..."

// allFlag is for commands that work on several crawls.
func allFlag() cli.Flag {
	return &cli.BoolFlag{Name: "all", Usage: "every spider that has run or was pushed", DisableDefaultText: true}
}

// names are the spiders that this Redis knows: those that have run and those that were pushed, by name.
func (p *place) names(ctx context.Context) ([]string, error) {
	ran, err := p.client.Spiders(ctx)
	if err != nil {
		return nil, err
	}
	pushed, err := p.client.Registry(ctx)
	if err != nil && len(pushed) == 0 {
		return nil, err
	}
	for _, e := range pushed {
		ran = append(ran, e.Spider)
	}
	slices.Sort(ran)
	return slices.Compact(ran), nil
}

// onSpiders connects and does a command's work on the spiders that its arguments name, without any on all: none is begun before all are known.
func (p *program) onSpiders(c *cli.Context, open opener, work func(context.Context, *place, *logs, []scheduler.Fleet) error) (err error) {
	l, err := newLogs(p.screen, c)
	if err != nil {
		return err
	}
	named := make([]scheduler.Fleet, c.NArg())
	for i, arg := range c.Args().Slice() {
		if named[i].Spider, named[i].Keys, err = p.namedBy(c, l, arg); err != nil {
			return err
		}
	}
	stop := p.interruptible(&logs{quiet: true})
	defer stop.end()
	redis, err := open(p.where(c), stop.ctx, l)
	if err != nil {
		return stop.verdict(err, l)
	}
	defer func() { err = stop.verdict(errors.Join(err, redis.close()), l) }()
	fleets, err := redis.fleets(stop.ctx, named, c.Args().Slice())
	if err != nil {
		return err
	}
	return work(stop.ctx, redis, l, fleets)
}

// someSpiders refuses a command that names no spiders, and one that names some and all.
func someSpiders(c *cli.Context) error {
	switch {
	case c.NArg() == 0 && !c.Bool("all"):
		return usagef("%s takes spiders, by name or file, or --all. See \"luacrawl %s --help\"", commandPath(c), commandPath(c))
	case c.NArg() > 0 && c.Bool("all"):
		return usagef("%s takes spiders or --all, not both", commandPath(c))
	}
	return nil
}

// fleets reads what the workers of the spiders have agreed on: of those named, or of all. A name that nobody has heard of is refused; a
// file's spider may have run nowhere yet.
func (p *place) fleets(ctx context.Context, named []scheduler.Fleet, args []string) ([]scheduler.Fleet, error) {
	known, err := p.names(ctx)
	if err != nil {
		return nil, err
	}
	if len(named) == 0 {
		for _, name := range known {
			named = append(named, scheduler.Fleet{Spider: name})
		}
	}
	fleets := make([]scheduler.Fleet, 0, len(named))
	for i, n := range named {
		if !slices.Contains(known, n.Spider) && filepath.Ext(args[i]) != ".lua" {
			return nil, unknownSpider(n.Spider, p, known)
		}
		if slices.ContainsFunc(fleets, func(f scheduler.Fleet) bool { return f.Spider == n.Spider }) {
			continue
		}
		f, err := p.client.Fleet(ctx, n.Spider, n.Keys)
		if err != nil {
			return nil, err
		}
		fleets = append(fleets, f)
	}
	return fleets, nil
}

func unknownSpider(name string, p *place, known []string) error {
	return fmt.Errorf("no spider %q has run on %s or was pushed there; those that have: %s", name, p, listed(known))
}
