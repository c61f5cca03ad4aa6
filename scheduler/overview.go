package scheduler

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// Overview is one look at a whole fleet: what it is to run, who runs it, and how far each crawl is.
type Overview struct {
	Time    time.Time       // Redis' clock
	Spiders []SpiderSummary // by name
	Workers []WorkerReport  // by host and process
	Slots   Slots           // of the one spider that was asked for
	Damaged error           // entries of the registry that cannot be read; nil when all can
}

// SpiderSummary is one spider in an Overview.
type SpiderSummary struct {
	Status
	Entry *Entry // what the fleet is to run; nil when nobody has pushed it
	Err   error  // why Status could not be read: a key holds another type, say
}

// State is the state that people have put the spider into.
func (s *SpiderSummary) State() State {
	if s.Entry != nil && s.Entry.State != "" && s.Control.State == Running {
		return s.Entry.State
	}
	return s.Control.State
}

// lookSlots is how many slots of each kind a look reads: as many as a person takes in.
const lookSlots = 12

// Observer looks at a fleet again and again. Each look costs Redis two round trips, one short script a spider and another for the slots of
// one: the same whatever is pending. It is for one goroutine.
type Observer struct {
	client *Client
	keys   map[string]Keys // as the spiders' workers have renamed them
}

// Observe makes an Observer.
func (c *Client) Observe() *Observer { return &Observer{client: c, keys: map[string]Keys{}} }

// Look reads the state of the spiders named, or of all, and the slots of one of them, "" for none.
func (o *Observer) Look(ctx context.Context, names []string, slotsOf string) (Overview, error) {
	view, known, err := o.fleet(ctx)
	if err != nil {
		return view, fmt.Errorf("looking at the fleet: %w", o.client.explainRegistry(ctx, "", err))
	}
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(known))
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return checkSpider(name) != nil })
	for range 2 { // again when one of the spiders turns out to have renamed keys
		renamed, err := o.spiders(ctx, &view, names, known, slotsOf)
		if err != nil || !renamed {
			return view, err
		}
	}
	return view, nil
}

// fleet reads the registry and the workers; known are all names, with their entries if they have one.
func (o *Observer) fleet(ctx context.Context) (view Overview, known map[string]*Entry, err error) {
	k := o.client.registry()
	var names *redis.StringSliceCmd
	var entries, states, reports *redis.MapStringStringCmd
	var members *redis.ZSliceCmd
	var clock *redis.TimeCmd
	err = o.client.try(ctx, func() error {
		_, err := o.client.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			names, entries, states = p.SMembers(ctx, k.spiders()), p.HGetAll(ctx, k.registry()), p.HGetAll(ctx, k.states())
			members, reports, clock = p.ZRangeWithScores(ctx, k.workers(), 0, -1), p.HGetAll(ctx, k.reports()), p.Time(ctx)
			return nil
		})
		return err
	})
	if err != nil {
		return view, nil, err
	}
	view.Time = clock.Val()
	view.Workers = readReports(members.Val(), reports.Val(), view.Time)
	known = make(map[string]*Entry, len(names.Val()))
	for _, name := range names.Val() {
		known[name] = nil
	}
	all, damaged := o.client.readEntries(entries.Val(), states.Val())
	for i := range all {
		known[all[i].Spider] = &all[i]
	}
	view.Damaged = damaged
	return view, known, nil
}

// spiders reads how far each crawl is, in one round trip. It reports whether a spider has other keys than were asked.
func (o *Observer) spiders(ctx context.Context, view *Overview, names []string, known map[string]*Entry, slotsOf string) (renamed bool, err error) {
	replies := make([]*redis.Cmd, len(names))
	var slots *redis.Cmd
	err = o.client.try(ctx, func() error {
		_, err := o.client.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, name := range names {
				replies[i] = statusScript.call(ctx, p, o.keysOf(name).list())
			}
			if slices.Contains(names, slotsOf) {
				slots = slotsScript.call(ctx, p, o.keysOf(slotsOf).list(), lookSlots)
			}
			return nil
		})
		return serious(err, append(replies, slots))
	})
	if err != nil {
		return false, fmt.Errorf("looking at the fleet: %w", err)
	}
	view.Spiders = nil
	for i, name := range names {
		s := SpiderSummary{Entry: known[name], Status: Status{Spider: name, Control: Control{State: Running}}}
		v, err := replies[i].Result()
		if err == nil {
			r := readAnswer(v)
			s.Status, err = readStatus(name, &r), r.err
			renamed = o.learn(name, r.fields(8)) || renamed
		}
		if s.Err = err; wrongType(err) {
			s.Err = o.client.explain(ctx, o.keysOf(name), err)
		}
		view.Spiders = append(view.Spiders, s)
	}
	if slots != nil && slots.Err() == nil {
		r := readAnswer(slots.Val())
		view.Slots = readSlots(&r)
	}
	return renamed, nil
}

// serious is what went wrong with a pipeline of scripts, beside scripts that failed on their own keys.
func serious(err error, replies []*redis.Cmd) error {
	if err == nil || !replied(err) {
		return err
	}
	for _, cmd := range replies {
		if cmd != nil && cmd.Err() != nil && (noScript(cmd.Err()) || refused(cmd.Err())) {
			return cmd.Err()
		}
	}
	return nil
}

func (o *Observer) keysOf(spider string) keyset { return o.client.keysOf(o.keys[spider], spider) }

// learn takes in the names that a spider's workers have given its keys, and reports whether they are news.
func (o *Observer) learn(spider string, meta map[string]string) bool {
	k := Keys{StartURLs: meta["set:start_urls_key"], Requests: meta["set:requests_key"], Dupefilter: meta["set:dupefilter_key"], Items: meta["set:items_key"]}
	before := o.keysOf(spider)
	o.keys[spider] = k
	return o.keysOf(spider) != before
}
