package luabind

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestPace: slow calls give way as soon as a look is late, get their time back while looks are not, and have it all when alone.
func TestPace(t *testing.T) {
	t.Parallel()
	now := time.Now()
	p := pace{due: now, newest: now}
	p.share.Store(wholeShare)
	if p.look(now.Add(lateTick), 0); p.restAfter(time.Second, 0) != 0 {
		t.Errorf("a call rests %v though no look was late", p.restAfter(time.Second, 0))
	}
	p.look(now.Add(lateTick+1), 0)
	if got, want := p.restAfter(10*time.Millisecond, 0), 70*time.Millisecond; got != want {
		t.Errorf("after 10 ms a call rests %v beside others that are late, want %v", got, want)
	}
	if got, want := p.restAfter(10*time.Millisecond, 0.5), 10*time.Millisecond; got != want {
		t.Errorf("after 10 ms a call rests %v that may run for half of the time, want %v", got, want)
	}
	if got := p.restAfter(time.Second, 0); got != longRest {
		t.Errorf("after a second a call rests %v, want %v at most", got, longRest)
	}
	for range int(1 / moreShare) {
		p.look(now, 0)
	}
	if got := p.restAfter(time.Second, 0); got != 0 {
		t.Errorf("a call rests %v long after others were late", got)
	}
	p.look(now.Add(lateTick+1), 0)
	now = now.Add(companyFor + 1)
	if p.look(now, 0); p.restAfter(time.Second, 0) != 0 {
		t.Errorf("a call rests %v though it is alone", p.restAfter(time.Second, 0))
	}
}

// TestSlowCallsRest: a call that was slow rests when asked, one that has done little does not, and the end of the call ends a rest.
func TestSlowCallsRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newHeapWatch(1 << 40)
		w.pace.share.Store(leastShare * wholeShare)
		v := &vm{interrupt: &interrupt{}, gen: &generation{options: Options{watch: w}}}
		i := v.interrupt
		i.v = v
		asked := func() time.Duration {
			started := time.Now()
			i.raise(restOf(i.call))
			i.Done()
			return time.Since(started)
		}
		ctx, cancel := context.WithCancel(t.Context())
		i.begin(ctx)
		if took := asked(); took != 0 || !i.rested.IsZero() {
			t.Errorf("a call that has just begun rested %v", took)
		}
		i.instructions += slowInstructions
		if took := asked(); took != 0 {
			t.Errorf("a call rested %v when it was first asked", took)
		}
		<-time.After(10 * time.Millisecond)
		if took := asked(); took != 70*time.Millisecond {
			t.Errorf("a call rested %v after 10 ms, want 70 ms", took)
		}
		<-time.After(10 * time.Millisecond)
		time.AfterFunc(5*time.Millisecond, cancel)
		if took := asked(); took != 5*time.Millisecond {
			t.Errorf("a call rested %v, 5 ms before its end", took)
		}
		synctest.Wait()
		if i.raise(restOf(i.call)); !i.now() {
			t.Error("a call that must end is asked to rest instead")
		}
	})
}
