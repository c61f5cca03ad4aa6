package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"luacrawl/engine"
	"luacrawl/luabind"
	"luacrawl/scheduler"
)

const (
	retryLeast = time.Second      // before a crawl that has failed is begun again; doubled each time
	retryMost  = 30 * time.Second //
	mendEvery  = 5 * time.Second  // between two looks at a revision that could not be had
)

// offer is what the registry says of a spider: what to run, or why it cannot be read.
type offer struct {
	entry scheduler.Entry
	err   error
}

// resident is one spider in a host: it keeps the newest good revision loaded and its crawl going, whatever fails. Its goroutine is run's.
type resident struct {
	host   *Host
	name   string
	voice  Voice
	wake   chan struct{} // holds one
	halted chan struct{} // closed by stop
	halt   sync.Once

	// Only run's goroutine.
	spider  *luabind.Spider
	source  Source
	entry   scheduler.Entry // the newest that was taken over or refused
	refused string          // the last refusal, as said
	shelved bool            // the revision on disk was tried
	again   time.Time       // when to look once more at what was refused; zero: not by itself
	begin   time.Time       // no crawl before this time
	failure time.Duration   // the wait after the last failed crawl
	anew    bool            // the crawl is being ended to begin again with other sinks
	resting bool            // the crawl has closed itself: only a change begins it again
	ended   chan crawlEnd
	said    reminded

	mu      sync.Mutex
	offered *offer           // guarded by mu; not yet considered
	crawl   *Crawl           // guarded by mu; nil while none runs
	version int64            // guarded by mu; of entry
	shown   string           // guarded by mu; ID of what is loaded
	broken  error            // guarded by mu; why the newest revision is not in effect
	unread  error            // guarded by mu; why the registry does not say what the newest is
	trouble error            // guarded by mu; why no crawl runs
	last    engine.Progress  // guarded by mu; of the last crawl
	stats   map[string]int64 // guarded by mu; of crawls that have ended
	rates   Rates            // guarded by mu
}

type crawlEnd struct {
	crawl  *Crawl
	sum    engine.Summary
	err    error
	lasted time.Duration
}

func newResident(h *Host, name string) *resident {
	return &resident{host: h, name: name, voice: h.VoiceOf(name), wake: make(chan struct{}, 1), halted: make(chan struct{}), ended: make(chan crawlEnd), stats: map[string]int64{}}
}

// offer gives it the newest state of the registry.
func (r *resident) offer(o offer) {
	r.mu.Lock()
	r.offered = &o
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// stop ends it without grace: its pages are handed back.
func (r *resident) stop() { r.halt.Do(func() { close(r.halted) }) }

func (r *resident) kill() {
	if c := r.running(); c != nil {
		c.Kill()
	}
}

func (r *resident) nudge() {
	if c := r.running(); c != nil {
		c.Nudge()
	}
}

func (r *resident) running() *Crawl {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.crawl
}

// run keeps the spider going until ctx ends or it is stopped.
func (r *resident) run(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-r.halted:
			cancel(engine.ErrStopped)
		case <-ctx.Done():
		}
	}()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		timer.Reset(r.step(ctx, time.Now()))
		select {
		case <-ctx.Done():
		case <-r.wake:
		case end := <-r.ended:
			r.crawlEnded(ctx, end)
		case <-timer.C:
		}
	}
	if r.running() != nil {
		r.crawlEnded(ctx, <-r.ended)
	}
	if r.spider != nil {
		r.spider.Close()
	}
}

// step does what is due and says how long it can wait. A panic in it is a failure of this spider alone.
func (r *resident) step(ctx context.Context, now time.Time) (wait time.Duration) {
	defer func() {
		if p := recover(); p != nil {
			r.fail(ctx, fmt.Errorf("internal error: %v", p))
			wait = r.failure
		}
	}()
	r.mu.Lock()
	o := r.offered
	r.offered = nil
	r.mu.Unlock()
	switch {
	case o != nil:
		r.consider(ctx, *o)
	case !r.again.IsZero() && !now.Before(r.again):
		r.again = time.Time{}
		r.takeOver(ctx, r.entry)
	}
	if r.spider != nil && r.running() == nil && !r.resting && !now.Before(r.begin) && ctx.Err() == nil {
		r.start(ctx)
	}
	wait = time.Hour
	if !r.again.IsZero() {
		wait = min(wait, time.Until(r.again))
	}
	if r.spider != nil && r.running() == nil && !r.resting {
		wait = min(wait, max(time.Until(r.begin), time.Millisecond))
	}
	return wait
}

