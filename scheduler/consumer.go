package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// ConsumerOptions say who takes items out of a crawl.
type ConsumerOptions struct {
	Name  string        // of the process, for people; it is made unique
	Group string        // of a stream's consumers: each group gets every item; "" is "luacrawl"
	Hold  time.Duration // how long items stay with a consumer that gives no sign of life; 0 means 30 s
}

// DefaultGroup is the group of a stream's consumers when none is named.
const DefaultGroup = "luacrawl"

// Consumer takes items out of a crawl so that none is lost: what it has taken and not done when it ends goes to the next one, before new
// items. So an item comes at least once, and once if nobody is killed. A list's items leave it; a stream's stay until its maxlen takes
// them. What was in somebody's hands when a list made way for a stream comes too, to one consumer of any group. Its methods are called by
// one goroutine, but for Keep, which any may call meanwhile.
type Consumer struct {
	client *Client
	keys   keyset
	o      ConsumerOptions
	holds  holding // nil until the type of the items is known
	batch  atomic.Int64
}

// holding is how a consumer takes items of one type.
type holding interface {
	take(ctx context.Context, n int) (Taken, error) // sets holds to nil when the items are of another type by now
	keep(ctx context.Context) error
	done(ctx context.Context, back bool) (int, error)
	leave(ctx context.Context) error
}

// Taken is an answer to Take.
type Taken struct {
	Items  []string
	Others int64 // items that other consumers have taken and not done
	Lost   int64 // items that a stream's maxlen took before they were done
}

// Consume makes a Consumer. Nothing is asked of Redis yet.
func (c *Client) Consume(f Fleet, o ConsumerOptions) *Consumer {
	o.Group, o.Hold = cmp.Or(o.Group, DefaultGroup), cmp.Or(o.Hold, 30*time.Second)
	o.Name += "#" + nonce()[:8]
	return &Consumer{client: c, keys: c.keysOf(f.Keys, f.Spider), o: o}
}

// Kind is what the items are kept in, "list" or "stream"; "" as long as there have been none. ErrWrongType says that it is neither.
func (c *Consumer) Kind(ctx context.Context) (string, error) {
	kind, err := c.client.itemsKind(ctx, c.keys)
	if err != nil {
		return "", err
	}
	switch kind {
	case "list":
		c.holds = &listHolding{c}
	case "stream":
		if _, same := c.holds.(*streamHolding); !same {
			c.holds = &streamHolding{Consumer: c}
		}
	}
	return kind, nil
}

// Take gives the next items, at most n, and fewer when there are no more. Those that it gave before must be done or back.
func (c *Consumer) Take(ctx context.Context, n int) (Taken, error) {
	for {
		if c.holds == nil {
			if kind, err := c.Kind(ctx); err != nil {
				return Taken{}, err
			} else if kind == "" {
				c.holds = &listHolding{c} // what other consumers have left of a list that is empty now
			}
		}
		t, err := c.holds.take(ctx, n)
		switch {
		case err != nil:
			return t, c.explain(ctx, "taking items", err)
		case c.holds != nil:
			return t, nil
		}
	}
}

// Keep is a sign of life: items that are worked on for longer than Hold would go to another consumer.
func (c *Consumer) Keep(ctx context.Context) error {
	if err := c.holds.keep(ctx); err != nil {
		return c.explain(ctx, "keeping items", err)
	}
	return nil
}

// Every is how often Keep is to be called while items are worked on. Consumers of a stream go by their own hold when they take over what
// others have, so a sign of life does not wait for a third of a long one.
func (c *Consumer) Every() time.Duration { return min(c.o.Hold/3, time.Second) }

// Hold is how long items stay with a consumer that gives no sign of life.
func (c *Consumer) Hold() time.Duration { return c.o.Hold }

// Done ends the items that were taken. kept is false when another consumer got them meanwhile, because there was no sign of life; those of
// a stream are ended all the same, and it is not known unless the other has done them all before.
func (c *Consumer) Done(ctx context.Context) (kept bool, err error) {
	_, kept, err = c.letGo(ctx, false)
	return kept, err
}

// Back hands the items that were taken to the next consumer, this one too, before all others. It says how many.
func (c *Consumer) Back(ctx context.Context) (int, error) {
	n, _, err := c.letGo(ctx, true)
	return n, err
}

func (c *Consumer) letGo(ctx context.Context, back bool) (n int, kept bool, err error) {
	if c.holds == nil {
		return 0, false, nil // nothing was ever taken
	}
	if n, err = c.holds.done(ctx, back); err != nil {
		return 0, false, c.explain(ctx, "ending items", err)
	}
	return n, n > 0, nil
}

// Close takes the consumer off the crawl. What it has in hand stays there until its hold ends.
func (c *Consumer) Close(ctx context.Context) error {
	if c.holds == nil {
		return nil
	}
	if err := c.holds.leave(ctx); err != nil {
		return c.explain(ctx, "leaving the items", err)
	}
	return nil
}

func (c *Consumer) explain(ctx context.Context, what string, err error) error {
	return fmt.Errorf("%s: %w", what, c.client.explain(ctx, c.keys, err))
}

// listHolding takes items off a list by scripts. Each batch is held under a name of its own, so that a question that a broken connection
// delivers late ends no other batch.
type listHolding struct{ *Consumer }

func (h *listHolding) name() string { return h.o.Name + "." + strconv.FormatInt(h.batch.Load(), 10) }

func (h *listHolding) take(ctx context.Context, n int) (Taken, error) {
	kind, t, err := h.ask(ctx, n)
	if err == nil && kind != "list" && kind != "none" {
		h.holds = nil // asked anew: a stream has begun, whose consumers get what was taken here, or it is neither
		return Taken{}, nil
	}
	return t, err
}

// ask takes the next items, and says what they are kept in by now: of a stream, those that were in hand when it was a list.
func (h *listHolding) ask(ctx context.Context, n int) (kind string, t Taken, err error) {
	r, err := h.client.run(ctx, h.keys, itemsTakeScript, h.name(), n, h.o.Hold.Milliseconds())
	if err != nil {
		return "", t, err
	}
	kind, t.Others = r.text(0), r.num(1)
	for i := 2; i < len(r.values); i++ {
		t.Items = append(t.Items, r.text(i))
	}
	return kind, t, r.err
}

func (h *listHolding) keep(ctx context.Context) error {
	_, err := h.client.run(ctx, h.keys, itemsKeepScript, h.name(), h.o.Hold.Milliseconds())
	return err
}

func (h *listHolding) done(ctx context.Context, back bool) (int, error) {
	r, err := h.client.run(ctx, h.keys, itemsDoneScript, h.name(), flag(back))
	if err != nil {
		return 0, err
	}
	h.batch.Add(1)
	return int(r.num(0)), r.err
}

func (h *listHolding) leave(context.Context) error { return nil }
