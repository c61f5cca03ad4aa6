package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"luacrawl/engine/export"
	"luacrawl/engine/fetch"
	"luacrawl/engine/fetch/robots"
	"luacrawl/engine/files"
	"luacrawl/scheduler"
)

// Options are what a Crawl is made of.
type Options struct {
	Spider     Spider
	Settings   Settings
	Frontier   *scheduler.Frontier
	Downloader *fetch.Downloader
	Logger     *slog.Logger
	Places     *Places                  // that calls into the spider run on, shared by the crawls of a process; nil means its own
	Seeds      [][]byte                 // go through the duplicate check at the start, beside the spider's start_urls
	Sinks      []export.Sink            // where items go beside Redis, in the order of the spider's pipelines
	Files      map[float64]*files.Store // of the spider's pipelines of files, by their order
	Elsewhere  bool                     // Redis is none of the spider's pipelines: items are counted and shown, and not kept there
	UntilDone  bool                     // end when the crawl is finished
	Observer   Observer                 // nil when nobody looks
	OnItems    func([]Item) error       // gets items that Redis has taken, from one goroutine; an error ends the crawl

	// OnControl is told when people have told the whole crawl something (scheduler.Control), at the start too. It is called by the
	// feeder, so it must not wait.
	OnControl func(version int64, state scheduler.State)
}

// Crawl is the crawl of one spider on one host.
//
// Its life: Run starts the workers, the heartbeat and the feeder; the feeder alone talks to the frontier. When the crawl is to
// end, the feeder leases no more, waits for running pages, commits them, hands back the rest, and the others stop after it.
type Crawl struct {
	Options                           // Settings are those of the start
	settings atomic.Pointer[Settings] // in effect now
	totals   *totals
	raised   *errorGroups
	inflight *inflight
	feeder   *feeder
	tasks    *taskRunner
	share    *share // of the Places
	sinks    *sinks
	robots   *robotsCache
	jars     *cookieJars

	unavailable unavailability
	storesDown  map[float64]*storeDown // of Files

	killOnce sync.Once
	killed   chan struct{} // closed by Kill
}

// New makes a Crawl. It does nothing until Run.
func New(o Options) (*Crawl, error) {
	if o.Spider == nil || o.Frontier == nil || o.Downloader == nil {
		return nil, errors.New("a crawl needs a spider, a frontier and a downloader")
	}
	if _, ok := o.Spider.(ItemFinisher); !ok && len(o.Files) > 0 {
		return nil, errors.New("a crawl with files needs a spider whose items may wait for them")
	}
	if err := o.Settings.Validate(); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observer == nil {
		o.Observer = unobserved{}
	}
	c := &Crawl{
		Options: o, totals: newTotals(), raised: newErrorGroups(o.Logger), inflight: newInflight(),
		killed: make(chan struct{}), robots: newRobotsCache(robots.ProductToken(o.Settings.UserAgent)), jars: newCookieJars(o.Logger),
		storesDown: newStoresDown(o.Files),
	}
	if c.Places == nil {
		c.Places = NewPlaces()
	}
	c.SetSettings(o.Settings)
	c.sinks = newSinks(c)
	c.feeder = newFeeder(c)
	c.tasks = newTaskRunner(c)
	return c, nil
}

// Run crawls until ctx ends, the crawl is stopped in the whole fleet, a close condition holds, or, with UntilDone, the crawl is finished. When ctx ends it stops
// leasing, lets running pages finish up to the grace period, commits them and hands the rest back. The error says why the
// crawl failed; the summary is valid in any case. Run may be called once.
func (c *Crawl) Run(ctx context.Context) (Summary, error) {
	started := time.Now()
	c.share = c.Places.join()
	defer c.Places.part(c.share)
	if c.Settings.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Settings.Timeout, errTimeout)
		defer cancel()
	}
	// hard ends everything at once. It outlives ctx by the grace period, and the services by the feeder.
	hard, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go func() {
		select {
		case <-c.killed:
			stop()
		case <-hard.Done():
		}
	}()

	services, _ := errgroup.WithContext(hard)
	c.feeder.hire = func() { services.Go(func() error { return newWorker(c).Run(hard) }) }
	beat, stopBeat := context.WithCancel(hard)
	services.Go(func() error { return newHeartbeat(c).Run(beat) })
	services.Go(func() error { return c.raised.Run(hard) })
	services.Go(func() error { return c.sinks.Run(hard) })
	services.Go(func() error { return c.tasks.Run(beat) })

	reason, err := c.feeder.Run(ctx, hard)
	stopBeat()
	stop()
	if werr := services.Wait(); err == nil {
		err = werr
	}
	c.raised.tell(time.Now())
	return c.summary(reason, started), err
}

