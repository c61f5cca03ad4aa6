package cli

import (
	"errors"
	"slices"
	"sync"

	"github.com/urfave/cli/v2"

	"luacrawl/cli/host"
)

const workerHelp = `It runs every spider that was pushed to the fleet and is not stopped, or only those named, all in one process, and
waits for more. A push changes what runs within a second; a broken one changes nothing and is said with file and line.

The last good revision of each spider is kept in the folder of --data: a worker that starts while the registry cannot be
read, or while its newest revision is broken, runs that one and says so. Ctrl-C ends it, a second one at once.

Settings: default < spider < environment (LUACRAWL_DOWNLOAD_DELAY=0.5) < --set < set live.

Exit codes: 1 failed, 2 wrong usage, 130 interrupted.

Examples:

  luacrawl worker --redis redis://10.0.0.5:6379/0             all spiders of the fleet
  luacrawl worker --redis redis://10.0.0.5:6379/0 blog shop   these two`

func (p *program) workerCommand() *cli.Command {
	return &cli.Command{
		Name:        "worker",
		Usage:       "run the spiders that were pushed to the fleet",
		UsageText:   "luacrawl worker --redis URL [SPIDER...] [OPTION...]",
		Description: workerHelp,
		Flags: slices.Concat(placeFlags(), spiderFlags(), []cli.Flag{
			&cli.StringSliceFlag{Name: "env", Usage: "`NAME` of an environment variable that pushed spiders may read, such as one that holds a database's address (repeatable)"},
			metricsFlag(),
		}, logFlags()),
		Action: func(c *cli.Context) error {
			l, err := newLogs(p.screen, c)
			if err != nil {
				return err
			}
			return l.told(p.worker(c, l))
		},
	}
}

// worker runs a host until it is interrupted.
func (p *program) worker(c *cli.Context, l *logs) (err error) {
	options, err := p.hostOptions(c)
	if err != nil {
		return err
	}
	settings, err := options.Layers.Merge("", nil)
	if err != nil {
		return err
	}
	if err := l.setLevel(settings.LogLevel); err != nil {
		return err
	}
	p.tuneMemory(settings)
	shows, err := observe(c.String("metrics"), l)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shows.close()) }()
	stop := p.interruptible(l)
	defer stop.end()
	redis, err := p.where(c).open(stop.ctx, l)
	if err != nil {
		return stop.verdict(err, l)
	}
	defer func() { err = stop.verdict(errors.Join(err, redis.close()), l) }()
	l.notice("worker " + p.Worker + " on " + redis.String())
	shows.connected(redis.client)
	options.Client, options.Voice, options.Observe = redis.client, l.voice(), shows.of
	var mu sync.Mutex // summaries come whole
	options.OnEnded = func(e host.Ended) {
		mu.Lock()
		defer mu.Unlock()
		summary{e}.tell(l, p.screen)
	}
	options.VoiceOf = func(spider string) host.Voice { return l.of(spider).voice() }
	fleet := host.New(options)
	shows.spiders(fleet.Watched)
	stop.onSecond(fleet.Kill)
	shown := &fleetProgress{logs: l, screen: p.screen, ask: fleet.Spiders}
	return shown.during(func() error { return fleet.Run(stop.ctx) })
}

// hostOptions are what the command line says of a worker.
func (p *program) hostOptions(c *cli.Context) (host.Options, error) {
	if p.where(c).url == "" {
		return host.Options{}, usagef("worker needs the fleet's Redis: give --redis URL (or set %s)", envRedis)
	}
	args, err := pairs("-a", c.StringSlice("a"))
	if err != nil {
		return host.Options{}, err
	}
	sets, err := pairs("--set", c.StringSlice("set"))
	if err != nil {
		return host.Options{}, err
	}
	for _, name := range c.Args().Slice() {
		if !host.IsSpiderName(name) {
			return host.Options{}, usagef("%q is no name of a spider: worker takes the names of spiders that were pushed (luacrawl push FILE), not files", name)
		}
	}
	outside, err := p.outside(c, append([]string{}, c.StringSlice("env")...))
	if err != nil {
		return host.Options{}, err
	}
	return host.Options{
		Only: c.Args().Slice(), Data: c.String("data"), Args: args, Layers: layers(p.Environ, sets), Outside: outside,
		Identity: host.Identity{Worker: p.Worker, Kind: "worker", Tool: readVersion().Version},
	}, nil
}
