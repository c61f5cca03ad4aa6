package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"luacrawl/scheduler/redistest"
)

// kit is a crawl on a server of its own, driven by hand.
type kit struct {
	t      *testing.T
	ctx    context.Context
	client *Client
	rdb    *redis.Client
	cfg    Config
	*Frontier
}

// each runs a test with a fresh crawl on every backend.
func each(t *testing.T, cfg Config, test func(t *testing.T, k *kit)) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, url string) { test(t, newKit(t, url, cfg)) })
}

func newKit(t *testing.T, url string, cfg Config) *kit {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	c, err := Dial(ctx, DialOptions{URL: url, Wait: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	cfg.Spider = cmp.Or(cfg.Spider, "hotnews")
	cfg.Partition = cmp.Or(cfg.Partition, PartitionHost)
	cfg.Concurrency = cmp.Or(cfg.Concurrency, 1000)
	cfg.Persist = true
	k := &kit{t: t, ctx: ctx, client: c, rdb: c.rdb, cfg: cfg}
	k.Frontier = k.join()
	return k
}

// join adds a worker to the crawl.
func (k *kit) join() *Frontier {
	k.t.Helper()
	f, err := Open(k.ctx, k.client, k.cfg)
	if err != nil {
		k.t.Fatal(err)
	}
	return f
}

// exchange is Exchange that must succeed.
func (k *kit) exchange(f *Frontier, outcomes []*Outcome, want, seeds int) Exchanged {
	k.t.Helper()
	x, err := f.Exchange(k.ctx, outcomes, want, seeds)
	if err != nil {
		k.t.Fatal(err)
	}
	return x
}

// lease takes up to n leases at once. When none comes and one is due in a moment it asks again: a clock may be set back a little.
func (k *kit) lease(n int) []Lease {
	k.t.Helper()
	x := k.exchange(k.Frontier, nil, n, 0)
	if len(x.Leases) == 0 && 0 < x.Wait && x.Wait < 20*time.Millisecond && sleep(k.ctx, x.Wait) {
		x = k.exchange(k.Frontier, nil, n, 0)
	}
	return x.Leases
}

// await takes leases until it has n, as the frontier's own Wait says.
func (k *kit) await(f *Frontier, n int) []Lease {
	k.t.Helper()
	var got []Lease
	for len(got) < n {
		x := k.exchange(f, nil, n-len(got), 0)
		got = append(got, x.Leases...)
		if len(got) < n && !sleep(k.ctx, max(x.Wait, 2*time.Millisecond)) {
			k.t.Fatalf("%d of %d leases came", len(got), n)
		}
	}
	return got
}

// commit stores one outcome, which must be accepted.
func (k *kit) commit(o *Outcome) {
	k.t.Helper()
	if x := k.exchange(k.Frontier, []*Outcome{o}, 0, 0); !x.Stored[0] {
		k.t.Fatalf("outcome of %s was refused", o.Lease.ID)
	}
}

// add schedules requests as the outcome of a seed. The seed counts: enqueued and done are one higher.
func (k *kit) add(children ...Child) {
	k.t.Helper()
	if _, err := k.client.PushSeeds(k.ctx, k.cfg.Spider, k.cfg.Keys, [][]byte{[]byte("seed")}); err != nil {
		k.t.Fatal(err)
	}
	x := k.exchange(k.Frontier, nil, 0, 1)
	if x.Refilled != 1 {
		k.t.Fatalf("refilled %d", x.Refilled)
	}
	for {
		for _, l := range k.exchange(k.Frontier, nil, 1, 0).Leases {
			if l.Seed != nil {
				k.commit(&Outcome{Lease: l, Children: children})
				return
			}
			if err := k.Release(k.ctx, []string{l.ID}); err != nil {
				k.t.Fatal(err)
			}
		}
	}
}

// get is a child for a path of one host.
func get(path string) Child { return Child{Request: &Request{URL: "http://a.test/" + path}} }

func paths(leases []Lease) string {
	var out []string
	for _, l := range leases {
		switch {
		case l.Seed != nil:
			out = append(out, string(l.Seed))
		case l.Request == nil:
			out = append(out, "?")
		default:
			out = append(out, strings.TrimPrefix(l.Request.URL, "http://a.test/"))
		}
	}
	return strings.Join(out, " ")
}

func ids(leases []Lease) []string {
	var out []string
	for _, l := range leases {
		out = append(out, l.ID)
	}
	return out
}

// expire makes leases end now, as if their worker had died a lease time ago.
func (k *kit) expire(leases ...Lease) {
	k.t.Helper()
	for _, l := range leases {
		if err := k.rdb.ZAddXX(k.ctx, k.keys.leases, redis.Z{Score: 1, Member: redisID(l.ID)}).Err(); err != nil {
			k.t.Fatal(err)
		}
	}
}

// finish commits empty outcomes for leases.
func (k *kit) finish(leases []Lease) {
	k.t.Helper()
	for _, l := range leases {
		k.commit(&Outcome{Lease: l})
	}
}

// check looks at the whole crawl: the sum of Status, and every key against every other.
func (k *kit) check() Status {
	k.t.Helper()
	s, err := k.client.Status(k.ctx, k.cfg.Spider, k.cfg.Keys)
	if err != nil {
		k.t.Fatal(err)
	}
	if sum := s.Pending + s.Delayed + s.InFlight + s.Done + s.Dead; sum != s.Enqueued {
		k.t.Errorf("status does not balance: enqueued %d, but pending %d + delayed %d + in flight %d + done %d + dead %d = %d",
			s.Enqueued, s.Pending, s.Delayed, s.InFlight, s.Done, s.Dead, sum)
	}
	for _, fault := range faults(k.ctx, k.rdb, k.keys, s) {
		k.t.Error(fault)
	}
	return s
}

// faults compares the keys of a crawl at rest: queues with pending, leases with inflight and busy, queues with slots.
func faults(ctx context.Context, rdb *redis.Client, keys keyset, s Status) []string {
	var out []string
	queued := int64(0)
	names, _ := rdb.Keys(ctx, keys.requests+"*").Result()
	for _, name := range names {
		n, err := rdb.ZCard(ctx, name).Result()
		if err != nil || n == 0 {
			continue
		}
		queued += n
		slot := strings.TrimPrefix(strings.TrimPrefix(name, keys.requests), ":")
		if err := rdb.ZScore(ctx, keys.slots, slot).Err(); err != nil {
			out = append(out, fmt.Sprintf("queue of %q is not empty and the slot not in slots: %v", slot, err))
		}
	}
	if queued != s.Pending {
		out = append(out, fmt.Sprintf("pending is %d, in the queues are %d", s.Pending, queued))
	}
	inflight, _ := rdb.HGetAll(ctx, keys.inflight).Result()
	leases, _ := rdb.ZRange(ctx, keys.leases, 0, -1).Result()
	if len(inflight) != len(leases) {
		out = append(out, fmt.Sprintf("%d leases, %d records in flight", len(leases), len(inflight)))
	}
	busy := map[string]string{}
	count := map[string]int{}
	for id, rec := range inflight {
		if !slices.Contains(leases, id) {
			out = append(out, "in flight and not leased: "+id)
		}
		head, rest, _ := strings.Cut(rec, "\n")
		_, slot, _ := strings.Cut(head, " ")
		if strings.HasPrefix(rest, "\x01") {
			slot = "@landed"
		}
		count[slot]++
		busy[slot] = fmt.Sprint(count[slot])
	}
	if got, _ := rdb.HGetAll(ctx, keys.busy).Result(); !maps.Equal(got, busy) {
		out = append(out, fmt.Sprintf("busy is %v, in flight are %v", got, busy))
	}
	return out
}

// Flush throws away the crawl's queues, leases and filter, whoever is alive.
func (k *kit) Flush(ctx context.Context) error {
	return k.client.Flush(ctx, k.cfg.Spider, k.cfg.Keys, FlushOptions{Force: true})
}