// consider takes in what the registry says.
func (r *resident) consider(ctx context.Context, o offer) {
	r.mu.Lock()
	r.unread = o.err
	r.mu.Unlock()
	switch {
	case o.err != nil:
		r.fromShelf()
		return
	case o.entry.Version != r.entry.Version || o.entry.Revision != r.entry.Revision: // versions begin anew in a registry that was lost
		r.resting, r.begin, r.failure = false, time.Time{}, 0
		r.takeOver(ctx, o.entry)
	case o.entry.State != r.entry.State:
		r.resting = false
	}
	r.entry = o.entry
}

// takeOver makes an entry's revision what runs, or leaves what runs and says why. What Redis has lost may come back; what is broken
// stays so until the next push.
func (r *resident) takeOver(ctx context.Context, e scheduler.Entry) {
	r.again = time.Time{}
	rev, err := r.fetch(ctx, e)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		r.again = time.Now().Add(mendEvery)
		r.refuse(e, err, false)
		return
	}
	loaded := r.running() != nil
	err = r.adopt(rev, e.Version, e.Policy)
	if disagreed := (*AgreeError)(nil); errors.As(err, &disagreed) {
		r.disagreed(e, err)
		return
	}
	if pipelines := (*luabind.PipelinesChangedError)(nil); loaded && errors.As(err, &pipelines) {
		r.anew = true
		r.voice.Notice(fmt.Sprintf("the crawl is begun again with revision %s: its items go elsewhere", scheduler.ShortRevision(e.Revision)))
		r.running().Stop()
		return
	}
	if err != nil {
		r.refuse(e, err, loaded)
		return
	}
	r.refused = ""
	r.confirm(e)
	if err := r.host.shelf.put(rev); err != nil {
		r.voice.Logger.Error("the last good revision is not kept", "error", err)
	}
}

func (r *resident) fetch(ctx context.Context, e scheduler.Entry) (*scheduler.Revision, error) {
	rev, err := r.host.Client.Revision(ctx, e.Revision)
	if err == nil && rev.Spider != r.name {
		err = fmt.Errorf("revision %s is one of spider %s", scheduler.ShortRevision(rev.ID), rev.Spider)
	}
	return rev, err
}

// adopt loads the revision of an entry, which has a version: into the crawl that runs, or for the one to come. A panic in it is a fault of the revision.
func (r *resident) adopt(rev *scheduler.Revision, version int64, policy scheduler.Policy) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error while loading revision %s: %v", scheduler.ShortRevision(rev.ID), p)
		}
	}()
	var older luabind.Older
	if policy == scheduler.FinishOld {
		older = r.host.Client.Revision
	}
	if c := r.running(); c != nil {
		return c.Take(rev, version, older)
	}
	source := Source{Revision: rev, Args: r.host.Args, Layers: r.host.Layers, Outside: r.host.Outside}
	spider, _, err := source.Load(r.voice)
	if err != nil {
		return err
	}
	if older != nil {
		if _, err := spider.ReloadRevision(rev, older, nil); err != nil {
			spider.Close()
			return err
		}
	}
	if r.spider != nil {
		r.spider.Close()
	}
	r.spider, r.source = spider, source
	return nil
}

// confirm tells the fleet that an entry is in effect.
func (r *resident) confirm(e scheduler.Entry) {
	r.mu.Lock()
	r.version, r.shown, r.broken, r.trouble = e.Version, r.spider.Content().ID, nil, nil
	r.mu.Unlock()
	r.host.reporter.Nudge()
}

// refuse tells the fleet, and the log once unless that is done, that an entry is not in effect. At the start the last good revision is
// taken from disk.
func (r *resident) refuse(e scheduler.Entry, err error, said bool) {
	r.mu.Lock()
	r.version, r.broken = e.Version, err
	r.mu.Unlock()
	r.host.reporter.Nudge()
	text := fmt.Sprint(e.Version, " ", err)
	said = said || text == r.refused
	r.refused = text
	c := r.running()
	switch {
	case said:
	case c != nil:
		c.Refuse(err)
	default:
		r.voice.Alarm(fmt.Sprintf("revision %s cannot be run: %s", scheduler.ShortRevision(e.Revision), r.voice.Explain(err)))
	}
	r.fromShelf()
}

