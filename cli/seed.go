package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/urfave/cli/v2"

	"luacrawl/engine"
)

// seedBatch is how many seeds go to Redis in one step.
const seedBatch = 1000

const seedHelp = `Seeds go to the spider's start_urls key, from which a run takes them: now if one is waiting, else when
the next one starts. A seed is a URL, or a JSON object with url, method, headers, cookies, body, meta, priority, callback,
cb_kwargs, dont_filter, slot; or whatever the spider's make_request_from_data reads. Unlike --seed of run, a seed is crawled
even if its URL was crawled before.

Examples:

  luacrawl seed spiders/blog.lua                            what the spider's seeds() returns
  luacrawl seed spiders/blog.lua https://blog.example/ https://blog.example/archive
  luacrawl seed spiders/blog.lua - < urls.txt               a seed a line
  luacrawl seed spiders/blog.lua --redis redis://10.0.0.5:6379/0 -`

func (p *program) seedCommand() *cli.Command {
	return &cli.Command{
		Name:        "seed",
		Usage:       "give a spider its seeds",
		UsageText:   "luacrawl seed FILE [URL...|-] [OPTION...]",
		Description: seedHelp,
		Flags:       slices.Concat(placeFlags(), spiderFlags(), logFlags()),
		Action: func(c *cli.Context) error {
			l, err := newLogs(p.screen, c)
			if err != nil {
				return err
			}
			return l.told(p.seed(c, l))
		},
	}
}

func (p *program) seed(c *cli.Context, l *logs) (err error) {
	if c.NArg() == 0 {
		return usagef("seed takes a spider and its seeds, as in \"luacrawl seed spiders/blog.lua https://blog.example/\"")
	}
	src, err := p.source(c, c.Args().First())
	if err != nil {
		return err
	}
	spider, settings, err := src.load(l)
	if err != nil {
		return err
	}
	defer spider.Close()
	stop := p.interruptible(l)
	defer stop.end()
	seeds, err := p.seeds(stop.ctx, c.Args().Tail(), spider, src)
	if err != nil {
		return stop.verdict(err, l)
	}
	redis, err := p.where(c).open(stop.ctx, l)
	if err != nil {
		return stop.verdict(err, l)
	}
	defer func() { err = stop.verdict(errors.Join(err, redis.close()), l) }()
	push := func(batch [][]byte) (int, error) {
		return redis.client.PushSeeds(stop.ctx, spider.Name(), settings.Keys, batch)
	}
	pushed, err := pushAll(seeds, push)
	if pushed > 0 || err == nil {
		l.notice(fmt.Sprintf("%s to %s on %s", plural(pushed, "seed"), startURLs(redis.namespace, spider.Name(), settings.Keys), redis))
	}
	return err
}

// seeds are those of the command line, the lines of standard input for "-", or what the spider's seeds() returns.
func (p *program) seeds(ctx context.Context, args []string, spider engine.Spider, src source) (iter.Seq2[[]byte, error], error) {
	if slices.Equal(args, []string{"-"}) {
		return p.lines(), nil
	}
	if slices.Contains(args, "-") {
		return nil, usagef("- reads the seeds from standard input: it stands alone")
	}
	var list [][]byte
	for _, arg := range args {
		list = append(list, []byte(arg))
	}
	if len(args) == 0 {
		var err error
		if list, err = spider.Seeds(ctx); err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, usagef("%s has no seeds(), or it returned none: give URLs, or - to read them from standard input", src)
		}
	}
	return func(yield func([]byte, error) bool) {
		for _, s := range list {
			if !yield(s, nil) {
				return
			}
		}
	}, nil
}

// lines are the non-empty lines of standard input.
func (p *program) lines() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for l, err := range linesOf(p.In, "standard input") {
			if !yield(l.text, err) {
				return
			}
		}
	}
}

// pushAll pushes seeds in batches and returns how many were taken, also when it fails half-way.
func pushAll(seeds iter.Seq2[[]byte, error], push func([][]byte) (int, error)) (int, error) {
	var (
		batch [][]byte
		total int
	)
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		n, err := push(batch)
		batch, total = nil, total+n
		return err
	}
	for seed, err := range seeds {
		if err != nil {
			return total, errors.Join(flush(), err)
		}
		if batch = append(batch, seed); len(batch) == seedBatch {
			if err := flush(); err != nil {
				return total, err
			}
		}
	}
	err := flush()
	return total, err
}

// plural is "1 seed" or "2 seeds".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(int64(n)) + " " + noun + "s"
}
