package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"luacrawl/engine/export"
	"luacrawl/scheduler"
)

// parcel is a page on its way through the sinks: its outcome is committed when all of them have taken its items, so that a crash on the way
// fetches it again and loses none.
type parcel struct {
	result   result
	to       chan<- result  // who waits for it
	records  []parcelRecord // in the order of their sinks
	spider   string
	revision string
	url      string
	callback string
	refused  map[int]bool // numbers of items that a sink has refused: later sinks do not get them
	kept     map[int]bool // places in the outcome's items that go
	stopped  atomic.Bool  // its lease is lost, or the crawl ends
	gone     atomic.Bool  // it has left the sinks
}

// parcelRecord is one item for one sink.
type parcelRecord struct {
	Route
	id string
}

// of are the records that a sink is to get.
func (p *parcel) of(sink int) []parcelRecord {
	return slices.DeleteFunc(slices.Clone(p.records), func(r parcelRecord) bool { return r.Sink != sink || p.refused[r.Number] })
}

// refuse sends an item that a sink cannot take to dead. The rest of the page goes on.
func (p *parcel) refuse(r parcelRecord, sink string, err error) {
	if p.refused == nil {
		p.refused, p.kept = map[int]bool{}, map[int]bool{}
	}
	p.refused[r.Number] = true
	out := p.result.outcome
	out.Stats[statItemErrors]++
	if r.Kept >= 0 {
		p.kept[r.Kept] = true
		out.Stats[statItems]--
	}
	out.Dead = append(out.Dead, scheduler.DeadLetter{
		Kind: scheduler.DeadItem, Reason: scheduler.ReasonSinkRefused, Error: sink + ": " + err.Error(), URL: p.url, Callback: p.callback,
		Item: []byte(r.Item), Revision: p.revision, Time: time.Now().Unix(),
	})
}

// delivered is the result with what the sinks have made of it.
func (p *parcel) delivered() result {
	if p.stopped.Load() {
		return result{lease: p.result.lease, task: p.result.task}
	}
	if out := p.result.outcome; len(p.kept) > 0 {
		out.Items, out.Elsewhere = without(out.Items, p.kept), without(out.Elsewhere, p.kept) // one of the two is empty
		out.ItemIDs = without(out.ItemIDs, p.kept)
	}
	return p.result
}

// without are the items whose places are not gone.
func without[T any](items []T, gone map[int]bool) []T {
	left := items[:0:0]
	for i, item := range items {
		if !gone[i] {
			left = append(left, item)
		}
	}
	return left
}

// sinks are where items go beside Redis, in the order of their pipelines. A page goes from one to the next.
type sinks struct {
	crawl   *Crawl
	stages  []*stage
	parked  atomic.Int64 // pages that wait in them
	landing *landing
	since   atomic.Int64  // pages that have come since the feeder was woken
	wake    chan struct{} // there is room for the feeder to lease into; holds one
	ctx     context.Context
	abort   context.CancelFunc
}

// newSinks makes the stages; a crawl without sinks has none, and nothing of it costs anything.
func newSinks(c *Crawl) *sinks {
	s := &sinks{crawl: c, wake: make(chan struct{}, 1)}
	s.landing = newLanding(c, s.rouse)
	s.ctx, s.abort = context.WithCancel(context.Background())
	room := c.Settings.ConcurrentRequests + c.Settings.SinkBuffer + 1 // a task
	for i, to := range c.Sinks {
		s.stages = append(s.stages, &stage{sinks: s, at: i, sink: to, in: make(chan *parcel, room), most: sinkFirst})
	}
	return s
}

// Run moves pages until ctx ends, then closes the sinks.
func (s *sinks) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, s.abort)
	defer stop()
	var g errgroup.Group
	for _, st := range s.stages {
		g.Go(func() error { return st.Run(ctx) })
	}
	if len(s.stages) > 0 {
		g.Go(func() error { return s.landing.Run(ctx) })
	}
	return g.Wait()
}

