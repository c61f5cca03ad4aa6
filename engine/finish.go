package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	backoffLeast = 50 * time.Millisecond
	backoffMost  = 700 * time.Millisecond // so that a seed is seen within a second
	finishAfter  = time.Second            // between the two looks that make a crawl finished
	lookEvery    = 500 * time.Millisecond
)

// backoff is a growing, jittered wait.
type backoff struct{ last time.Duration }

func (b *backoff) reset() { b.last = 0 }

func (b *backoff) next() time.Duration { return b.nextUpTo(backoffMost) }

func (b *backoff) nextUpTo(most time.Duration) time.Duration {
	b.last = min(max(2*b.last, backoffLeast), most)
	return b.last/2 + rand.N(b.last/2)
}

// finishWatch looks for the end of a crawl: nothing left at all, twice, a second apart, with nothing leased in between.
type finishWatch struct {
	lastWork   time.Time // when something was last leased or done
	worked     bool      // something was leased since the crawl was last announced as finished
	everWorked bool
	since      time.Time // first of the two looks; zero when the last one saw something
	dequeued   int64     // at that look
	nextLook   time.Time
}

func (w *finishWatch) work(now time.Time) {
	w.lastWork, w.worked, w.everWorked = now, true, true
	w.since = time.Time{}
}

// lookDue is when to look next: far away while the crawl is busy, or when nobody asks whether it is finished.
func (f *feeder) lookDue(now time.Time) time.Time {
	if !f.quiet() || !f.endMatters() {
		return now.Add(mostWait)
	}
	return f.finish.nextLook
}

func (f *feeder) endMatters() bool { return f.crawl.UntilDone || f.finish.worked }

// quiet: nothing runs here and the frontier gave nothing.
func (f *feeder) quiet() bool {
	return f.running == 0 && len(f.waiting) == 0 && f.short && f.pending.Load() == 0
}

// watchFinish returns a reason when the crawl is to end here: finished, or idle for too long.
func (f *feeder) watchFinish(ctx context.Context, now time.Time) (string, error) {
	w, c := &f.finish, f.crawl
	if !f.quiet() {
		return "", nil
	}
	f.idle.Store(true)
	if most := c.settings.Load().MaxIdleTime; most > 0 && now.Sub(w.lastWork) >= most {
		return ReasonMaxIdleTime, nil
	}
	if now.Before(w.nextLook) || !f.endMatters() {
		return "", nil
	}
	left, err := c.Frontier.Idle(ctx)
	if err != nil {
		return "", err
	}
	w.nextLook = now.Add(lookEvery)
	switch {
	case !left.Done():
		w.since = time.Time{}
		return "", nil
	case w.since.IsZero() || w.dequeued != left.Dequeued:
		w.since, w.dequeued = now, left.Dequeued
		w.nextLook = now.Add(finishAfter)
		return "", nil
	case now.Sub(w.since) < finishAfter:
		return "", nil
	}
	return f.finished(ctx)
}

// finished announces the end, once a crawl in the whole fleet.
func (f *feeder) finished(ctx context.Context) (string, error) {
	w, c := &f.finish, f.crawl
	if c.UntilDone && f.noSeeds != nil {
		return "", fmt.Errorf("all but the seeds is done: %w", f.noSeeds)
	}
	task := c.finishTask()
	if w.worked {
		first, err := c.Frontier.Finish(ctx, task)
		if err != nil {
			return "", err
		}
		if first {
			c.Logger.Info("crawl finished")
		}
	}
	if task != "" {
		c.tasks.nudge()
		if due, err := c.Frontier.TaskDue(ctx, task); err != nil || due && c.UntilDone {
			return "", err // looked at again: the end comes after it
		}
	}
	w.worked, w.since = false, time.Time{}
	switch {
	case !c.UntilDone:
		return "", nil
	case !w.everWorked:
		return ReasonNoWork, nil
	}
	return ReasonFinished, nil
}

// closeCondition compares the whole crawl's counters with the closespider settings.
func (f *feeder) closeCondition(ctx context.Context) (string, error) {
	s := f.crawl.settings.Load()
	limits := []struct {
		most   int64
		stat   string
		reason string
	}{
		{s.CloseSpiderPageCount, statResponses, ReasonPageCount},
		{s.CloseSpiderItemCount, statItems, ReasonItemCount},
		{s.CloseSpiderErrorCount, statSpiderErrors, ReasonErrorCount},
	}
	var total map[string]int64
	for _, l := range limits {
		if l.most == 0 {
			continue
		}
		if total == nil {
			var err error
			if total, err = f.crawl.Frontier.Stats(ctx); err != nil {
				return "", err
			}
		}
		if total[l.stat] >= l.most {
			return l.reason, nil
		}
	}
	return "", nil
}
