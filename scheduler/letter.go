package scheduler

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Letter is a dead letter where it lies.
type Letter struct {
	DeadLetter
	Index int64  // 1 is the oldest; it changes when older ones go
	ID    string // 12 hex digits of the SHA1 of its text: it does not change
	Raw   string
	Err   error // it cannot be read: there is only Raw

	sum string // 40 hex digits
}

func newLetter(index int64, raw string) Letter {
	sum := sha1.Sum([]byte(raw))
	l := Letter{Index: index, Raw: raw, sum: hex.EncodeToString(sum[:])}
	l.ID = l.sum[:12]
	if err := json.Unmarshal([]byte(raw), &l.DeadLetter); err != nil {
		l.DeadLetter, l.Err = DeadLetter{}, fmt.Errorf("not a dead letter of luacrawl: %w", err)
	}
	return l
}

// seed is the raw seed of a letter about one.
func (d *DeadLetter) seed() []byte {
	if d.SeedB64 != nil {
		return d.SeedB64
	}
	return []byte(d.Seed)
}

// Letters yields the dead letters of a crawl, oldest first. It reads a part of the list at a time.
func (c *Client) Letters(ctx context.Context, spider string, keys Keys) iter.Seq2[Letter, error] {
	return func(yield func(Letter, error) bool) {
		index := int64(0)
		for raw, err := range c.valuesFrom(ctx, c.keysOf(keys, spider).dead, 0) {
			if err != nil {
				yield(Letter{}, err)
				return
			}
			index++
			if !yield(newLetter(index, raw), nil) {
				return
			}
		}
	}
}

// Swept is what became of the dead letters that were asked for.
type Swept struct {
	Moved int            // put back into a queue, or dropped
	Gone  int            // somebody else took them out at the same time
	Kept  map[string]int // why they stay where they are -> how many
}

func (s *Swept) keep(why string) {
	if s.Kept == nil {
		s.Kept = map[string]int{}
	}
	s.Kept[why]++
}

// Drop takes the letters that match out of the list. Their requests stay counted as dead.
// When the connection breaks, the page being dropped may be gone or not: Swept has what is certain.
func (c *Client) Drop(ctx context.Context, f Fleet, match func(*Letter) bool) (Swept, error) {
	var s Swept
	err := c.sweep(ctx, f, match, func(from int64, page []Letter) (int, error) {
		args := []any{from}
		for i := range page {
			args = append(args, page[i].Index-1, page[i].sum)
		}
		return c.strike(ctx, f, dropScript, args, &s)
	})
	return s, err
}

// Requeue puts the requests and seeds of the letters that match back into their queues, past the duplicate filter and as if they had
// never been tried. Each letter and its request move in one step. Items stay, since nothing fetches them, and letters
// without a request. When the connection breaks, the page being moved may have moved or not: Swept has what is certain.
func (c *Client) Requeue(ctx context.Context, f Fleet, match func(*Letter) bool) (Swept, error) {
	var s Swept
	err := c.sweep(ctx, f, match, func(from int64, page []Letter) (int, error) {
		args := []any{from, flag(f.Queue == QueueLIFO)}
		for i := range page {
			l := &page[i]
			back, err := f.revive(&l.DeadLetter)
			if err = cmp.Or(l.Err, err); err != nil {
				s.keep(err.Error())
				continue
			}
			args = append(args, l.Index-1, l.sum, back.fingerprint, back.slot, back.score, back.body)
		}
		if len(args) == 2 {
			return 0, nil
		}
		return c.strike(ctx, f, requeueScript, args, &s)
	})
	return s, err
}

// sweep goes once through the letters that lie there now and gives act the matching ones of each page, with their Index in that page.
// act returns how many it took out.
func (c *Client) sweep(ctx context.Context, f Fleet, match func(*Letter) bool, act func(from int64, page []Letter) (int, error)) error {
	key := c.keysOf(f.Keys, f.Spider).dead
	total, err := c.length(ctx, key)
	if err != nil {
		return err
	}
	var p paging
	var page []string
	for from, seen := int64(0), int64(0); seen < total; {
		page, err = c.list(ctx, key, from, from+min(p.next(page), total-seen)-1)
		if err != nil || len(page) == 0 {
			return err
		}
		var chosen []Letter
		for i, raw := range page {
			if l := newLetter(seen+int64(i)+1, raw); match(&l) {
				l.Index = int64(i) + 1
				chosen = append(chosen, l)
			}
		}
		out := 0
		if len(chosen) > 0 {
			if out, err = act(from, chosen); err != nil {
				return err
			}
		}
		seen += int64(len(page))
		from += int64(len(page) - out)
	}
	return nil
}

// strike runs a script that takes letters out, once: if its reply is lost, nothing says what it did.
func (c *Client) strike(ctx context.Context, f Fleet, script *script, args []any, s *Swept) (out int, err error) {
	k := c.keysOf(f.Keys, f.Spider)
	var flags string
	err = c.tryWhile(ctx, unsent, func() (err error) {
		flags, err = script.call(ctx, c.rdb, k.list(), args...).Text()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("dead letters of %s: %d are certain: %w", f.Spider, s.Moved, c.explain(ctx, k, err))
	}
	for _, f := range flags {
		switch f {
		case '1':
			out++
		case 'x':
			s.keep("the queue of its slot holds another type of key")
		default:
			s.Gone++
		}
	}
	s.Moved += out
	return out, nil
}

// revived is a letter's request or seed as a queue takes it.
type revived struct {
	fingerprint, slot, score string
	body                     []byte
}

// revive undoes what failing has done to a request: retries, redirects, the priority that retries cost.
func (f Fleet) revive(d *DeadLetter) (revived, error) {
	switch {
	case d.Kind == DeadSeed:
		return revived{slot: seedsSlot, score: "0", body: d.seed()}, nil
	case d.Kind == DeadItem:
		return revived{}, errors.New("an item: only crawling its page again makes it anew")
	case len(d.Request) == 0:
		return revived{}, errors.New("the letter holds no request")
	}
	r, err := DecodeRequest(d.Request)
	if err != nil {
		return revived{}, errors.New("the request in the letter cannot be read")
	}
	r.Priority += r.RetryTimes
	r.RetryTimes, r.Throttled, r.RedirectTimes, r.Trail, r.Returned, r.NotBefore = 0, 0, 0, "", 0, time.Time{}
	body, err := r.Encode()
	if err != nil {
		return revived{}, err
	}
	return revived{r.Fingerprint().String(), f.Partition.slotOf(r), f.Queue.score(r), body}, nil
}
