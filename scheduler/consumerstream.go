package scheduler

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// streamHolding takes items of a stream as a consumer of a group. An entry is pending with one consumer, but there is no fence: XACK ends
// entries also that another has claimed meanwhile, so a consumer that was too slow ends them for both and does not learn of it.
type streamHolding struct {
	*Consumer
	listed atomic.Bool // what is in hand, or may be, is of the list that was there before
	ids    []string    // in hand, trimmed entries among them
	cursor string      // where to look on for entries of consumers that give no sign of life; "" is the beginning
	unsure bool        // an answer was lost: what it gave is pending with us
}

// list holds what was in somebody's hands when the items were a list.
func (h *streamHolding) list() *listHolding { return &listHolding{h.Consumer} }

func (h *streamHolding) take(ctx context.Context, n int) (t Taken, err error) {
	h.listed.Store(true)
	kind, left, err := h.list().ask(ctx, n)
	switch {
	case err != nil || len(left.Items) > 0:
		return left, err
	case kind != "stream":
		h.holds = nil // asked anew
		return left, nil
	}
	h.listed.Store(false)
	t, err = h.entries(ctx, n)
	if len(t.Items) == 0 {
		t.Others += left.Others
	}
	return t, err
}

// entries takes the next entries of the stream.
func (h *streamHolding) entries(ctx context.Context, n int) (t Taken, err error) {
	var messages []redis.XMessage
	err = h.grouped(ctx, func() (err error) {
		messages, err = h.next(ctx, int64(n))
		return err
	})
	if err != nil {
		return t, err
	}
	for _, m := range messages {
		h.ids = append(h.ids, m.ID)
		if m.Values == nil {
			t.Lost++
			continue
		}
		t.Items = append(t.Items, itemOf(m))
	}
	if len(t.Items) == 0 && t.Lost > 0 { // nothing to work on
		_, err := h.done(ctx, false)
		return t, err
	}
	if len(t.Items) == 0 {
		t.Others, err = h.others(ctx)
	}
	return t, err
}

// next is one try to get entries: ours, if an answer was lost; then those of consumers that give no sign of life; then new ones.
func (h *streamHolding) next(ctx context.Context, n int64) ([]redis.XMessage, error) {
	rdb, key := h.client.rdb, h.keys.items
	again := h.unsure
	h.unsure = true
	if again {
		mine, err := h.read(ctx, n, "0")
		if err != nil || len(mine) > 0 {
			return mine, err
		}
	}
	left, cursor, err := rdb.XAutoClaim(ctx, &redis.XAutoClaimArgs{
		Stream: key, Group: h.o.Group, Consumer: h.o.Name, MinIdle: h.o.Hold, Start: cmp.Or(h.cursor, "0-0"), Count: n,
	}).Result()
	if err != nil {
		return nil, err
	}
	if h.cursor = cursor; len(left) > 0 {
		return left, nil
	}
	return h.read(ctx, n, ">")
}

func (h *streamHolding) read(ctx context.Context, n int64, from string) ([]redis.XMessage, error) {
	streams, err := h.client.rdb.XReadGroup(ctx, &redis.XReadGroupArgs{
		Group: h.o.Group, Consumer: h.o.Name, Streams: []string{h.keys.items, from}, Count: n, Block: -1,
	}).Result()
	if err == redis.Nil || err == nil && len(streams) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return streams[0].Messages, nil
}

// grouped calls fn until Redis answers, and makes the group when there is none; a stream that is gone has no entries.
func (h *streamHolding) grouped(ctx context.Context, fn func() error) error {
	err := h.client.try(ctx, func() error {
		err := fn()
		if err == nil || !strings.HasPrefix(err.Error(), "NOGROUP") {
			return err
		}
		err = h.client.rdb.XGroupCreate(ctx, h.keys.items, h.o.Group, "0").Err()
		if err == nil || strings.HasPrefix(err.Error(), "BUSYGROUP") {
			return fn()
		}
		return err
	})
	if err != nil && strings.Contains(err.Error(), "requires the key to exist") {
		h.holds = nil
		return nil
	}
	if err == nil {
		h.unsure = false
	}
	return err
}

// others is how many entries are pending with others.
func (h *streamHolding) others(ctx context.Context) (n int64, err error) {
	err = h.client.try(ctx, func() error {
		pending, err := h.client.rdb.XPending(ctx, h.keys.items, h.o.Group).Result()
		if err == redis.Nil || err != nil && strings.HasPrefix(err.Error(), "NOGROUP") {
			return nil
		}
		if err == nil {
			n = pending.Count - pending.Consumers[h.o.Name]
		}
		return err
	})
	return n, err
}

func (h *streamHolding) keep(ctx context.Context) error {
	if h.listed.Load() {
		return h.list().keep(ctx)
	}
	_, err := h.idle(ctx, 0, nil)
	return err
}

// handedBack is how long entries seem to have been idle that were handed back, in ms: longer than any hold.
const handedBack = 1_000_000_000

func (h *streamHolding) done(ctx context.Context, back bool) (n int, err error) {
	if h.listed.Load() {
		n, err = h.list().done(ctx, back)
		if err == nil {
			h.listed.Store(false)
		}
		return n, err
	}
	if back {
		n, err = h.idle(ctx, handedBack, h.ids)
	} else {
		n, err = h.ack(ctx)
	}
	if err == nil {
		h.ids = nil
	}
	return n, err
}

// idle says how long what is pending with us has been idle, not at all or for long: some entries, or with none all of them.
func (h *streamHolding) idle(ctx context.Context, ms int64, ids []string) (n int, err error) {
	for from := 0; from == 0 || from < len(ids); from += 1000 {
		args := []any{h.o.Group, h.o.Name, ms}
		for _, id := range ids[from:min(from+1000, len(ids))] {
			args = append(args, id)
		}
		r, err := h.client.run(ctx, h.keys, streamIdleScript, args...)
		if err != nil {
			return 0, err
		}
		if n += int(r.num(0)); r.err != nil {
			return n, r.err
		}
	}
	return n, nil
}

func (h *streamHolding) ack(ctx context.Context) (int, error) {
	n := int64(0)
	for ids := range slices.Chunk(h.ids, 1000) {
		err := h.client.try(ctx, func() error {
			acked, err := h.client.rdb.XAck(ctx, h.keys.items, h.o.Group, ids...).Result()
			n += acked
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return int(n), nil
}

func (h *streamHolding) leave(ctx context.Context) error {
	_, err := h.client.run(ctx, h.keys, streamLeaveScript, h.o.Group, h.o.Name)
	return err
}
