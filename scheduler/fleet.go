package scheduler

import (
	"context"
	"fmt"
)

// Fleet is what the workers of a crawl have agreed on, as far as others need it to work on the crawl's keys.
type Fleet struct {
	Spider    string
	Keys      Keys
	Partition Partition
	Queue     Queue
}

// Fleet reads what the workers of a crawl have agreed on. What none has set yet is as in keys, and else the default.
func (c *Client) Fleet(ctx context.Context, spider string, keys Keys) (Fleet, error) {
	f := Fleet{Spider: spider, Keys: keys, Partition: PartitionHost, Queue: QueuePriority}
	if err := checkSpider(spider); err != nil {
		return f, err
	}
	set := map[string]func(string){
		"start_urls_key": func(v string) { f.Keys.StartURLs = v },
		"requests_key":   func(v string) { f.Keys.Requests = v },
		"dupefilter_key": func(v string) { f.Keys.Dupefilter = v },
		"items_key":      func(v string) { f.Keys.Items = v },
		"partition":      func(v string) { f.Partition = Partition(v) },
		"queue":          func(v string) { f.Queue = Queue(v) },
	}
	k := c.keysOf(keys, spider)
	var meta map[string]string
	err := c.try(ctx, func() (err error) {
		meta, err = c.rdb.HGetAll(ctx, k.meta).Result()
		return err
	})
	if err != nil {
		return f, fmt.Errorf("reading the settings of %s: %w", spider, c.explain(ctx, k, err))
	}
	for name, take := range set {
		if v := meta["set:"+name]; v != "" {
			take(v)
		}
	}
	return f, nil
}
