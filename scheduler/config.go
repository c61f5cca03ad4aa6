package scheduler

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"
)

// Partition says what shares a slot.
type Partition string

// Partitions.
const (
	PartitionHost   Partition = "host"   // host[:port]
	PartitionDomain Partition = "domain" // registrable domain
	PartitionNone   Partition = "none"   // the whole spider
)

// Config is what one crawl asks of its frontier.
type Config struct {
	Spider          string
	Keys            Keys
	Partition       Partition     // "" means host
	Queue           Queue         // "" means priority
	Delay           time.Duration // between two starts in a slot; whole milliseconds
	Concurrency     int           // leases of a slot at once; 0 means 8
	Total           int           // requests of the whole fleet in flight; 0 for no limit. Seeds, and pages that have landed, are none
	Throttling      Throttling
	RandomizeDelay  bool          // up to half as much again, anew each time
	SlotRules       SlotRules     // of single slots
	PagesPerSlot    int64         // responses for callbacks, after which what else waits there is taken out; 0 for no budget
	Lease           time.Duration // how long a lease lasts without a heartbeat; 0 means 60 s
	LeaseAttempts   int           // leases of one request that may end without an outcome, at most 255; 0 means 5
	MaxPending      int64         // no seeds are taken in above this; 0 means 100,000
	ItemStream      int64         // items are kept in a stream of about this length, the newest; 0 means in a list, all
	NoItems         bool          // no items are kept in Redis, whatever lies under their key
	Persist         bool          // keep queue and filter when the last worker closes
	FlushOnStart    bool
	DupefilterDebug bool   // log every duplicate, not only the first
	ThrottleDebug   bool   // log each change of a slot's delay that an answer to this worker makes
	Worker          string // name of this worker in logs and dead letters; "" means host:pid
	Revision        string
	Logger          *slog.Logger // nil means none
}

func (c Config) withDefaults() Config {
	if c.Partition == "" {
		c.Partition = PartitionHost
	}
	if c.Queue == "" {
		c.Queue = QueuePriority
	}
	if c.Concurrency == 0 {
		c.Concurrency = 8
	}
	if c.Lease == 0 {
		c.Lease = time.Minute
	}
	if c.LeaseAttempts == 0 {
		c.LeaseAttempts = 5
	}
	if c.MaxPending == 0 {
		c.MaxPending = 100_000
	}
	c.Throttling = c.Throttling.withDefaults()
	if c.Worker == "" {
		host, _ := os.Hostname()
		c.Worker = host + ":" + strconv.Itoa(os.Getpid())
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) validate() error {
	switch c.Partition {
	case PartitionHost, PartitionDomain, PartitionNone:
	default:
		return fmt.Errorf("partition %q: it is host, domain or none", c.Partition)
	}
	switch c.Queue {
	case QueuePriority, QueueFIFO, QueueLIFO:
	default:
		return fmt.Errorf("queue %q: it is priority, fifo or lifo", c.Queue)
	}
	switch {
	case c.Delay < 0:
		return fmt.Errorf("download_delay %s: it is 0 or more", c.Delay)
	case c.Concurrency < 1:
		return fmt.Errorf("concurrent_requests_per_domain %d: it is 1 or more", c.Concurrency)
	case c.Total < 0:
		return fmt.Errorf("concurrent_requests_total %d: it is 0 or more", c.Total)
	case c.Lease < 10*time.Millisecond:
		return fmt.Errorf("lease %s: it is 10 ms or more", c.Lease)
	case c.LeaseAttempts < 1 || c.LeaseAttempts > 255:
		return fmt.Errorf("lease_attempts %d: it is 1 to 255", c.LeaseAttempts)
	case c.ItemStream < 0:
		return fmt.Errorf("a stream of %d items: it is 1 or more", c.ItemStream)
	case c.MaxPending < 1:
		return fmt.Errorf("max_pending %d: it is 1 or more", c.MaxPending)
	case strings.ContainsFunc(c.Worker, isControl):
		return fmt.Errorf("worker name %q: it has control characters", c.Worker)
	}
	if err := c.Throttling.validate(); err != nil {
		return err
	}
	return checkSpider(c.Spider)
}

// suspicious is how many leases of a request must have ended without an outcome before it may be what ends them; as in
// scripts/lease.lua.
func (c Config) suspicious() int { return max(1, min(2, c.LeaseAttempts-1)) }

// checkSpider accepts names that can stand in key names.
func checkSpider(name string) error {
	if name == "" {
		return errors.New("spider has no name")
	}
	if strings.ContainsAny(name, "{}") || strings.ContainsFunc(name, isControl) {
		return fmt.Errorf("spider name %q: braces and control characters are not allowed", name)
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// setting is one per-fleet setting as S:meta holds it.
type setting struct {
	name, value string
	layout      bool // queued work does not survive a change of it
}

func (c Config) fleet(k keyset) []setting {
	num := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []setting{
		{"partition", string(c.Partition), true},
		{"queue", string(c.Queue), true},
		{"start_urls_key", k.startURLs, false},
		{"requests_key", k.requests, true},
		{"dupefilter_key", k.dupefilter, true},
		{"items_key", k.items, false},
		{"download_delay", c.Delay.String(), false},
		{"download_delay_ms", num(c.Delay.Milliseconds()), false}, // as scripts/lease.lua reads it
		{"concurrent_requests_per_domain", num(int64(c.Concurrency)), false},
		{"concurrent_requests_total", num(int64(c.Total)), false},
		{"randomize_download_delay", strconv.FormatBool(c.RandomizeDelay), false},
		{"download_slots", string(c.SlotRules), false},
		{"closespider_pagecount_per_slot", num(c.PagesPerSlot), false},
		{"lease", c.Lease.String(), false},
		{"lease_attempts", num(int64(c.LeaseAttempts)), false},
		{"max_pending", num(c.MaxPending), false},
		{"items_type", c.itemsType(), false},
		{"scheduler_persist", strconv.FormatBool(c.Persist), false},
		{"autothrottle_enabled", strconv.FormatBool(c.Throttling.ByLatency), false},
		{"autothrottle_start_delay", c.Throttling.StartDelay.String(), false},
		{"autothrottle_max_delay", c.Throttling.MaxDelay.String(), false},
		{"autothrottle_target_concurrency", strconv.FormatFloat(c.Throttling.TargetConcurrency, 'f', -1, 64), false},
	}
}

// itemsType is how the items are kept, for a person.
func (c Config) itemsType() string {
	if c.ItemStream == 0 {
		return "list"
	}
	return fmt.Sprintf("stream of %d", c.ItemStream)
}
