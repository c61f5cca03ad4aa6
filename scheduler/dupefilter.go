package scheduler

import (
	"context"
	"encoding/hex"
	"fmt"
	"iter"

	"luacrawl/scheduler/weburl"
)

// ParseFingerprint reads 40 hex digits of either case; ok is false for anything else.
func ParseFingerprint(s string) (f Fingerprint, ok bool) {
	if len(s) != hex.EncodedLen(len(f)) {
		return f, false
	}
	_, err := hex.Decode(f[:], []byte(s))
	return f, err == nil
}

// FingerprintURL is the fingerprint of a GET request for an absolute http(s) URL, read as a spider's request reads it.
func FingerprintURL(raw string) (Fingerprint, error) {
	u, err := weburl.Parse(raw)
	if err == nil && !weburl.IsHTTP(u) {
		err = fmt.Errorf("url %q is not http or https", raw)
	}
	if err != nil {
		return Fingerprint{}, err
	}
	return (&Request{URL: u}).Fingerprint(), nil
}

// Dupefilter is the set of fingerprints of a crawl, for people who look into it or change it.
type Dupefilter struct {
	client *Client
	keys   keyset
}

// Dupefilter is the filter of a crawl.
func (c *Client) Dupefilter(f Fleet) *Dupefilter { return &Dupefilter{c, c.keysOf(f.Keys, f.Spider)} }

// Key is the name of its key.
func (d *Dupefilter) Key() string { return d.keys.dupefilter }

// Has tells of each fingerprint whether it is in the filter.
func (d *Dupefilter) Has(ctx context.Context, list []Fingerprint) ([]bool, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var has []bool
	err := d.client.try(ctx, func() (err error) {
		has, err = d.client.rdb.SMIsMember(ctx, d.keys.dupefilter, members(list)...).Result()
		return err
	})
	return has, d.failed(ctx, "reading", err)
}

// Add puts fingerprints into the filter and returns how many were new.
func (d *Dupefilter) Add(ctx context.Context, list []Fingerprint) (added int64, err error) {
	if len(list) == 0 {
		return 0, nil
	}
	err = d.client.try(ctx, func() (err error) {
		added, err = d.client.rdb.SAdd(ctx, d.keys.dupefilter, members(list)...).Result()
		return err
	})
	return added, d.failed(ctx, "adding to", err)
}

// Remove takes fingerprints out of the filter and returns how many were in it. From then on no worker takes them for seen.
func (d *Dupefilter) Remove(ctx context.Context, list []Fingerprint) (int64, error) {
	r, err := d.client.run(ctx, d.keys, forgetScript, members(list)...)
	if err != nil {
		return 0, d.failed(ctx, "removing from", err)
	}
	return r.num(0), r.err
}

// All yields the members of the filter, in no order, reading a part at a time. One that comes in meanwhile may be left out, and one may
// come twice. A filter that scrapy-redis has shared holds nothing else than 40 hex digits; other programs' may.
func (d *Dupefilter) All(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for cursor := uint64(0); ; {
			var page []string
			err := d.client.try(ctx, func() (err error) {
				var next uint64
				if page, next, err = d.client.rdb.SScan(ctx, d.keys.dupefilter, cursor, "", pageValues).Result(); err == nil {
					cursor = next
				}
				return err
			})
			if err != nil {
				yield("", d.failed(ctx, "reading", err))
				return
			}
			for _, m := range page {
				if !yield(m, nil) {
					return
				}
			}
			if cursor == 0 {
				return
			}
		}
	}
}

func (d *Dupefilter) failed(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", doing, d.keys.dupefilter, d.client.explain(ctx, d.keys, err))
}

func members(list []Fingerprint) []any {
	out := make([]any, len(list))
	for i, f := range list {
		out[i] = f.String()
	}
	return out
}
