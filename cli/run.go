package cli

import (
	"errors"
	"runtime/debug"
	"slices"

	"github.com/urfave/cli/v2"

	"luacrawl/engine"
)

const runHelp = `Without --until-done it waits for seeds when it has nothing left; Ctrl-C ends it, a second one at once.
Run again, it goes on where it stopped. Without --redis the queue lives in this process and in
a snapshot in the folder of --data; a second run in the folder joins the first.

Saving the spider, or a module that it requires, changes what runs within a second. A broken save changes nothing and is
said with file and line. Some settings take effect at once, the others at the next start: it says which.

Settings: default < spider < environment (LUACRAWL_DOWNLOAD_DELAY=0.5) < --set.

Exit codes: 0 finished, 1 failed, 2 wrong usage or spider, 130 interrupted.

Examples:

  luacrawl run --demo                                              a made-up site, no network needed
  luacrawl run spiders/blog.lua --until-done --output posts.jsonl  until nothing is left
  luacrawl run spiders/blog.lua --seed https://blog.example/ --set download_delay=2
  luacrawl run spiders/blog.lua --redis redis://10.0.0.5:6379/0    as a member of a fleet`

func (p *program) runCommand() *cli.Command {
	return &cli.Command{
		Name:        "run",
		Usage:       "crawl with a spider",
		UsageText:   "luacrawl run FILE [OPTION...]",
		Description: runHelp,
		Flags: slices.Concat(placeFlags(), spiderFlags(), []cli.Flag{
			&cli.StringSliceFlag{Name: "seed", Usage: "start from `URL`, unless it was crawled before (repeatable)"},
			&cli.BoolFlag{Name: "until-done", Usage: "end when nothing is left", DisableDefaultText: true},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "append the items to `FILE` as JSON lines, beside Redis; - is standard output"},
			&cli.BoolFlag{Name: "fresh", Usage: "start over: forget queue and filter of earlier runs, in the embedded Redis their items too, and empty the --output", DisableDefaultText: true},
			&cli.BoolFlag{Name: "demo", Usage: "crawl a small site of made-up news that luacrawl serves itself", DisableDefaultText: true},
			metricsFlag(),
		}, logFlags()),
		Action: func(c *cli.Context) error {
			l, err := newLogs(p.screen, c)
			if err != nil {
				return err
			}
			return l.told(p.run(c, l))
		},
	}
}

// told logs the error where the log is JSON, so that no plain line comes between.
func (l *logs) told(err error) error {
	if err == nil || !l.json {
		return err
	}
	if exit := (*exitError)(nil); errors.As(err, &exit) && exit.err == nil {
		return err
	}
	l.Error(explain(err))
	return &exitError{code: codeOf(err)}
}

// job is what a run is asked to do.
type job struct {
	source    source
	where     where
	seeds     [][]byte
	untilDone bool
	output    string
	fresh     bool
	demo      *demoSite // nil without --demo
}

func (p *program) job(c *cli.Context) (*job, error) {
	if c.Bool("demo") {
		return p.demoJob(c)
	}
	if c.NArg() != 1 {
		return nil, usagef("run takes one spider, as in \"luacrawl run spiders/blog.lua\"; \"luacrawl run --demo\" needs none")
	}
	src, err := p.source(c, c.Args().First())
	if err != nil {
		return nil, err
	}
	j := &job{source: src, where: p.where(c), untilDone: c.Bool("until-done"), output: c.String("output"), fresh: c.Bool("fresh")}
	for _, seed := range c.StringSlice("seed") {
		j.seeds = append(j.seeds, []byte(seed))
	}
	return j, nil
}

// gcPercent lets the heap grow to five times what is alive: a tenth of the CPU for 20 MB on small pages, 200 MB on large ones. GOGC
// overrules it. Near memory_limit the garbage collector works harder instead; GOMEMLIMIT overrules that.
const gcPercent = 400

func (p *program) tuneMemory(s engine.Settings) {
	if p.getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if p.getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(s.MemoryLimit)
	}
}

// run does a whole job: everything that it opens is closed in the opposite order.
func (p *program) run(c *cli.Context, l *logs) (err error) {
	j, err := p.job(c)
	if err != nil {
		return err
	}
	if j.demo != nil {
		defer j.demo.Close()
	}
	spider, settings, err := j.source.load(l)
	if err != nil {
		return err
	}
	defer spider.Close()
	p.tuneMemory(settings)

	shows, err := observe(c.String("metrics"), l)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shows.close()) }()
	stop := p.interruptible(l)
	defer stop.end()
	if j.demo != nil {
		if j.seeds, err = spider.Seeds(stop.ctx); err != nil {
			return stop.verdict(err, l)
		}
	}
	one := &crawl{
		job: j, logs: l, screen: p.screen, stop: stop, spider: spider, settings: settings, shows: shows,
		worker: p.Worker, stdout: p.screen.above(p.Out),
	}
	return stop.verdict(one.run(stop.ctx), l)
}
