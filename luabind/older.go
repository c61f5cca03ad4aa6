package luabind

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"luacrawl/scheduler"
)

// Older finds a revision by the short form of its ID: one that is no longer the current one and has made requests that wait.
type Older func(ctx context.Context, revision string) (*scheduler.Revision, error)

const (
	mostOlder = 8                // older generations of a spider at once
	olderFor  = time.Minute      // that one is kept for after it was needed last
	olderLoad = 30 * time.Second // that finding and loading one may take
)

// olderGenerations are those that finish the requests which they have made, while newer ones begin others. The zero value has none and
// leaves all requests to the current generation.
type olderGenerations struct {
	load func(ctx context.Context, find Older, revision string) (*generation, error)

	mu    sync.Mutex
	find  Older                  // guarded by mu; nil: the current generation takes all over
	known map[string]*olderState // guarded by mu; by revision
	timer *time.Timer            // guarded by mu; nil while none is known
}

// olderState is one revision that is older, or that could not be had.
type olderState struct {
	ready  chan struct{} // closed when the rest is set
	gen    *generation   // nil: it could not be had, and the current one takes its requests over
	end    func()        // ends the loading; nil of one that was at hand
	needed time.Time     // guarded by mu
}

// generationFor is the one that a request of a revision runs on.
func (s *Spider) generationFor(ctx context.Context, made string) *generation {
	g := s.current.Load()
	if made == "" || made == g.revision {
		return g
	}
	if old := s.older.get(ctx, made); old != nil {
		return old
	}
	return g
}

// loadOlder loads a revision that is no longer at hand. What is wrong with it is said once while it is remembered.
func (s *Spider) loadOlder(ctx context.Context, find Older, revision string) (*generation, error) {
	current := s.current.Load()
	r, err := find(ctx, revision)
	if err == nil && r.Spider != current.name {
		err = fmt.Errorf("revision %s is one of spider %s", revision, r.Spider)
	}
	if err == nil {
		o := originOf(r, current.options)
		var g *generation
		if g, _, err = o.load(); err == nil {
			if sameSinks(&g.definition, &current.definition) {
				return g, nil
			}
			g.close()
			err = fmt.Errorf("revision %s: spider.pipelines names other sinks than those that are open", revision)
		}
	}
	if l := current.options.Logger; l != nil && !errors.Is(ctx.Err(), context.Canceled) {
		l.Warn("the revision that made some requests cannot be had: the newest takes them over", "revision", revision, "error", err)
	}
	return nil, err
}

// use sets how older requests are finished; nil drops all older generations.
func (o *olderGenerations) use(find Older) {
	var dropped []*generation
	o.mu.Lock()
	o.find = find
	if find == nil {
		for revision, state := range o.known {
			if state.end != nil {
				state.end()
			}
			dropped = append(dropped, o.drop(revision))
		}
	}
	o.mu.Unlock()
	closeAll(dropped)
}

// keep takes in the generation that was current until now.
func (o *olderGenerations) keep(g *generation) {
	ready := make(chan struct{})
	close(ready)
	o.mu.Lock()
	dropped := o.add(g.revision, &olderState{ready: ready, gen: g})
	o.mu.Unlock()
	closeAll(dropped)
}

// get gives the generation of a revision, nil when the current one is to take its requests over, or when ctx ended.
func (o *olderGenerations) get(ctx context.Context, revision string) *generation {
	o.mu.Lock()
	if o.find == nil {
		o.mu.Unlock()
		return nil
	}
	state, known := o.known[revision]
	if known {
		state.needed = time.Now()
	} else {
		state = o.begin(ctx, revision)
	}
	o.mu.Unlock()
	select {
	case <-state.ready:
		return state.gen
	case <-ctx.Done():
		return nil
	}
}

// begin loads a revision for all who wait for it, whichever of them gives up: of ctx it has only the values. The caller holds mu.
func (o *olderGenerations) begin(ctx context.Context, revision string) *olderState {
	find := o.find
	loading, end := context.WithTimeout(context.WithoutCancel(ctx), olderLoad)
	state := &olderState{ready: make(chan struct{}), end: end}
	dropped := o.add(revision, state)
	go func() {
		defer end()
		o.fill(loading, find, revision, state)
		closeAll(dropped)
	}()
	return state
}

// fill loads a revision. When only ctx ended, the next who asks tries again.
func (o *olderGenerations) fill(ctx context.Context, find Older, revision string, state *olderState) {
	defer close(state.ready)
	g, err := o.load(ctx, find, revision)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.known[revision] == state && err == nil:
		state.gen = g
	case o.known[revision] == state && ctx.Err() != nil:
		o.drop(revision)
	case err == nil: // dropped in the meantime: its VMs, of which none is idle yet, end with their calls
		state.gen = g
		g.close()
	}
}

// add takes a revision in, in the place of the one that was needed longest ago when there are too many. It returns what is to be closed. The
// caller holds mu.
func (o *olderGenerations) add(revision string, state *olderState) (dropped []*generation) {
	if o.known == nil {
		o.known = map[string]*olderState{}
	}
	if _, again := o.known[revision]; again {
		dropped = append(dropped, o.drop(revision))
	}
	for len(o.known) >= mostOlder {
		oldest := ""
		for r, s := range o.known {
			if oldest == "" || s.needed.Before(o.known[oldest].needed) {
				oldest = r
			}
		}
		dropped = append(dropped, o.drop(oldest))
	}
	state.needed = time.Now()
	o.known[revision] = state
	if o.timer == nil {
		o.timer = time.AfterFunc(olderFor, o.age)
	}
	return dropped
}

// drop forgets a revision and returns its generation, nil when it has none, to be closed without mu: closing runs Lua. The caller holds mu.
func (o *olderGenerations) drop(revision string) *generation {
	state := o.known[revision]
	delete(o.known, revision)
	if len(o.known) == 0 && o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	return state.gen
}

// age drops what nobody has needed for a while.
func (o *olderGenerations) age() {
	var dropped []*generation
	o.mu.Lock()
	for revision, state := range o.known {
		if time.Since(state.needed) >= olderFor {
			dropped = append(dropped, o.drop(revision))
		}
	}
	if len(o.known) > 0 {
		o.timer.Reset(olderFor / 4)
	}
	o.mu.Unlock()
	closeAll(dropped)
}

func closeAll(generations []*generation) {
	for _, g := range generations {
		if g != nil {
			g.close()
		}
	}
}
