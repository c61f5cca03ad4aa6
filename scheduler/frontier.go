package scheduler

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"
)

// Frontier is one crawl's queues, filter, leases and results in Redis, as one worker process uses them.
// Exchange, Release and Close are called by one goroutine; the other methods by any.
type Frontier struct {
	client  *Client
	cfg     Config
	keys    keyset
	keyList []string
	logger  *slog.Logger
	worker  string // this worker in S:workers
	resumed int64
	held    hand // counts what the worker has of concurrent_requests_total

	// Only the goroutine that calls Exchange uses these.
	process  int             // grows when the worker must be new to Redis
	number   int64           // of the last commit that Redis has answered
	cookies  CookieMark      // the last change of the jars that the worker knows
	seen     *seen           // fingerprints that need no asking
	suspects map[string]bool // leases in hand whose requests may be what kills workers
	beaten   time.Time       // last heartbeat sent with a lease
	reported bool            // a duplicate has been logged
}

// SettingsError is a per-fleet setting that differs from what the running fleet uses.
type SettingsError struct{ Name, Fleet, Ours, Remedy string }

func (e *SettingsError) Error() string {
	return fmt.Sprintf("setting %s is %s here and %s in the fleet: %s", e.Name, show(e.Ours), show(e.Fleet), e.Remedy)
}

func show(v string) string {
	if v == "" {
		return `""`
	}
	return v
}

// ErrFleetAlive says that a flush was refused because another worker is on the crawl.
var ErrFleetAlive = errors.New("another worker is on this crawl")

// Open joins a crawl: it checks the per-fleet settings against those of the fleet and registers the worker.
// *SettingsError says that they differ: while another worker is alive all of them must agree; without one, those that queued work
// depends on (partition, queue, key names). ErrFleetAlive says that FlushOnStart would take the work of another worker, ErrWrongType that
// items cannot be stored under their key: it holds a list where a stream is to be, or the other way round.
func Open(ctx context.Context, c *Client, cfg Config) (*Frontier, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	keys := c.keysOf(cfg.Keys, cfg.Spider)
	keys.itemsType, _, _ = strings.Cut(cfg.itemsType(), " ")
	f := &Frontier{
		client: c, cfg: cfg, keys: keys, keyList: keys.list(), logger: cfg.Logger,
		worker: cfg.Worker + "#" + nonce()[:8], suspects: map[string]bool{},
	}
	if err := f.join(ctx); err != nil {
		return nil, err
	}
	if err := c.try(ctx, func() error { return c.rdb.SAdd(ctx, c.registry().spiders(), cfg.Spider).Err() }); err != nil {
		return nil, fmt.Errorf("registering spider %s: %w", cfg.Spider, err)
	}
	f.warnForeign(ctx)
	if f.resumed > 0 {
		f.logger.Info(fmt.Sprintf("Resuming crawl (%d requests scheduled)", f.resumed), "spider", cfg.Spider)
	}
	return f, nil
}

func (f *Frontier) join(ctx context.Context) error {
	settings := f.cfg.fleet(f.keys)
	itemsType := f.keys.itemsType
	if f.cfg.NoItems {
		itemsType = ""
	}
	args := []any{f.worker, f.heartbeat().Milliseconds(), flag(f.cfg.FlushOnStart), itemsType}
	for _, s := range settings {
		args = append(args, s.name, s.value, flag(s.layout))
	}
	r, err := f.run(ctx, joinScript, args...)
	if err != nil {
		return fmt.Errorf("joining the crawl of %s: %w", f.cfg.Spider, err)
	}
	switch r.text(0) {
	case "ALIVE":
		return fmt.Errorf("%w: %s; stop it first (a worker that was killed counts as alive for another %s), or start without flush_on_start",
			ErrFleetAlive, workerName(r.text(1)), (time.Duration(r.num(2)) * time.Millisecond).Round(time.Second))
	case "ITEMS":
		return fmt.Errorf("joining the crawl of %s: %w", f.cfg.Spider, f.itemsError(r.text(1), r.num(2), r.text(3)))
	case "DIFFERS":
		return settingsError(settings, r.text(1), r.text(2), r.text(3))
	}
	f.seen = newSeen(seenSize, r.text(1))
	f.resumed = r.num(2)
	f.noteFlush(ctx, r.num(3), "flush_on_start (--fresh)")
	return r.err
}

