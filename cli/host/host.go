package host

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"luacrawl/engine"
	"luacrawl/engine/fetch"
	"luacrawl/scheduler"
)

// lookEvery is how long a host relies on the word of Redis alone: it looks for itself at least so often, for words get lost.
const lookEvery = 700 * time.Millisecond

// Options are what a Host is made of.
type Options struct {
	Client   *scheduler.Client
	Only     []string // run only these spiders; none means all that the fleet has
	Data     string   // folder in which the last good revisions are kept; "" keeps none
	Layers   Layers
	Outside  Outside
	Args     map[string]string // spider.args of all spiders
	Identity Identity
	Voice    Voice                               // of the host itself
	VoiceOf  func(spider string) Voice           // of what runs a spider
	Observe  func(spider string) engine.Observer // of what runs a spider; nil when nobody looks
	OnEnded  func(Ended)                         // a crawl of a spider has ended; called from several goroutines
}

// Host runs the spiders of the fleet in this process:
//
//  1. It looks at the registry: whenever Redis says that it has changed, and by itself from time to time.
//  2. Each spider that is not stopped has a resident, which loads its newest revision, or the last good one, and crawls.
//  3. A resident is offered each change; it takes it over or refuses it, and the fleet is told which.
//  4. When Run's context ends the residents finish their pages, and the host leaves the list of workers.
type Host struct {
	Options
	shelf    shelf
	reporter *Reporter
	shared   Shared
	gone     chan *resident // that have ended

	// Only Run's goroutine.
	version int64  // of the registry, when it was looked at last
	said    string // of a registry that cannot be read
	missing string // named spiders that the fleet has not, as said

	mu         sync.Mutex
	residents  map[string]*resident // guarded by mu
	unreadable error                // guarded by mu; why the registry cannot be read
	killed     bool                 // guarded by mu
}

// New makes a Host. It does nothing until Run.
func New(o Options) *Host {
	h := &Host{Options: o, shelf: newShelf(o.Data, o.Client.Namespace()), gone: make(chan *resident), residents: map[string]*resident{}, version: -1}
	h.Identity.Only = o.Only
	h.shared = Shared{Places: engine.NewPlaces(), Memory: fetch.NewMemory(0)}
	h.reporter = NewReporter(o.Client, o.Voice, h.Identity, h.reports, nil)
	return h
}

// Run runs spiders until ctx ends and all have ended, which they do as a crawl does: pages that run are finished, up to the grace period.
func (h *Host) Run(ctx context.Context) error {
	reporting, stop := context.WithCancel(context.WithoutCancel(ctx))
	var reports, residents sync.WaitGroup
	reports.Go(func() { _ = h.reporter.Run(reporting) }) // it has said what it could not tell
	h.watch(ctx, &residents)
	ended := make(chan struct{})
	go func() {
		residents.Wait()
		close(ended)
	}()
	for done := false; !done; {
		select {
		case <-h.gone:
		case <-ended:
			done = true
		}
	}
	stop()
	reports.Wait()
	return nil
}

// watch looks at the registry until ctx ends.
func (h *Host) watch(ctx context.Context, wg *sync.WaitGroup) {
	changes := h.Client.Changes(ctx)
	h.look(ctx, wg)
	timer := time.NewTimer(jitter(lookEvery))
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case spider := <-changes: // "" after ctx has ended
			h.look(ctx, wg)
			h.nudge(spider)
		case r := <-h.gone:
			h.remove(r)
			h.look(ctx, wg)
		case <-timer.C:
			h.lookIfChanged(ctx, wg)
		}
		timer.Reset(jitter(lookEvery))
	}
}

// jitter is between half and all of d.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2) }

func (h *Host) lookIfChanged(ctx context.Context, wg *sync.WaitGroup) {
	version, err := h.Client.RegistryVersion(ctx)
	if err == nil && version == h.version {
		return
	}
	h.look(ctx, wg)
	h.nudge("")
}

// nudge makes the crawl of a spider, or of all, look whether people have told it something.
func (h *Host) nudge(spider string) {
	for _, r := range h.all() {
		if spider == "" || r.name == spider {
			r.nudge()
		}
	}
}

