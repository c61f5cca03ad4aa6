package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"luacrawl/engine"
	"luacrawl/engine/export"
	"luacrawl/engine/fetch"
	"luacrawl/engine/files"
	"luacrawl/luabind"
	"luacrawl/scheduler"
)

// closeWait is for the last words with Redis.
const closeWait = 10 * time.Second

// CrawlOptions are what a Crawl is made of.
type CrawlOptions struct {
	Client    *scheduler.Client
	Spider    *luabind.Spider
	Source    Source // that the spider was loaded from
	Voice     Voice
	Worker    string // names this process to others: host:pid
	Seeds     [][]byte
	UntilDone bool
	Flush     bool // empty queue and filter first
	OnItems   func([]engine.Item) error
	Shared    Shared
	Observer  engine.Observer // nil when nobody looks
}

// Shared is what the crawls of a process share. A nil field is the crawl's own.
type Shared struct {
	Places *engine.Places // that calls into spiders run on
	Memory *fetch.Memory  // of bodies
}

// Crawl is the crawl of one spider in this process, with all that it needs: frontier, downloader, engine, and what keeps it in step
// with edits and with what people tell the fleet.
type Crawl struct {
	*Reloader
	options    CrawlOptions
	settings   engine.Settings // of the start
	frontier   *scheduler.Frontier
	agreed     scheduler.Config // what the fleet was told last; only who calls Take
	downloader *fetch.Downloader
	claims     []export.Claimer // sinks that are this crawl's alone
	engine     *engine.Crawl
	told       chan struct{} // of a change of the control; holds one
	control    int64         // only follow's goroutine; version that is in effect
	cancel     context.CancelCauseFunc
	mu         sync.Mutex // guards cancel and stopped
	stopped    bool       // before or in Run
}

// Open joins the crawl in Redis. *scheduler.SettingsError and scheduler.ErrFleetAlive are as in scheduler.Open.
func Open(ctx context.Context, o CrawlOptions) (*Crawl, error) {
	c := &Crawl{options: o, told: make(chan struct{}, 1)}
	keys, err := c.merge()
	if err != nil {
		return nil, err
	}
	control, err := o.Client.Control(ctx, o.Spider.Name(), keys.Keys)
	if err != nil {
		return nil, err
	}
	var refused string
	c.options.Source.Layers.Live, refused = workerLive(control.Live)
	if c.settings, err = c.merge(); err != nil {
		return nil, err
	}
	_ = o.Voice.SetLevel(c.settings.LogLevel) // Merge has checked it
	c.agreed = c.frontierConfig(c.settings)
	config := c.agreed
	config.FlushOnStart, config.Revision = o.Flush, o.Spider.Revision()
	if c.frontier, err = scheduler.Open(ctx, o.Client, config); err != nil {
		return nil, err
	}
	stores, err := c.stores()
	if err != nil {
		return nil, errors.Join(err, c.leave(ctx))
	}
	sinks, err := c.sinks(ctx)
	if err != nil {
		return nil, errors.Join(err, c.unclaim(), c.leave(ctx))
	}
	download := c.settings.FetchConfig()
	download.EnvironmentProxy = o.Source.Outside.Proxy
	download.Memory = o.Shared.Memory
	c.downloader = fetch.New(download)
	if c.engine, err = engine.New(c.engineOptions(sinks, stores)); err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	c.Reloader = newReloader(o.Spider, c.options.Source, o.Voice, c.engine.SetSettings)
	c.refused = refused
	if refused != "" {
		o.Voice.Logger.Error("settings that were set live are not in effect", "error", refused)
	}
	return c, nil
}

func (c *Crawl) merge() (engine.Settings, error) {
	return c.options.Source.Layers.Merge(c.options.Source.String(), c.options.Spider.Settings())
}

func (c *Crawl) frontierConfig(s engine.Settings) scheduler.Config {
	return scheduler.Config{
		Spider:          c.options.Spider.Name(),
		Keys:            s.Keys,
		Partition:       s.Partition,
		Queue:           s.Queue,
		Delay:           s.DownloadDelay,
		Concurrency:     s.ConcurrentRequestsPerDomain,
		Total:           s.ConcurrentRequestsTotal,
		Throttling:      s.Throttling,
		RandomizeDelay:  s.RandomizeDownloadDelay,
		SlotRules:       s.DownloadSlots,
		PagesPerSlot:    s.CloseSpiderPageCountPerSlot,
		Lease:           s.Lease,
		LeaseAttempts:   s.LeaseAttempts,
		MaxPending:      s.MaxPending,
		ItemStream:      c.options.Spider.ItemStream(),
		NoItems:         !c.options.Spider.StoresItems(),
		Persist:         s.SchedulerPersist,
		DupefilterDebug: s.DupefilterDebug,
		ThrottleDebug:   s.AutothrottleDebug,
		Worker:          c.options.Worker,
		Logger:          c.options.Voice.Logger,
	}
}

