package scheduler

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// WorkerReport is what a process of the fleet says of itself.
type WorkerReport struct {
	ID         string         `json:"id"` // unique to the process
	Host       string         `json:"host"`
	PID        int            `json:"pid"`
	Kind       string         `json:"kind"`           // worker, or run for a pinned file
	Tool       string         `json:"tool"`           // its version of luacrawl
	Only       []string       `json:"only,omitempty"` // spiders that it was told to run; none means all
	Started    time.Time      `json:"started"`
	Heap       int64          `json:"heap"` // bytes that were in use after its last garbage collection
	Goroutines int            `json:"goroutines"`
	Spiders    []SpiderReport `json:"spiders"`
	Alive      bool           `json:"-"` // heard of lately; set when it is read
	Silent     time.Duration  `json:"-"` // for how long its next sign of life has been overdue; set when it is read
}

// SpiderReport is how one spider does in one process.
type SpiderReport struct {
	Spider   string  `json:"spider"`
	Revision string  `json:"revision"`        // ID of what runs; the short one for a pinned file
	Version  int64   `json:"version"`         // of the newest entry that it has taken in or refused
	Error    string  `json:"error,omitempty"` // why the newest entry is not in effect
	State    State   `json:"state"`
	Pages    int64   `json:"pages"`
	Items    int64   `json:"items"`
	Errors   int64   `json:"errors"`
	Rate     float64 `json:"rate"` // pages a second, of late
	InFlight int     `json:"in_flight"`
	SinkDown string  `json:"sink_down,omitempty"` // a sink that takes nothing at the moment
}

// Report tells the fleet what this process runs; it counts as alive for ttl. It returns the version of the registry.
func (c *Client) Report(ctx context.Context, r WorkerReport, ttl time.Duration) (int64, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return 0, fmt.Errorf("report: %w", err)
	}
	return c.report(ctx, r.ID, string(text), ttl)
}

// Unreport takes a process off the list of workers.
func (c *Client) Unreport(ctx context.Context, id string) error {
	_, err := c.report(ctx, id, "", 0)
	return err
}

func (c *Client) report(ctx context.Context, id, text string, ttl time.Duration) (version int64, err error) {
	keys := c.registry().list(c.keysOf(Keys{}, ""), "", "")
	err = c.try(ctx, func() (err error) {
		version, err = reportScript.call(ctx, c.rdb, keys, id, text, ttl.Milliseconds()).Int64()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reporting: %w", c.explainRegistry(ctx, "", err))
	}
	return version, nil
}

// Workers reads who is in the fleet, by host and process. Those that have been silent are in it for an hour, not Alive.
func (c *Client) Workers(ctx context.Context) ([]WorkerReport, error) {
	k := c.registry()
	var members *redis.ZSliceCmd
	var reports *redis.MapStringStringCmd
	var clock *redis.TimeCmd
	err := c.try(ctx, func() error {
		_, err := c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			members, reports, clock = p.ZRangeWithScores(ctx, k.workers(), 0, -1), p.HGetAll(ctx, k.reports()), p.Time(ctx)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the workers: %w", c.explainRegistry(ctx, "", err))
	}
	return readReports(members.Val(), reports.Val(), clock.Val()), nil
}

// readReports reads who is in the fleet at a time by Redis' clock.
func readReports(members []redis.Z, reports map[string]string, now time.Time) []WorkerReport {
	var all []WorkerReport
	for _, m := range members {
		id, _ := m.Member.(string)
		var r WorkerReport
		if json.Unmarshal([]byte(reports[id]), &r) != nil {
			continue // somebody has spoilt it; the next report mends it
		}
		r.ID, r.Silent = id, max(0, now.Sub(time.UnixMilli(int64(m.Score))))
		r.Alive = r.Silent == 0
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b WorkerReport) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.PID, b.PID), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// RegistryVersion reads the registry's version: it grows with each push, rollback, removal and control.
func (c *Client) RegistryVersion(ctx context.Context) (int64, error) {
	var raw string
	err := c.try(ctx, func() (err error) {
		raw, err = c.rdb.Get(ctx, c.registry().version()).Result()
		if errors.Is(err, redis.Nil) {
			raw, err = "0", nil
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reading the registry: %w", c.explainRegistry(ctx, "", err))
	}
	v, err := strconv.ParseInt(raw, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s holds %.50q, not a number: delete it", c.registry().version(), raw)
	}
	return v, nil
}

// Changes sends a spider's name when the registry or its control changes, until ctx ends, and once with "" whenever it has begun to
// listen (again): what was said before was not heard. A connection that breaks is opened again. It is quick but may miss things; who
// must not looks at RegistryVersion too.
func (c *Client) Changes(ctx context.Context) <-chan string {
	out := make(chan string, 64)
	go func() {
		defer close(out)
		for wait := newBackoff(); ctx.Err() == nil; {
			if c.listen(ctx, out) {
				wait = newBackoff()
			}
			sleep(ctx, wait.next())
		}
	}()
	return out
}

// listen passes messages on until the connection breaks; it reports whether there was one.
func (c *Client) listen(ctx context.Context, out chan<- string) bool {
	sub := c.rdb.Subscribe(ctx, c.registry().changes())
	defer sub.Close()
	if _, err := sub.Receive(ctx); err != nil {
		return false
	}
	for name := ""; ; {
		select {
		case out <- name:
		case <-ctx.Done():
			return true
		}
		m, err := sub.ReceiveMessage(ctx)
		if err != nil {
			return true
		}
		name = m.Payload
	}
}
