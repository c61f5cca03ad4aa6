package scheduler

import (
	"context"
	"fmt"
)

// PushSeeds appends raw seeds to a start_urls key of any of its three types and returns how many were taken; a set and a zset
// take each once. A new key becomes a list. Order holds: a list is read from its head, and a zset gets falling scores.
// When a connection breaks, the piece being sent may have been taken or not: the error says how many are certain.
func (c *Client) PushSeeds(ctx context.Context, spider string, keys Keys, seeds [][]byte) (int, error) {
	if err := checkSpider(spider); err != nil {
		return 0, err
	}
	k := c.keysOf(keys, spider)
	taken := 0
	for at := 0; at < len(seeds); {
		var piece []any
		for size := 0; at < len(seeds) && len(piece) < 1000 && (size < maxBytes || len(piece) == 0); at++ {
			piece = append(piece, seeds[at])
			size += len(seeds[at])
		}
		var n int
		err := c.tryWhile(ctx, unsent, func() (err error) {
			n, err = seedScript.call(ctx, c.rdb, k.list(), piece...).Int()
			return err
		})
		if err != nil {
			return taken, fmt.Errorf("pushing seeds to %s: %d of %d are certain: %w", k.startURLs, taken, len(seeds), c.explain(ctx, k, err))
		}
		taken += n
	}
	return taken, nil
}