// Kill stops at once: leases in flight expire by themselves.
func (c *Crawl) Kill() { c.killOnce.Do(func() { close(c.killed) }) }

var errTimeout = errors.New("the run's timeout is over")

// ErrStopped as the cause of the end of Run's context ends a crawl without grace: running pages are handed back.
var ErrStopped = errors.New("the crawl was stopped")

// Why a crawl ended, as Summary.Reason has it.
const (
	ReasonFinished     = "finished"
	ReasonNoWork       = "nothing_to_do" // finished without a page, a seed or a request
	ReasonInterrupted  = "interrupted"
	ReasonKilled       = "killed"
	ReasonTimeout      = "timeout"
	ReasonMaxIdleTime  = "max_idle_time"
	ReasonPageCount    = "closespider_pagecount"
	ReasonItemCount    = "closespider_itemcount"
	ReasonErrorCount   = "closespider_errorcount"
	ReasonFailed       = "failed"
	ReasonStopped      = "stopped" // its state in the fleet became stopped, or ErrStopped ended Run's context
	summaryStatsWithin = 2 * time.Second
)

// Summary is how a crawl ended on this host.
type Summary struct {
	Reason   string
	Started  time.Time
	Duration time.Duration
	Stats    map[string]int64 // of this process, Scrapy's names
	Total    map[string]int64 // of the whole crawl; nil when Redis did not answer
	Released int              // leases handed back
	Lost     int              // outcomes refused as late
	Raised   []ErrorGroup     // what the scripts raised here, the most frequent first
}

func (c *Crawl) summary(reason string, started time.Time) Summary {
	s := Summary{
		Reason: reason, Started: started, Duration: time.Since(started), Stats: c.totals.snapshot(),
		Released: c.feeder.released, Lost: c.feeder.lost, Raised: c.raised.list(),
	}
	if !c.Frontier.Down().IsZero() {
		return s
	}
	ctx, cancel := context.WithTimeout(context.Background(), summaryStatsWithin)
	defer cancel()
	if total, err := c.Frontier.Stats(ctx); err == nil {
		s.Total = total
	}
	return s
}

// Progress is the state of a running crawl, for a person to look at.
type Progress struct {
	Pages, Items, Errors int64 // of this process
	Pending              int64 // of the whole crawl, as last heard
	InFlight             int
	Down                 time.Time // since when Redis has not answered; zero when it does
	Paused               bool
	State                scheduler.State // of the crawl in the whole fleet, as last heard; "" before
	Idle                 bool            // waiting for seeds
	SinkDown             string          // name of a sink that takes nothing at the moment, "" when all do
}

// SinkStates says how each sink does. It may be asked at any time.
func (c *Crawl) SinkStates() []SinkState { return c.sinks.states() }

// Progress may be asked at any time.
func (c *Crawl) Progress() Progress {
	return Progress{
		Pages:    c.totals.get(statResponses),
		Items:    c.totals.get(statItems),
		Errors:   c.totals.get(statExceptions) + c.totals.get(statSpiderErrors),
		Pending:  c.feeder.pending.Load(),
		InFlight: c.inflight.len(),
		Down:     c.Frontier.Down(),
		Paused:   c.feeder.paused.Load(),
		State:    c.feeder.heard(),
		Idle:     c.feeder.idle.Load(),
		SinkDown: c.sinks.down(),
	}
}

// Stats are the counters of this process so far, with Scrapy's names. It may be asked at any time.
func (c *Crawl) Stats() map[string]int64 { return c.totals.snapshot() }

// unavailableMost is the longest wait before a call is made again whose script has said that something is down.
const unavailableMost = 5 * time.Second

// callSpider runs one call, again and again while the script says that something it needs is down: the page waits, and holds its place.
func (c *Crawl) callSpider(ctx context.Context, call func(context.Context) (*Output, error)) (*Output, error) {
	there, waits := false, false
	for wait := (backoff{}); ; {
		out, err := c.callOnce(ctx, call)
		var down *UnavailableError
		if !errors.As(err, &down) {
			there = ctx.Err() == nil
			return out, err
		}
		if !waits {
			waits = true
			c.unavailable.enter(time.Now())
			defer func() { c.unavailable.leave(c.Logger, there, time.Now()) }()
		}
		c.unavailable.tell(c.Logger, down.Reason, time.Now())
		timer := time.NewTimer(wait.nextUpTo(unavailableMost))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

// callOnce runs one call within callback_timeout, which does not count the wait for a place.
func (c *Crawl) callOnce(ctx context.Context, call func(context.Context) (*Output, error)) (*Output, error) {
	at, err := c.share.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer at.leave()
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, placeKey{}, at), c.settings.Load().CallbackTimeout)
	defer cancel()
	started := time.Now()
	defer func() { c.Observer.Called(time.Since(started)) }()
	return call(ctx)
}