func (c *Crawl) engineOptions(sinks []export.Sink, stores map[float64]*files.Store) engine.Options {
	return engine.Options{
		Spider:     c.options.Spider,
		Settings:   c.settings,
		Frontier:   c.frontier,
		Downloader: c.downloader,
		Logger:     c.options.Voice.Logger,
		Places:     c.options.Shared.Places,
		Seeds:      c.options.Seeds,
		Sinks:      sinks,
		Files:      stores,
		Elsewhere:  !c.options.Spider.StoresItems(),
		UntilDone:  c.options.UntilDone,
		Observer:   c.options.Observer,
		OnItems:    c.options.OnItems,
		OnControl:  func(int64, scheduler.State) { c.Nudge() },
	}
}

// Run crawls as engine.Crawl.Run does, and follows the control of the crawl meanwhile. A panic in it is an error.
func (c *Crawl) Run(ctx context.Context) (sum engine.Summary, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.mu.Lock()
	c.cancel = cancel
	if c.stopped {
		cancel(engine.ErrStopped)
	}
	c.mu.Unlock()
	following, end := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { c.follow(following) })
	defer wg.Wait()
	defer end()
	defer func() {
		if p := recover(); p != nil {
			c.Kill()
			sum.Reason, err = engine.ReasonFailed, fmt.Errorf("internal error: %v", p)
		}
	}()
	return c.engine.Run(ctx)
}

// Take takes a revision over that was pushed by an entry of a version; older is luabind's. Settings of the fleet that it changes hold for all
// workers from the next lease on. The error says why the last good revision goes on, if it is no *AgreeError.
func (c *Crawl) Take(rev *scheduler.Revision, version int64, older luabind.Older) error {
	if err := c.Reloader.Take(rev, older); err != nil {
		return err
	}
	settings, err := c.merge()
	if err != nil {
		return err
	}
	config := c.frontierConfig(settings)
	if config == c.agreed {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	if err := c.frontier.Agree(ctx, version, config); err != nil {
		return &AgreeError{err}
	}
	c.agreed = config
	return nil
}

// Stop ends a Run, also one that is to begin, without grace: pages that run are handed back.
func (c *Crawl) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	if c.cancel != nil {
		c.cancel(engine.ErrStopped)
	}
}

// Kill ends a Run at once: leases in flight expire by themselves.
func (c *Crawl) Kill() { c.engine.Kill() }

// Progress may be asked at any time.
func (c *Crawl) Progress() engine.Progress { return c.engine.Progress() }

// Watched is how the crawl does. Its rate is not known.
func (c *Crawl) Watched() Watched {
	s := Status{Spider: c.options.Spider.Name(), Revision: c.options.Spider.Content().ID, Broken: c.Unmended(), Progress: c.Progress()}
	return Watched{s, c.engine.Stats()}
}

// Settings are those of the start.
func (c *Crawl) Settings() engine.Settings { return c.settings }

// Nudge makes the crawl look whether people have told it something.
func (c *Crawl) Nudge() {
	select {
	case c.told <- struct{}{}:
	default:
	}
}

// follow keeps the live settings, and the state, as people have set them.
func (c *Crawl) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.told:
		}
		control, err := c.options.Client.Control(ctx, c.options.Spider.Name(), c.settings.Keys)
		if err != nil {
			continue // of ctx; or of a key of another type, which ends the crawl by itself
		}
		if control.State == scheduler.Stopped {
			c.Stop()
		}
		if control.Version != c.control {
			c.control = control.Version
			c.Live(control.Live)
		}
	}
}

// Ended is how a crawl ended, for a person.
type Ended struct {
	Spider string
	engine.Summary
	Progress  engine.Progress
	Revisions []string          // that have run, in order
	Unmended  string            // where the last edit is broken, "" when it is in effect
	Left      *scheduler.Status // nil when Redis could not be asked
}

// Ended completes a summary of Run.
func (c *Crawl) Ended(ctx context.Context, sum engine.Summary) Ended {
	e := Ended{Spider: c.options.Spider.Name(), Summary: sum, Progress: c.engine.Progress(), Revisions: c.History(), Unmended: c.Unmended()}
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	if status, err := c.options.Client.Status(asking, e.Spider, c.settings.Keys); err == nil {
		e.Left = &status
	}
	return e
}

// Close takes the worker off the crawl. Close it after Run.
func (c *Crawl) Close(ctx context.Context) error {
	c.downloader.Close()
	return errors.Join(c.unclaim(), c.leave(ctx))
}

func (c *Crawl) leave(ctx context.Context) error {
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	return c.frontier.Close(leaving)
}
