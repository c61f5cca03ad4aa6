package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/redis/go-redis/v9"
)

// ItemReader reads the items of a crawl from the oldest on, whether they are a list or a stream. It takes nothing out. It is for one
// goroutine.
type ItemReader struct {
	client *Client
	keys   keyset
	kind   string // "list" or "stream"; "" as long as there are none
	at     int64  // of a list: the place of the next one
	last   string // of a stream: the entry before the next one, "" for none
}

// ReadItems makes a reader that is at the oldest item.
func (c *Client) ReadItems(f Fleet) *ItemReader {
	return &ItemReader{client: c, keys: c.keysOf(f.Keys, f.Spider)}
}

// itemsKind is "list" or "stream", "" when there are no items, and else an error that names the key.
func (c *Client) itemsKind(ctx context.Context, k keyset) (kind string, err error) {
	err = c.try(ctx, func() (err error) {
		kind, err = c.rdb.Type(ctx, k.items).Result()
		return err
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("reading %s: %w", k.items, err)
	case kind == "none":
		return "", nil
	case kind != "list" && kind != "stream":
		return "", &wrongTypeError{key: k.items, got: kind, want: "a list or stream"}
	}
	return kind, nil
}

// look finds out what the items are; false when there are none.
func (r *ItemReader) look(ctx context.Context) (bool, error) {
	kind, err := r.client.itemsKind(ctx, r.keys)
	if err != nil || kind == "" {
		return false, err
	}
	if r.kind != "" && r.kind != kind {
		return false, fmt.Errorf("%s was a %s and is now a %s", r.keys.items, r.kind, kind)
	}
	r.kind = kind
	return true, nil
}

// Count is how many items there are.
func (r *ItemReader) Count(ctx context.Context) (n int64, err error) {
	if some, err := r.look(ctx); err != nil || !some {
		return 0, err
	}
	if r.kind == "list" {
		return r.client.length(ctx, r.keys.items)
	}
	err = r.client.try(ctx, func() (err error) {
		n, err = r.client.rdb.XLen(ctx, r.keys.items).Result()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", r.keys.items, err)
	}
	return n, nil
}

// Skip passes over n items.
func (r *ItemReader) Skip(ctx context.Context, n int64) error {
	if some, err := r.look(ctx); err != nil || !some || n <= 0 {
		return err
	}
	if r.kind == "list" {
		r.at += n
		return nil
	}
	for _, err := range r.stream(ctx) {
		if err != nil {
			return err
		}
		if n--; n == 0 {
			return nil
		}
	}
	return nil
}

// Tail goes to the n last items.
func (r *ItemReader) Tail(ctx context.Context, n int64) error {
	total, err := r.Count(ctx)
	if err != nil || total <= n {
		return err
	}
	if r.kind == "list" {
		r.at = total - n
		return nil
	}
	for from := "+"; ; from = "(" + r.last {
		var page []redis.XMessage
		err = r.client.try(ctx, func() (err error) {
			page, err = r.client.rdb.XRevRangeN(ctx, r.keys.items, from, "-", min(n+1, pageValues)).Result()
			return err
		})
		if err != nil {
			return fmt.Errorf("reading %s: %w", r.keys.items, err)
		}
		if len(page) == 0 { // trimmed meanwhile
			r.last = ""
			return nil
		}
		n -= int64(len(page))
		r.last = page[len(page)-1].ID
		if n < 0 {
			return nil
		}
	}
}

// Next yields the items that come next, as they are stored, to the end as it is when it comes there; later calls go on after them. It reads a
// part at a time.
func (r *ItemReader) Next(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		some, err := r.look(ctx)
		if err != nil {
			yield("", err)
			return
		}
		if !some {
			return
		}
		items := r.stream(ctx)
		if r.kind == "list" {
			items = r.list(ctx)
		}
		for item, err := range items {
			if !yield(item, err) {
				return
			}
		}
	}
}

func (r *ItemReader) list(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for item, err := range r.client.valuesFrom(ctx, r.keys.items, r.at) {
			if err == nil {
				r.at++
			}
			if !yield(item, err) {
				return
			}
		}
	}
}

func (r *ItemReader) stream(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var p paging
		var page []string
		for {
			from := "-"
			if r.last != "" {
				from = "(" + r.last
			}
			var entries []redis.XMessage
			size := p.next(page)
			err := r.client.try(ctx, func() (err error) {
				entries, err = r.client.rdb.XRangeN(ctx, r.keys.items, from, "+", size).Result()
				return err
			})
			if err != nil {
				yield("", fmt.Errorf("reading %s: %w", r.keys.items, err))
				return
			}
			page = page[:0]
			for _, m := range entries {
				r.last = m.ID
				item := itemOf(m)
				if page = append(page, item); !yield(item, nil) {
					return
				}
			}
			if len(entries) == 0 {
				return
			}
		}
	}
}

// Shrunk is how many items of a list were taken out from before the reader, who goes on at its end then; 0 for a stream, whose entries keep
// their places.
func (r *ItemReader) Shrunk(ctx context.Context) (int64, error) {
	if r.kind != "list" || r.at == 0 {
		return 0, nil
	}
	n, err := r.client.length(ctx, r.keys.items)
	if err != nil || n >= r.at {
		return 0, err
	}
	gone := r.at - n
	r.at = n
	return gone, nil
}

// itemOf is the item of an entry. One that somebody else has added, without a field item, is a JSON object of its fields.
func itemOf(m redis.XMessage) string {
	if item, ok := m.Values["item"].(string); ok {
		return item
	}
	b, err := json.Marshal(m.Values)
	if err != nil {
		return "{}" // texts can be marshalled
	}
	return string(b)
}
