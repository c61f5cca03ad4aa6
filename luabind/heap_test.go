package luabind

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestHeapWatchEndsTheLongestCall: one at a time, only past the limit, only what still runs.
func TestHeapWatchEndsTheLongestCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var heap atomic.Uint64
		heap.Store(100)
		w := newHeapWatch(100)
		w.heap = heap.Load
		var calls []*vm
		for range 4 {
			v := &vm{interrupt: &interrupt{}}
			v.interrupt.begin(context.Background())
			calls = append(calls, v)
			w.begin(v)
			<-time.After(heapTick / 8)
		}
		w.end(calls[0])
		ended := func() (n int) {
			for _, v := range calls {
				if v.interrupt.exhausted() && v.interrupt.now() {
					n++
				}
			}
			return n
		}
		<-time.After(time.Second)
		if n := ended(); n != 0 {
			t.Errorf("%d calls ended at the limit", n)
		}
		heap.Store(101)
		<-time.After(heapTick + 1)
		if n := ended(); n != 1 || !calls[1].interrupt.exhausted() {
			t.Errorf("%d calls ended past the limit, the longest among them: %v", n, calls[1].interrupt.exhausted())
		}
		<-time.After(time.Second)
		if n := ended(); n != 3 || calls[0].interrupt.exhausted() {
			t.Errorf("%d calls ended a second later, want the 3 that ran", n)
		}
		<-time.After(time.Second)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.timer != nil {
			t.Error("it still looks when nothing runs")
		}
	})
}
