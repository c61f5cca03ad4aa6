package cli

import (
	"cmp"
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

// registryFlags are the flags of every command that works on the registry of a fleet.
func registryFlags() []cli.Flag {
	return append(redisFlags(), &cli.BoolFlag{Name: "q", Aliases: []string{"quiet"}, Usage: "only warnings and errors", DisableDefaultText: true})
}

// authorFlag says who changes something.
func authorFlag() cli.Flag {
	return &cli.StringFlag{Name: "author", Usage: "`NAME` for the history, default $USER"}
}

// author is who changes something, for the history.
func (p *program) author(c *cli.Context) string {
	return cmp.Or(c.String("author"), p.getenv("USER"), p.getenv("LOGNAME"))
}

// fleet is a fleet's registry and what a command tells.
type fleet struct {
	*scheduler.Client
	place *place
	logs  *logs
}

// onFleet connects to the fleet's Redis and does a command's work there.
func (p *program) onFleet(c *cli.Context, work func(context.Context, *fleet) error) (err error) {
	l, err := newLogs(p.screen, c)
	if err != nil {
		return err
	}
	w := p.where(c)
	if w.url == "" {
		return usagef("%s works on a fleet: name its Redis with --redis URL or $%s", commandPath(c), envRedis)
	}
	stop := p.interruptible(&logs{quiet: true}) // there are no running pages to speak of
	defer stop.end()
	redis, err := w.open(stop.ctx, l)
	if err != nil {
		return stop.verdict(err, l)
	}
	defer func() { err = stop.verdict(errors.Join(err, redis.close()), l) }()
	return work(stop.ctx, &fleet{redis.client, redis, l})
}