// fromShelf loads, once, the revision that was kept on disk, if there is nothing better.
func (r *resident) fromShelf() {
	if r.spider != nil || r.shelved {
		return
	}
	r.shelved = true
	rev, err := r.host.shelf.get(r.name)
	if err == nil && rev != nil {
		err = r.adopt(rev, 0, scheduler.Adopt)
	}
	switch {
	case err != nil:
		r.voice.Alarm("the last good revision cannot be run either: " + r.voice.Explain(err))
	case rev == nil:
		r.voice.Alarm("no good revision is kept on disk: waiting for one")
	default:
		r.mu.Lock()
		r.shown = rev.ID
		r.mu.Unlock()
		r.voice.Notice(fmt.Sprintf("running revision %s, the last good one, kept in %s", scheduler.ShortRevision(rev.ID), r.host.shelf.file(r.name)))
	}
}

// start opens the crawl and lets it run.
func (r *resident) start(ctx context.Context) {
	var observer engine.Observer
	if r.host.Observe != nil {
		observer = r.host.Observe(r.name)
	}
	c, err := Open(ctx, CrawlOptions{
		Observer: observer,
		Client:   r.host.Client, Spider: r.spider, Source: r.source, Voice: r.voice, Worker: r.host.Identity.Worker, Shared: r.host.shared,
	})
	if err != nil {
		r.fail(ctx, err)
		return
	}
	r.mu.Lock()
	r.crawl, r.trouble = c, nil
	r.mu.Unlock()
	if r.host.isKilled() {
		c.Kill()
	}
	r.voice.Notice(fmt.Sprintf("crawling, revision %s", r.spider.Revision()))
	for _, line := range r.said.fresh(c.settings) {
		r.voice.Notice(line)
	}
	go func() {
		began := time.Now()
		sum, err := c.Run(ctx)
		r.ended <- crawlEnd{c, sum, err, time.Since(began)}
	}()
}

// crawlEnded tells how a crawl ended, closes it, and says when the next may begin.
func (r *resident) crawlEnded(ctx context.Context, end crawlEnd) {
	if r.host.OnEnded != nil {
		r.host.OnEnded(end.crawl.Ended(ctx, end.sum))
	}
	err := errors.Join(end.err, end.crawl.Close(ctx))
	r.mu.Lock()
	r.last, r.crawl = end.crawl.Progress(), nil
	addStats(r.stats, end.sum.Stats)
	r.mu.Unlock()
	if end.lasted > retryMost {
		r.failure = 0
	}
	switch {
	case ctx.Err() != nil && err != nil:
		r.voice.Logger.Error("while stopping", "error", err)
	case ctx.Err() != nil:
	case r.anew:
		r.anew, r.begin = false, time.Time{}
		if err != nil {
			r.voice.Alarm("while the crawl was ended to begin again: " + r.voice.Explain(err))
		}
		r.takeOver(ctx, r.entry)
	case err != nil:
		r.fail(ctx, err)
	case end.sum.Reason == engine.ReasonStopped: // the registry says so in a moment, or says that it runs again
		r.begin = time.Now().Add(retryLeast)
	default:
		r.resting = true
		r.setTrouble(fmt.Errorf("the crawl closed itself (%s): it is begun again by a push, or by stop and resume", end.sum.Reason))
	}
}

// fail notes that the crawl cannot run now. It is tried again.
func (r *resident) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	r.failure = min(max(2*r.failure, retryLeast), retryMost)
	wait := jitter(r.failure)
	r.begin = time.Now().Add(wait)
	r.voice.Alarm(fmt.Sprintf("the crawl has failed and is tried again in %s: %s", wait.Round(100*time.Millisecond), r.voice.Explain(err)))
	r.setTrouble(err)
}

func (r *resident) setTrouble(err error) {
	r.mu.Lock()
	r.trouble = err
	r.mu.Unlock()
	r.host.reporter.Nudge()
}
