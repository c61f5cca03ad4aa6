package scheduler

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Status is the state of a crawl: Enqueued = Pending + Delayed + InFlight + Done + Dead, counted since its last flush.
type Status struct {
	Spider                                           string
	Enqueued, Pending, Delayed, InFlight, Done, Dead int64 // Dead: requests and seeds that were given up
	Seeds, Items, DeadLetters, Seen, Cookies         int64 // lengths of start_urls, items, dead, dupefilter, cookies
	InHand                                           int64 // items that consumers have taken off the list and not done, or left when they were killed
	Paused, Finished                                 bool
	Control                                          Control // what people have told it
	Epoch                                            int64
	Workers                                          []string // alive
	Slots                                            int64
	Stats                                            map[string]int64
}

// Status reads the state of a crawl in one step.
func (c *Client) Status(ctx context.Context, spider string, keys Keys) (Status, error) {
	if err := checkSpider(spider); err != nil {
		return Status{}, err
	}
	r, err := c.run(ctx, c.keysOf(keys, spider), statusScript)
	if err != nil {
		return Status{}, fmt.Errorf("reading the status of %s: %w", spider, err)
	}
	s := readStatus(spider, &r)
	return s, r.err
}

// readStatus reads the reply of scripts/status.lua.
func readStatus(spider string, r *answer) Status {
	meta := r.fields(8)
	s := Status{
		Spider: spider, InFlight: r.num(1), Seeds: r.num(2), Delayed: r.num(3), Items: r.num(4),
		DeadLetters: r.num(5), Seen: r.num(6), Slots: r.num(7), Cookies: r.num(11), InHand: r.num(12), Paused: meta["paused"] == "1",
	}
	s.Control = readControl(meta)
	s.Pending = r.num(0) - s.Delayed
	s.Stats = sinceFlush(r.fields(9), meta)
	s.Enqueued, s.Done, s.Dead = s.Stats["scheduler/enqueued"], s.Stats["scheduler/done"], s.Stats["scheduler/dead"]
	s.Epoch, _ = strconv.ParseInt(meta["epoch"], 10, 64)
	s.Finished = meta["finished"] != "" && r.num(0)+s.InFlight+s.Seeds == 0
	for _, w := range r.texts(10) {
		s.Workers = append(s.Workers, workerName(w))
	}
	slices.Sort(s.Workers)
	return s
}

// sinceFlush returns the counters less the baseline that the last flush left in S:meta. A counter that is no number counts as 0.
func sinceFlush(stats, meta map[string]string) map[string]int64 {
	out := make(map[string]int64, len(stats)+1)
	for name, v := range stats {
		out[name], _ = strconv.ParseInt(v, 10, 64)
	}
	out["scheduler/dequeued"], _ = strconv.ParseInt(meta["dequeued"], 10, 64)
	for name, v := range meta {
		if base, ok := strings.CutPrefix(name, "base:"); ok {
			n, _ := strconv.ParseInt(v, 10, 64)
			out[base] -= n
		}
	}
	for name, n := range out {
		if n == 0 {
			delete(out, name)
		}
	}
	return out
}

// Stats are the counters of the whole crawl since its last flush.
func (f *Frontier) Stats(ctx context.Context) (map[string]int64, error) {
	r, err := f.run(ctx, statusScript)
	if err != nil {
		return nil, fmt.Errorf("reading stats: %w", err)
	}
	return sinceFlush(r.fields(9), r.fields(8)), r.err
}

// Spiders lists the spiders that have ever run on this Redis, by name.
func (c *Client) Spiders(ctx context.Context) ([]string, error) {
	var names []string
	err := c.try(ctx, func() (err error) {
		names, err = c.rdb.SMembers(ctx, c.registry().spiders()).Result()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing spiders: %w", err)
	}
	slices.Sort(names)
	return names, nil
}
