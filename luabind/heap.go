package luabind

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// defaultMemoryLimit is the heap of the process in bytes when Options does not say.
const defaultMemoryLimit = 2 << 30

const (
	heapTick     = 20 * time.Millisecond  // between looks at the heap, while a call runs for longer
	collectEvery = 100 * time.Millisecond // at least, between collections that the watch asks for,
	heapSlack    = 32 << 20               // unless the heap is so many bytes past the limit
)

// heapWatch ends the longest-running calls while the heap is past its limit. What a call holds cannot be told in Go, so
// the one that has run longest pays: ordinary calls end within milliseconds.
type heapWatch struct {
	limit uint64
	heap  func() uint64 // bytes of objects, dead ones that are not yet swept included

	mu    sync.Mutex
	calls map[*vm]watched // guarded by mu
	timer *time.Timer     // guarded by mu; nil while no call runs
	pace  pace            // of slow calls; guarded by mu, but for its share

	checking  sync.Mutex
	collected time.Time     // guarded by checking; the end of the last collection
	took      time.Duration // guarded by checking
}

type watched struct {
	call    uint64
	started time.Time
	slow    bool
}

func newHeapWatch(limit int64) *heapWatch {
	if limit <= 0 {
		limit = defaultMemoryLimit
	}
	w := &heapWatch{limit: uint64(limit), heap: heapObjects, calls: map[*vm]watched{}}
	w.pace.share.Store(wholeShare)
	return w
}

func heapObjects() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// begin puts a call under watch, until end. Both may be called on nil.
func (w *heapWatch) begin(v *vm) {
	if w == nil {
		return
	}
	callsBegun.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[v] = watched{call: v.interrupt.call, started: time.Now()}
	if w.timer == nil {
		w.pace.due = time.Now().Add(heapTick)
		w.timer = time.AfterFunc(heapTick, w.tick)
	}
}

func (w *heapWatch) end(v *vm) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, v)
}

// tick looks at the heap when a call has run for some time, and comes again while any runs.
func (w *heapWatch) tick() {
	w.mu.Lock()
	if len(w.calls) == 0 {
		w.timer = nil
		w.mu.Unlock()
		return
	}
	v, started := w.longest()
	next := heapTick
	if w.slow(time.Now()) {
		next = paceTick
	}
	w.mu.Unlock()
	if v != nil && time.Since(started) >= heapTick {
		w.check()
	}
	w.mu.Lock()
	w.pace.due = time.Now().Add(next)
	w.timer.Reset(next)
	w.mu.Unlock()
}

// slow has the slow calls rest as long as pace says, and reports whether there may be any. The caller holds mu.
func (w *heapWatch) slow(now time.Time) bool {
	w.pace.look(now, callsBegun.Load())
	any := false
	for v, c := range w.calls {
		if c.slow || now.Sub(c.started) >= heapTick {
			any = true
			v.interrupt.raise(restOf(c.call))
		}
	}
	return any
}

// hasMade takes note of a call that has made slowMade bytes of strings.
func (w *heapWatch) hasMade(v *vm) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, ok := w.calls[v]; ok && !c.slow {
		c.slow = true
		w.calls[v] = c
		w.timer.Reset(0)
	}
}

// restAfter is how long a slow call waits that has run for so long since it last did, and that may run for least of the time.
func (w *heapWatch) restAfter(ran time.Duration, least float64) time.Duration {
	if w == nil {
		return 0
	}
	return w.pace.restAfter(ran, least)
}

// longest is the call that has run longest. The caller holds mu.
func (w *heapWatch) longest() (longest *vm, started time.Time) {
	for v, c := range w.calls {
		if longest == nil || c.started.Before(started) {
			longest, started = v, c.started
		}
	}
	return longest, started
}

// check ends the longest-running call when the heap is past its limit even after a collection.
func (w *heapWatch) check() {
	if w == nil || w.heap() <= w.limit {
		return
	}
	w.checking.Lock()
	defer w.checking.Unlock()
	if time.Since(w.collected) < max(collectEvery, 4*w.took) && w.heap() <= w.limit+heapSlack {
		return
	}
	started := time.Now()
	runtime.GC()
	w.collected = time.Now()
	w.took = w.collected.Sub(started)
	if w.heap() <= w.limit {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if v, _ := w.longest(); v != nil {
		v.interrupt.exhaust(w.calls[v].call)
		delete(w.calls, v)
	}
}
