package engine

import (
	"log/slog"

	"luacrawl/scheduler"
)

// settle ends the leases of outcomes that were sent.
func (f *feeder) settle(outs []*scheduler.Outcome, stored []bool) error {
	c := f.crawl
	taken := make([]*scheduler.Outcome, 0, len(outs))
	for i, o := range outs {
		c.inflight.remove(o.Lease.ID)
		if !stored[i] {
			f.lost++
			c.Logger.Warn("a page came too late and was not stored: its lease had expired", slog.String("url", leaseURL(o.Lease)))
			continue
		}
		taken = append(taken, o)
	}
	return f.passOn(taken)
}

// passOn counts what Redis has taken and passes its items on.
func (f *feeder) passOn(taken []*scheduler.Outcome) error {
	c := f.crawl
	for _, o := range taken {
		c.totals.add(o.Stats)
	}
	if c.OnItems == nil {
		return nil
	}
	var items []Item
	for _, o := range taken {
		for _, list := range [...][][]byte{o.Items, o.Elsewhere} {
			for _, item := range list {
				items = append(items, Item(item))
			}
		}
	}
	if len(items) == 0 {
		return nil
	}
	err := c.OnItems(items)
	f.refused = err != nil
	return err
}
