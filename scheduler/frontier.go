package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Client is a connection to one Redis.
type Client struct{}

// DialOptions say which Redis to use.
type DialOptions struct {
	URL    string        // redis://, rediss:// or unix://, with go-redis' parameters
	Wait   time.Duration // how long to try a server that does not answer
	Logger *slog.Logger
}

// Dial connects to a Redis and checks that it may be used.
func Dial(ctx context.Context, o DialOptions) (*Client, error) { return nil, errors.New("stub") }

// Close ends all connections.
func (c *Client) Close() error { return nil }

// Partition says what shares a slot.
type Partition string

// Partitions.
const (
	PartitionHost   Partition = "host"   // host[:port]
	PartitionDomain Partition = "domain" // registrable domain
	PartitionNone   Partition = "none"   // the whole spider
)

// Queue is the order of requests within a slot.
type Queue string

// Queue orders.
const (
	QueuePriority Queue = "priority" // highest priority first, then first in first out
	QueueFIFO     Queue = "fifo"
	QueueLIFO     Queue = "lifo"
)

// Keys are the four key names that can be set; each may hold %(spider)s, which becomes the spider's name.
// The zero value means scrapy-redis' names.
type Keys struct {
	StartURLs, Requests, Dupefilter, Items string
}

// Config is what one crawl asks of its frontier.
type Config struct {
	Spider          string
	Keys            Keys
	Partition       Partition     // "" means host
	Queue           Queue         // "" means priority
	Delay           time.Duration // between two starts in a slot
	Concurrency     int           // leases of a slot at once
	Lease           time.Duration // how long a lease lasts without a heartbeat
	LeaseAttempts   int           // leases of one request that may end without an outcome
	MaxPending      int64         // no seeds are taken in above this
	Persist         bool          // keep queue and filter when the last worker closes
	FlushOnStart    bool
	DupefilterDebug bool   // log every duplicate, not only the first
	Worker          string // name of this worker in logs and dead letters: host:pid
	Revision        string
	Logger          *slog.Logger
}

// Frontier is one crawl's queues, filter, leases and results in Redis, as one worker process uses them.
// Exchange, Release and Close are called by one goroutine; the other methods by any.
type Frontier struct{}

// Open joins a crawl: it checks the per-fleet settings against those of the fleet and registers the worker.
// *SettingsError says that they differ.
func Open(ctx context.Context, c *Client, cfg Config) (*Frontier, error) {
	return nil, errors.New("stub")
}

// SettingsError is a per-fleet setting that differs from what the running fleet uses.
type SettingsError struct{ Name, Fleet, Ours, Remedy string }

func (e *SettingsError) Error() string { return e.Name }

// Exchanged is the answer to an Exchange.
type Exchanged struct {
	Stored   []bool // for each outcome: false means that its lease had expired and nothing of it was stored
	Leases   []Lease
	Wait     time.Duration // with fewer leases than asked for: when to ask again
	Refilled int           // seeds that were taken in
	Paused   bool
	Pending  int64
	Now      time.Time // Redis' clock when it leased
}

// Exchange commits outcomes and asks for up to want leases (after taking in up to seeds seeds), in one round trip where it can.
// It goes on until Redis has answered or ctx ends; it is safe whatever happens to a reply. Outcomes beyond what one
// commit may carry go out in several.
func (f *Frontier) Exchange(ctx context.Context, outcomes []*Outcome, want, seeds int) (Exchanged, error) {
	return Exchanged{}, errors.New("stub")
}

// Extend lengthens leases by a lease time and returns the IDs of those that are no longer ours.
func (f *Frontier) Extend(ctx context.Context, ids []string) (lost []string, err error) {
	return nil, errors.New("stub")
}

// Release hands leases back at once: place and attempts are kept.
func (f *Frontier) Release(ctx context.Context, ids []string) error { return errors.New("stub") }

// Idle is what a crawl has left.
type Idle struct {
	Pending, Leases, Seeds int64 // Pending includes the delayed
	Dequeued               int64 // grows with each lease
	Paused                 bool
}

// Done reports whether nothing is left at all.
func (i Idle) Done() bool { return i.Pending == 0 && i.Leases == 0 && i.Seeds == 0 }

// Idle asks, in one step, what is left. A crawl is finished when it is Done twice, a second apart, with the same Dequeued.
func (f *Frontier) Idle(ctx context.Context) (Idle, error) { return Idle{}, errors.New("stub") }

// Finish announces that the crawl is finished; first is true for one caller of a whole fleet.
func (f *Frontier) Finish(ctx context.Context) (first bool, err error) {
	return false, errors.New("stub")
}

// Resumed is the number of requests that were scheduled already when the frontier was opened.
func (f *Frontier) Resumed() int64 { return 0 }

// Stats are the counters of the whole crawl since its last flush.
func (f *Frontier) Stats(ctx context.Context) (map[string]int64, error) {
	return nil, errors.New("stub")
}

// Down says since when Redis has not answered; zero when it does.
func (f *Frontier) Down() time.Time { return time.Time{} }

// Close takes the worker off the crawl; without Persist the last one flushes the queue and the filter.
func (f *Frontier) Close(ctx context.Context) error { return nil }

// PushSeeds appends raw seeds to a start_urls key of any of its three types and returns how many were taken.
func (c *Client) PushSeeds(ctx context.Context, spider string, keys Keys, seeds [][]byte) (int, error) {
	return 0, errors.New("stub")
}

// Status is the state of a crawl: Enqueued = Pending + Delayed + InFlight + Finished + Dead.
type Status struct {
	Spider                                           string
	Enqueued, Pending, Delayed, InFlight, Done, Dead int64
	Seeds, Items, DeadLetters, Seen                  int64 // lengths of start_urls, items, dead, dupefilter
	Paused, Finished                                 bool
	Epoch                                            int64
	Workers                                          []string // alive
	Slots                                            int64
	Stats                                            map[string]int64
}

// Status reads the state of a crawl in one step.
func (c *Client) Status(ctx context.Context, spider string, keys Keys) (Status, error) {
	return Status{}, errors.New("stub")
}

// Spiders lists the spiders that have ever run on this Redis, by name.
func (c *Client) Spiders(ctx context.Context) ([]string, error) { return nil, errors.New("stub") }

// Enqueue adds requests that no lease caused (start URLs) and returns how many were new.
func (f *Frontier) Enqueue(ctx context.Context, children []Child) (added int, err error) {
	return 0, errors.New("stub")
}

// Describe fills in what the letter is about.
func (d *DeadLetter) Describe(l Lease) {}