// noteFlush writes a line into the spider's history when a script of the crawl's own keys has thrown requests away; -1 says that there was
// nothing to flush. The crawl goes on without the line.
func (f *Frontier) noteFlush(ctx context.Context, thrown int64, why string) {
	if thrown < 0 {
		return
	}
	message := fmt.Sprintf("%d requests, the filter and the cookies: %s", thrown, why)
	event := Event{What: "flush", Time: time.Now(), Author: workerName(f.worker), Message: message}
	if _, err := f.client.record(ctx, f.keys, f.cfg.Spider, event, noteScript); err != nil {
		f.logger.Warn("the flush is missing in the spider's history", "spider", f.cfg.Spider, "error", err)
	}
}

// Agree makes the per-fleet settings of cfg those of the whole fleet, but for the ones that queued work depends on, which stay. Delay and
// concurrency hold from the next lease of any worker on, the others for workers that join from now on. version is that of the entry which
// brings them: what a later one has set stays. It may be called by any goroutine.
func (f *Frontier) Agree(ctx context.Context, version int64, cfg Config) error {
	args := []any{version}
	for _, s := range cfg.withDefaults().fleet(f.keys) {
		if !s.layout && !strings.HasSuffix(s.name, "_key") {
			args = append(args, s.name, s.value)
		}
	}
	c := f.client
	keys := c.registry().list(f.keys, f.cfg.Spider, "")
	err := c.try(ctx, func() error { return agreeScript.call(ctx, c.rdb, keys, args...).Err() })
	if err != nil {
		return fmt.Errorf("settings of the fleet of %s: %w", f.cfg.Spider, c.explainRegistry(ctx, "", c.explain(ctx, f.keys, err)))
	}
	return nil
}

// itemsError says what is to be done when the key of items holds what the spider kept there before, or something else. fleet is the key
// that the fleet has used until now, "" for none: commands that are given the spider's name go by it.
func (f *Frontier) itemsError(got string, n int64, fleet string) error {
	e := &wrongTypeError{key: f.keys.items, got: got, want: "a " + f.keys.itemsType}
	const begins = "and the spider keeps a %s by now: the crawl begins when "
	things := "items"
	if n == 1 {
		things = "item"
	}
	switch got {
	case "list":
		e.got = fmt.Sprintf("list of %d %s", n, things)
		e.remedy = fmt.Sprintf(begins+`they are taken out ("luacrawl items consume %s"), or the key is renamed, or items_key is another`, f.keys.itemsType, f.cfg.Spider)
	case "stream":
		e.got = fmt.Sprintf("stream of %d %s", n, things)
		e.remedy = fmt.Sprintf(begins+`the key is deleted, once each group has had its items ("luacrawl items consume %s --group NAME"), or renamed, or items_key is another`, f.keys.itemsType, f.cfg.Spider)
	}
	fleet = cmp.Or(fleet, f.client.keysOf(Keys{Cluster: f.cfg.Keys.Cluster}, f.cfg.Spider).items)
	if e.remedy != "" && fleet != f.keys.items {
		e.remedy = fmt.Sprintf(begins+`the key is renamed or deleted, or items_key is another (until then "luacrawl items consume %s" takes from %s, the key in force)`, f.keys.itemsType, f.cfg.Spider, fleet)
	}
	return e
}

func settingsError(ours []setting, name, fleet, worker string) error {
	e := &SettingsError{Name: name, Fleet: fleet}
	for _, s := range ours {
		if s.name == name {
			e.Ours = s.value
		}
	}
	e.Remedy = "requests are queued under the other value; use that, or start anew with flush_on_start (--fresh)"
	if worker != "" {
		e.Remedy = fmt.Sprintf("worker %s is alive; use the fleet's value, or stop all workers first", workerName(worker))
	}
	return e
}

