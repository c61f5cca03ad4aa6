package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// callers keep n calls of a crawl coming, each of which takes d, until ctx ends. They count those that run and those that have ended.
type callers struct {
	share         *share
	running, most atomic.Int64
	done          atomic.Int64
	longestWait   atomic.Int64
}

func (c *callers) run(ctx context.Context, wg *sync.WaitGroup, n int, d time.Duration) {
	for range n {
		wg.Go(func() {
			for ctx.Err() == nil {
				asked := time.Now()
				at, err := c.share.enter(ctx)
				if err != nil {
					return
				}
				c.longestWait.Store(max(c.longestWait.Load(), int64(time.Since(asked))))
				c.most.Store(max(c.most.Load(), c.running.Add(1)))
				<-time.After(d)
				c.running.Add(-1)
				at.leave()
				c.done.Add(1)
			}
		})
	}
}

// TestHeavyCallsKeepToTheirShare: beside a crawl with short calls one with long ones has half of the CPUs at most, from its first call on and
// however long its calls are; alone it has all places.
func TestHeavyCallsKeepToTheirShare(t *testing.T) {
	t.Parallel()
	for _, long := range []time.Duration{300 * time.Millisecond, 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			const cpus = 4
			p := newPlaces(cpus)
			light, heavy := &callers{share: p.join()}, &callers{share: p.join()}
			var wg sync.WaitGroup
			beside, stop := context.WithCancel(t.Context())
			light.run(beside, &wg, 16, 2*time.Millisecond)
			<-time.After(100 * time.Millisecond)
			ctx, cancel := context.WithCancel(t.Context())
			heavy.run(ctx, &wg, 16, long)
			<-time.After(20 * time.Second)
			if most := heavy.most.Load(); most != cpus/2 {
				t.Errorf("%d calls of %v ran at once beside another crawl, want %d", most, long, cpus/2)
			}
			if wait := time.Duration(light.longestWait.Load()); wait > 10*time.Millisecond {
				t.Errorf("a short call waited %v for its place beside calls of %v", wait, long)
			}
			stop()
			<-time.After(2*activeFor + long)
			if most := heavy.most.Load(); most < callsPerCPU*cpus {
				t.Errorf("%d calls of %v ran at once when alone, want %d", most, long, callsPerCPU*cpus)
			}
			cancel()
			wg.Wait()
			p.part(light.share)
			p.part(heavy.share)
			if p.quick != 0 || p.slow != 0 || heavy.share.running != 0 || light.share.running != 0 {
				t.Errorf("%d and %d places are taken after the end", p.quick, p.slow)
			}
		})
	}
}

// TestAlikeCrawlsShareAlike: crawls whose calls are alike get as many, however many of them wait.
func TestAlikeCrawlsShareAlike(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces(1)
		few, many := &callers{share: p.join()}, &callers{share: p.join()}
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		few.run(ctx, &wg, 2, 2*time.Millisecond)
		many.run(ctx, &wg, 64, 3*time.Millisecond)
		<-time.After(10 * time.Second)
		cancel()
		wg.Wait()
		used := float64(few.share.used) / float64(many.share.used)
		t.Logf("few %d calls in %v, many %d in %v", few.done.Load(), few.share.used, many.done.Load(), many.share.used)
		if used < 0.9 || used > 1.1 {
			t.Errorf("a crawl with few calls waiting had %.2f times the time of one with many", used)
		}
	})
}
