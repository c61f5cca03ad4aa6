package scheduler

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// State is what a spider does in the whole fleet.
type State string

// States of a spider.
const (
	Running  State = "running"
	Paused   State = "paused"   // nothing is leased; what runs is finished
	Draining State = "draining" // no seeds are taken in; what is pending is finished
	Stopped  State = "stopped"  // workers end it; queue and filter stay
)

func readState(s string) State {
	switch State(s) {
	case Paused, Draining, Stopped:
		return State(s)
	}
	return Running
}

// Control is what people have told a spider while it runs.
type Control struct {
	State   State
	Live    map[string]string // settings by name, as they were written
	Version int64             // grows with each change
}

// Change is a change of a spider's Control.
type Change struct {
	State  State             // "" leaves it as it is
	Live   map[string]string // settings to put into effect; "" takes one back
	Author string

	// Delay, Concurrency, Total, RandomizeDelay and PagesPerSlot are download_delay, concurrent_requests_per_domain, concurrent_requests_total,
	// randomize_download_delay and closespider_pagecount_per_slot, when Live has them: Redis itself keeps them, so they hold for all workers
	// from the next lease on. They matter only beside their text.
	Delay          time.Duration
	Concurrency    int
	Total          int
	RandomizeDelay bool
	PagesPerSlot   int64
}

// kept are the settings that Redis keeps itself, by name, as scripts/lease.lua reads them.
var kept = map[string]func(*Change) string{
	"download_delay":                 func(c *Change) string { return strconv.FormatInt(c.Delay.Milliseconds(), 10) },
	"concurrent_requests_per_domain": func(c *Change) string { return strconv.Itoa(c.Concurrency) },
	"concurrent_requests_total":      func(c *Change) string { return strconv.Itoa(c.Total) },
	"randomize_download_delay":       func(c *Change) string { return strconv.FormatBool(c.RandomizeDelay) },
	"closespider_pagecount_per_slot": func(c *Change) string { return strconv.FormatInt(c.PagesPerSlot, 10) },
}

// SetControl changes the state and the live settings of a spider in the whole fleet, in one step: workers of the fleet and runs that
// are members of it. It returns the version of the change.
func (c *Client) SetControl(ctx context.Context, spider string, keys Keys, change Change) (int64, error) {
	if err := checkSpider(spider); err != nil {
		return 0, err
	}
	event := Event{What: "control", Time: time.Now(), Author: change.Author, State: change.State, Settings: change.Live}
	k := c.registry()
	args := []any{spider, string(change.State), event.text(), k.changes()}
	for name, value := range change.Live {
		args = append(args, "live:"+name, value)
		if text := kept[name]; text != nil && value == "" {
			args = append(args, "kept:"+name, "")
		} else if text != nil {
			args = append(args, "kept:"+name, text(&change))
		}
	}
	var version int64
	err := c.try(ctx, func() (err error) { // done twice it is the same
		version, err = controlScript.call(ctx, c.rdb, k.list(c.keysOf(keys, spider), spider, ""), args...).Int64()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("controlling %s: %w", spider, c.explainRegistry(ctx, spider, c.explain(ctx, c.keysOf(keys, spider), err)))
	}
	return version, nil
}

// Control reads what people have told a spider.
func (c *Client) Control(ctx context.Context, spider string, keys Keys) (Control, error) {
	k := c.keysOf(keys, spider)
	var meta map[string]string
	err := c.try(ctx, func() (err error) {
		meta, err = c.rdb.HGetAll(ctx, k.meta).Result()
		return err
	})
	if err != nil {
		return Control{}, fmt.Errorf("reading the control of %s: %w", spider, c.explain(ctx, k, err))
	}
	return readControl(meta), nil
}

func readControl(meta map[string]string) Control {
	ctl := Control{State: readState(meta["state"]), Live: map[string]string{}}
	if meta["paused"] == "1" && ctl.State == Running {
		ctl.State = Paused
	}
	ctl.Version, _ = strconv.ParseInt(meta["control"], 10, 64)
	for field, value := range meta {
		if name, ok := strings.CutPrefix(field, "live:"); ok {
			ctl.Live[name] = value
		}
	}
	return ctl
}

// KeepsLive reports whether Redis itself keeps a setting that was set live, for all workers from their next lease on.
func KeepsLive(name string) bool { return kept[name] != nil }