// workerName is the name without what makes it unique.
func workerName(member string) string {
	if i := strings.LastIndexByte(member, '#'); i >= 0 {
		return member[:i]
	}
	return member
}

// heartbeat is how long a worker counts as alive after it was last heard.
func (f *Frontier) heartbeat() time.Duration { return max(f.cfg.Lease, 10*time.Second) }

var ourMember = regexp.MustCompile(`^[0-9a-f]{14}\{"v":`)

// warnForeign warns when the bare requests key holds what is not ours: scrapy-redis keeps pickles there.
func (f *Frontier) warnForeign(ctx context.Context) {
	kind, err := f.client.rdb.Type(ctx, f.keys.requests).Result()
	if err != nil || kind == "none" {
		return
	}
	foreign := kind != "zset"
	if !foreign {
		members, err := f.client.rdb.ZRange(ctx, f.keys.requests, 0, 4).Result()
		if err != nil {
			return
		}
		for _, m := range members {
			foreign = foreign || !ourMember.MatchString(m)
		}
	}
	if foreign {
		f.logger.Warn("requests of another program (scrapy-redis?) are left alone: set requests_key if both shall run",
			"key", f.keys.requests, "type", kind)
	}
}

// Down says since when Redis has not answered; zero when it does.
func (f *Frontier) Down() time.Time { return f.client.Down() }

// Close takes the worker off the crawl; without Persist the last one flushes the queue and the filter. Leases that are still held
// end by themselves. It waits for a Redis that is down until ctx ends.
func (f *Frontier) Close(ctx context.Context) error {
	r, err := f.run(ctx, leaveScript, f.worker, f.processID(), flag(f.cfg.Persist))
	if err != nil {
		return fmt.Errorf("leaving the crawl of %s: %w", f.cfg.Spider, err)
	}
	f.noteFlush(ctx, r.num(0), "scheduler_persist is false, and the last worker has left")
	return r.err
}

// run calls a script until Redis answers or ctx ends.
func (f *Frontier) run(ctx context.Context, s *script, args ...any) (answer, error) {
	return f.client.run(ctx, f.keys, s, args...)
}

func (c *Client) run(ctx context.Context, k keyset, s *script, args ...any) (answer, error) {
	var v any
	err := c.try(ctx, func() (err error) {
		v, err = s.call(ctx, c.rdb, k.list(), args...).Result()
		return err
	})
	return readAnswer(v), c.explain(ctx, k, err)
}

func nonce() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func flag(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// Enqueue adds requests that no lease caused (start URLs), through the duplicate filter unless they say otherwise, and returns how many
// were new. Outcomes beside them have a OnceLease; stored says which of them are. As Exchange, it goes on until Redis has answered or ctx
// ends, and is called by the same goroutine.
func (f *Frontier) Enqueue(ctx context.Context, children []Child, beside ...*Outcome) (added int, stored []bool, err error) {
	x, err := f.Exchange(ctx, append([]*Outcome{{Children: children}}, beside...), 0, 0)
	return len(children) - x.Filtered, x.Stored[1:], err
}

// StoredOnce tells of each OnceLease whether an outcome of it is stored.
func (f *Frontier) StoredOnce(ctx context.Context, leases []Lease) (stored []bool, err error) {
	if len(leases) == 0 {
		return nil, nil
	}
	members := make([]any, len(leases))
	for i, l := range leases {
		members[i] = strings.TrimPrefix(l.ID, noLease)
	}
	err = f.client.try(ctx, func() (err error) {
		stored, err = f.client.rdb.SMIsMember(ctx, f.keys.dupefilter, members...).Result()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("asking what is stored: %w", f.client.explain(ctx, f.keys, err))
	}
	return stored, nil
}

// StreamsItems reports whether items are kept as a stream, whose entries have the item's id beside the item.
func (f *Frontier) StreamsItems() bool { return f.cfg.ItemStream > 0 }
