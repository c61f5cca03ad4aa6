package scheduler

import (
	"context"
	"fmt"
	"iter"
)

// Bounds of what is read of a list at a time.
const (
	pageValues = 1000
	pageBytes  = 1 << 20 // as far as the page before can tell
)

// list returns values first to last of a list (0 is the oldest, -1 the newest).
func (c *Client) list(ctx context.Context, key string, first, last int64) ([]string, error) {
	var values []string
	err := c.try(ctx, func() (err error) {
		values, err = c.rdb.LRange(ctx, key, first, last).Result()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", key, err)
	}
	return values, nil
}

func (c *Client) length(ctx context.Context, key string) (n int64, err error) {
	err = c.try(ctx, func() (err error) {
		n, err = c.rdb.LLen(ctx, key).Result()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", key, err)
	}
	return n, nil
}

// paging decides how many values to read next.
type paging struct{ size int64 }

// next takes in the page before.
func (p *paging) next(before []string) int64 {
	bytes := 0
	for _, v := range before {
		bytes += len(v)
	}
	switch {
	case p.size == 0:
		p.size = 50
	case bytes > pageBytes:
		p.size = max(1, p.size*pageBytes/int64(bytes))
	case bytes < pageBytes/4:
		p.size = min(2*p.size, pageValues)
	}
	return p.size
}

// valuesFrom yields the values of a list from a place on, to its end as it is then.
func (c *Client) valuesFrom(ctx context.Context, key string, from int64) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var p paging
		var page []string
		for {
			var err error
			page, err = c.list(ctx, key, from, from+p.next(page)-1)
			if err != nil {
				yield("", err)
				return
			}
			for _, v := range page {
				if !yield(v, nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
			from += int64(len(page))
		}
	}
}

// Items returns items first to last of a crawl's list (0 is the oldest, -1 the newest), as they are stored.
func (c *Client) Items(ctx context.Context, spider string, keys Keys, first, last int64) ([]string, error) {
	return c.list(ctx, c.keysOf(keys, spider).items, first, last)
}

// DeadLetters returns letters first to last of a crawl (0 is the oldest, -1 the newest), as JSON.
func (c *Client) DeadLetters(ctx context.Context, spider string, keys Keys, first, last int64) ([]string, error) {
	return c.list(ctx, c.keysOf(keys, spider).dead, first, last)
}
