package scheduler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Bounds of one step of a purge, so that workers wait for it no longer than for a commit.
const (
	purgeMembers = 200
	purgeSlots   = 200
)

// Purge says which requests are to go: those that some revisions of a spider have made.
type Purge struct {
	Gone    []string // short revisions whose requests go
	Known   []string // other short revisions of the spider: theirs stay
	Unknown bool     // requests of revisions that are neither, and of none, go too
	Why     string   // for the dead letters and the history
	Author  string   // for the history
}

// Purged is what a purge has done, or would do.
type Purged struct {
	Requests   int
	ByRevision map[string]int // the short revisions; "" is none
	Unknown    int            // requests that stay because nobody knows their revision
}

// Older splits the revisions of a spider's history at one of them, named by at least four digits of its ID, or "current": a revision is as
// old as the last time that it became current. ErrNoRevision says that the history does not know it.
func Older(events []Event, revision string) (Purge, error) {
	var order []string // short, by when they became current last
	for _, e := range events {
		if e.Revision == "" {
			continue
		}
		short := ShortRevision(e.Revision)
		order = append(without(order, short), short)
	}
	at := -1
	for i, r := range order {
		if strings.HasPrefix(revision, r) || len(revision) >= 4 && strings.HasPrefix(r, revision) {
			if at >= 0 {
				return Purge{}, fmt.Errorf("revision %q: both %s and %s begin so", revision, order[at], r)
			}
			at = i
		}
	}
	if revision == "current" {
		at = len(order) - 1
	}
	if at < 0 {
		return Purge{}, fmt.Errorf("revision %q: %w in the spider's history (luacrawl log)", revision, ErrNoRevision)
	}
	return Purge{Gone: order[:at], Known: order[at:], Why: "its revision is older than " + order[at]}, nil
}

func without(list []string, out string) []string {
	kept := make([]string, 0, len(list)+1)
	for _, v := range list {
		if v != out {
			kept = append(kept, v)
		}
	}
	return kept
}

// CountPurge counts what Purge would take.
func (c *Client) CountPurge(ctx context.Context, f Fleet, p Purge) (Purged, error) {
	return c.purge(ctx, f, p, true)
}

// Purge takes pending and delayed requests of some revisions out of the queues, in small steps between which the crawl goes on. Each becomes
// a dead letter (ReasonPurged), from which Requeue brings it back. Requests that are in flight are finished, and seeds stay.
// It can be run again after an error: what has gone is counted and gone. When any has gone, the spider's history gets a line.
func (c *Client) Purge(ctx context.Context, f Fleet, p Purge) (Purged, error) {
	done, err := c.purge(ctx, f, p, false)
	if done.Requests == 0 {
		return done, err
	}
	event := Event{What: "purge", Time: time.Now(), Author: p.Author, Message: fmt.Sprintf("%d requests: %s", done.Requests, p.Why)}
	if _, e := c.record(ctx, c.keysOf(f.Keys, f.Spider), f.Spider, event, noteScript); e != nil {
		err = errors.Join(err, fmt.Errorf("history of %s: %w", f.Spider, e))
	}
	return done, err
}

// purge walks the delayed requests first: one whose time comes meanwhile moves to a queue, which is walked later.
func (c *Client) purge(ctx context.Context, f Fleet, p Purge, dry bool) (Purged, error) {
	if err := checkSpider(f.Spider); err != nil {
		return Purged{}, err
	}
	w := &purgeWalk{client: c, keys: c.keysOf(f.Keys, f.Spider), purge: p, dry: dry, done: Purged{ByRevision: map[string]int{}}}
	if err := w.lists(ctx, []any{""}); err != nil {
		return w.done, err
	}
	seen := map[string]bool{}
	for cursor := uint64(0); ; {
		var slots []string
		err := c.try(ctx, func() (err error) {
			slots, cursor, err = c.rdb.ZScan(ctx, w.keys.slots, cursor, "", purgeSlots).Result()
			return err
		})
		if err != nil {
			return w.done, fmt.Errorf("purging %s: %w", f.Spider, c.explain(ctx, w.keys, err))
		}
		var lists []any
		for i := 0; i < len(slots); i += 2 { // each with its score
			if !seen[slots[i]] && slots[i] != seedsSlot {
				lists = append(lists, "="+slots[i])
			}
			seen[slots[i]] = true
		}
		if err := w.lists(ctx, lists); err != nil {
			return w.done, err
		}
		if cursor == 0 {
			return w.done, nil
		}
	}
}

// purgeWalk is a purge on its way.
type purgeWalk struct {
	client *Client
	keys   keyset
	purge  Purge
	dry    bool
	done   Purged
}

// lists walks lists to their ends, a step at a time.
func (w *purgeWalk) lists(ctx context.Context, lists []any) error {
	for stay := int64(0); len(lists) > 0; {
		args := []any{flag(w.dry), purgeMembers, w.purge.Why, flag(w.purge.Unknown), stay}
		for _, revisions := range [][]string{w.purge.Gone, w.purge.Known} {
			args = append(args, len(revisions))
			for _, r := range revisions {
				args = append(args, r)
			}
		}
		// Done twice, for a reply that was lost, it only counts less than went.
		r, err := w.client.run(ctx, w.keys, purgeScript, append(args, lists[:min(len(lists), purgeSlots)]...)...)
		if err = errors.Join(err, r.err); err != nil {
			return fmt.Errorf("purging: %d requests are certain: %w", w.done.Requests, err)
		}
		if n := r.num(0); n <= int64(len(lists)) {
			lists = lists[n:]
		}
		stay = r.num(1)
		w.done.Unknown += int(r.num(2))
		w.count(r.at(3))
		if r.err != nil {
			return fmt.Errorf("purging: %w", r.err)
		}
	}
	return nil
}

// count adds a flat list of revisions and numbers.
func (w *purgeWalk) count(reply any) {
	list, _ := reply.([]any)
	for i := 0; i+1 < len(list); i += 2 {
		revision, _ := list[i].(string)
		n, _ := list[i+1].(int64)
		w.done.ByRevision[revision] += int(n)
		w.done.Requests += int(n)
	}
}