// look compares the registry with what runs here.
func (h *Host) look(ctx context.Context, wg *sync.WaitGroup) {
	version, err := h.Client.RegistryVersion(ctx)
	var entries []scheduler.Entry
	if err == nil {
		entries, err = h.Client.Registry(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	h.tellUnreadable(err)
	if err == nil {
		h.version = version
	}
	entries = slices.DeleteFunc(entries, func(e scheduler.Entry) bool { return !h.wants(e.Spider) })
	known := map[string]bool{}
	for _, e := range entries {
		known[e.Spider] = true
		h.settle(ctx, wg, e.Spider, offer{entry: e})
	}
	for _, name := range h.others(known) {
		h.lost(ctx, wg, name, err)
	}
	h.tellMissing(err, known)
}

// wants reports whether this host is to run a spider. What is no name of a spider cannot have been pushed.
func (h *Host) wants(spider string) bool {
	return spiderName.MatchString(spider) && (len(h.Only) == 0 || slices.Contains(h.Only, spider))
}

// others are spiders that run here, or of which a revision is kept, and that the registry did not show.
func (h *Host) others(known map[string]bool) []string {
	names := h.shelf.names()
	for _, r := range h.all() {
		names = append(names, r.name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(n string) bool { return known[n] || !h.wants(n) })
}

// lost is for a spider that the registry did not show: it was removed, or its entry is damaged, or all of the registry is.
func (h *Host) lost(ctx context.Context, wg *sync.WaitGroup, name string, err error) {
	if err != nil {
		_, err = h.Client.RegistryEntry(ctx, name)
	} else {
		err = scheduler.ErrNoEntry
	}
	switch {
	case ctx.Err() != nil || err == nil: // shown the next time
	case errors.Is(err, scheduler.ErrNoEntry):
		h.shelf.remove(name)
		h.settle(ctx, wg, name, offer{entry: scheduler.Entry{State: scheduler.Stopped}})
	default:
		h.settle(ctx, wg, name, offer{err: err})
	}
}

// settle starts, ends or tells the resident of a spider.
func (h *Host) settle(ctx context.Context, wg *sync.WaitGroup, name string, o offer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.residents[name]
	stopped := o.err == nil && o.entry.State == scheduler.Stopped
	switch {
	case r != nil && stopped:
		r.stop()
	case r != nil:
		r.offer(o)
	case !stopped:
		r = newResident(h, name)
		h.residents[name] = r
		r.offer(o)
		wg.Go(func() {
			r.run(ctx)
			h.gone <- r
		})
	}
}

func (h *Host) remove(r *resident) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.residents[r.name] == r {
		delete(h.residents, r.name)
	}
}

// tellUnreadable says once that the registry cannot be read, in whole or in part, and once that it can again.
func (h *Host) tellUnreadable(err error) {
	h.mu.Lock()
	h.unreadable = err
	h.mu.Unlock()
	text := ""
	if err != nil {
		text = err.Error()
	}
	switch {
	case text == h.said:
	case err != nil:
		h.Voice.Alarm("the registry cannot be read; what runs goes on, and what does not is taken from disk: " + text)
	default:
		h.Voice.Notice("the registry can be read again")
	}
	h.said = text
}

// tellMissing says which spiders were named that the fleet has not.
func (h *Host) tellMissing(err error, known map[string]bool) {
	if err != nil {
		return
	}
	missing := slices.DeleteFunc(slices.Clone(h.Only), func(n string) bool { return known[n] })
	text := strings.Join(missing, ", ")
	switch {
	case text == h.missing:
	case text != "":
		h.Voice.Notice(fmt.Sprintf("the fleet has no spider %s: waiting for it to be pushed", text))
	}
	if len(h.Only) == 0 && len(known) == 0 && h.missing == "" {
		h.Voice.Notice("the fleet has no spiders: waiting for one to be pushed (luacrawl push FILE)")
		text = "any"
	}
	h.missing = text
}

// Kill ends all crawls at once: leases in flight expire by themselves.
func (h *Host) Kill() {
	h.mu.Lock()
	h.killed = true
	h.mu.Unlock()
	for _, r := range h.all() {
		r.kill()
	}
}

func (h *Host) isKilled() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.killed
}

// all are the residents, by name.
func (h *Host) all() []*resident {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*resident, 0, len(h.residents))
	for _, r := range h.residents {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *resident) int { return strings.Compare(a.name, b.name) })
	return list
}
