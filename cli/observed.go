package cli

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"luacrawl/cli/host"
	"luacrawl/cli/metrics"
	"luacrawl/engine"
	"luacrawl/scheduler"
)

func metricsFlag() cli.Flag {
	return &cli.StringFlag{Name: "metrics", Usage: "serve Prometheus' /metrics, and /healthz, at `HOST:PORT`; it asks for no password, so keep it off the internet"}
}

// observed is what --metrics shows of a command that runs spiders. A nil one shows nothing.
type observed struct {
	*metrics.Collector
	server *metrics.Server
	client atomic.Pointer[scheduler.Client] // nil before Redis has answered
}

// observe begins to serve at an address; "" is none.
func observe(address string, l *logs) (*observed, error) {
	if address == "" {
		return nil, nil
	}
	o := &observed{}
	o.Collector = metrics.NewCollector(readVersion().Version, o.down)
	var err error
	if o.server, err = metrics.Listen(address, o.Collector, o.healthy); err != nil {
		return nil, err
	}
	l.notice("metrics at http://" + o.server.Address() + "/metrics")
	return o, nil
}

func (o *observed) close() error {
	if o == nil {
		return nil
	}
	return o.server.Close()
}

// connected says which Redis health depends on.
func (o *observed) connected(c *scheduler.Client) {
	if o != nil {
		o.client.Store(c)
	}
}

// spiders says how to ask what the spiders do.
func (o *observed) spiders(ask func() []host.Watched) {
	if o != nil {
		o.Watch(ask)
	}
}

// of is what a spider's crawls tell, nil when nobody looks.
func (o *observed) of(spider string) engine.Observer {
	if o == nil {
		return nil
	}
	return o.Observe(spider)
}

func (o *observed) down() time.Time {
	if c := o.client.Load(); c != nil {
		return c.Down()
	}
	return time.Unix(0, 0)
}

func (o *observed) healthy(ctx context.Context) error {
	if c := o.client.Load(); c != nil {
		return c.Ping(ctx)
	}
	return errors.New("redis has not answered yet")
}
