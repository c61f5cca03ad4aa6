package scheduler

import (
	"context"
	"fmt"
	"time"
)

// FlushOptions say what a flush takes beside queues, leases, the filter and the cookies.
type FlushOptions struct {
	Force              bool // even while a worker is alive: its leases are void
	Items, Dead, Stats bool
	Author, Message    string // for the spider's history: who flushes, and what went
}

// Flush throws away queues, leases, the filter and the cookies: every lease is void. Seeds and rules stay, and items, dead letters and stats unless
// the options say otherwise; the counters of the next crawl start at zero. ErrFleetAlive says that a worker is alive.
// The spider's history gets a line.
func (c *Client) Flush(ctx context.Context, spider string, keys Keys, o FlushOptions) error {
	if err := checkSpider(spider); err != nil {
		return err
	}
	event := Event{What: "flush", Time: time.Now(), Author: o.Author, Message: o.Message}
	r, err := c.record(ctx, c.keysOf(keys, spider), spider, event, flushScript, flag(o.Force), flag(o.Items), flag(o.Dead), flag(o.Stats))
	if err != nil {
		return fmt.Errorf("flushing: %w", err)
	}
	if r.text(0) == "ALIVE" {
		return fmt.Errorf("%w: %s; stop it first (a worker that was killed counts as alive for another %s)",
			ErrFleetAlive, workerName(r.text(1)), (time.Duration(r.num(2)) * time.Millisecond).Round(time.Second))
	}
	return r.err
}