// waiting is how many pages wait in the sinks without holding a worker's place.
func (s *sinks) waiting() int { return min(int(s.parked.Load()), s.crawl.Settings.SinkBuffer) }

// count keeps count of pages.
func (s *sinks) count(p *parcel, by int64) {
	if s.isPage(p) {
		s.parked.Add(by)
	}
}

// rouse makes the feeder look whether it has places.
func (s *sinks) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// isPage tells pages from what has no worker's place: a task and a start URL.
func (s *sinks) isPage(p *parcel) bool { return p.result.task == nil && p.to == s.crawl.feeder.done }

// take begins the way of a page whose items have somewhere to go. It blocks only where concurrent_requests has been raised far since the start.
func (s *sinks) take(ctx context.Context, p *parcel) {
	s.count(p, 1)
	s.crawl.inflight.start(p.result.lease.ID, func(error) { p.stopped.Store(true) })
	if s.isPage(p) {
		s.landing.arrive(p)
		if half := (s.crawl.settings.Load().ConcurrentRequests + 1) / 2; s.since.Add(1) >= int64(half) { // fewer are not worth a question
			s.since.Store(0)
			s.rouse()
		}
	}
	s.pass(ctx, p, 0)
}

// pass gives a page to the first sink from one on that gets something of it, or back to who waits for it. When ctx, that ends with the
// crawl, ends first, the page is left: its lease expires or was handed back.
func (s *sinks) pass(ctx context.Context, p *parcel, from int) {
	for i := from; i < len(s.stages); i++ {
		if !p.stopped.Load() && len(p.of(i)) > 0 {
			select {
			case s.stages[i].in <- p:
			case <-ctx.Done():
			}
			return
		}
	}
	p.gone.Store(true)
	s.crawl.inflight.start(p.result.lease.ID, nil)
	s.count(p, -1)
	select {
	case p.to <- p.delivered():
	case <-ctx.Done():
	}
}

// SinkState is how a sink does.
type SinkState struct {
	Name    string
	Down    time.Time // since when it has not taken anything; zero when it does
	Error   string    // why
	Written int64
	Refused int64
	Waiting int // pages
}

func (s *sinks) states() []SinkState {
	var all []SinkState
	for _, st := range s.stages {
		all = append(all, st.state())
	}
	return all
}

// down is the name of a sink that takes nothing, "" when all do.
func (s *sinks) down() string {
	for _, st := range s.stages {
		if state := st.state(); !state.Down.IsZero() {
			return state.Name
		}
	}
	return ""
}

// park hands a finished page to the sinks, or reports that it has nothing for them.
func (p *page) park(ctx context.Context, r result) bool { return p.parkFor(ctx, r, p.feeder.done) }

// parkFor is park where another than the feeder's loop waits for the page.
func (p *page) parkFor(ctx context.Context, r result, to chan<- result) bool {
	if len(p.routes) == 0 || r.outcome == nil {
		return false
	}
	parcel := &parcel{result: r, to: to, spider: p.Spider.Name(), revision: p.revision, url: leaseURL(p.lease)}
	if p.req != nil {
		parcel.callback = p.req.Callback
	}
	for _, r := range p.routes {
		parcel.records = append(parcel.records, parcelRecord{r, p.itemID(r.ItemInfo)})
	}
	p.sinks.take(ctx, parcel)
	return true
}

// record is what the sink is given.
func (p *parcel) record(r parcelRecord) export.Record {
	return export.Record{ID: r.id, Spider: p.spider, Revision: p.revision, Kind: r.Kind, JSON: []byte(r.Item)}
}

// log tells of one sink.
func (s *sinks) log() *slog.Logger { return s.crawl.Logger }

// checkRoutes refuses what names a sink that there is not: a script cannot do it.
func checkRoutes(routes []Route, sinks int) error {
	for _, r := range routes {
		if r.Sink < 0 || r.Sink >= sinks {
			return fmt.Errorf("the spider's pipelines are not those that the crawl was started with: start it anew")
		}
	}
	return nil
}
