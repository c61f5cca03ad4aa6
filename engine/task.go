package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"luacrawl/scheduler"
)

const (
	taskLook      = time.Second      // between two looks whether the spider has other tasks than before
	taskAsk       = 10 * time.Second // at most, between two questions whether one is due: another worker may have died that had it
	taskLastWords = time.Second      // for giving a claim back
)

// taskDone is a run of a task with what it gave; nothing when it raised.
type taskDone struct {
	run    *scheduler.TaskRun
	page   *page
	stored chan struct{} // closed when the run has ended for the fleet
}

// taskRunner runs the spider's tasks: one at a time in this process, each on one worker of the fleet. Redis knows when a task is due and who
// has it. A claim is longer than a run can take, so nobody else begins it meanwhile; what a run gives is stored by the feeder, once, by its
// number, however often it was begun.
type taskRunner struct {
	crawl  *Crawl
	done   chan taskDone
	nudged chan struct{} // holds one
}

func newTaskRunner(c *Crawl) *taskRunner {
	return &taskRunner{crawl: c, done: make(chan taskDone), nudged: make(chan struct{}, 1)}
}

// nudge makes it ask at once.
func (r *taskRunner) nudge() {
	select {
	case r.nudged <- struct{}{}:
	default:
	}
}

// Run runs tasks until ctx ends. A spider without tasks costs Redis nothing.
func (r *taskRunner) Run(ctx context.Context) error {
	var asked []scheduler.Task
	var next time.Time
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.nudged:
			next = time.Time{}
		case <-timer.C:
		}
		tasks := r.crawl.Spider.Tasks()
		if len(tasks) > 0 && (!time.Now().Before(next) || !slices.Equal(tasks, asked)) {
			asked = tasks
			next = time.Now().Add(r.once(ctx, tasks))
		}
		timer.Reset(taskLook)
		if len(tasks) > 0 {
			timer.Reset(min(max(time.Until(next), 0), taskLook))
		}
	}
}

// once runs a task if one is due, and says when to ask again.
func (r *taskRunner) once(ctx context.Context, tasks []scheduler.Task) time.Duration {
	settings := r.crawl.settings.Load()
	claim := max(settings.Lease, 2*settings.CallbackTimeout)
	run, wait, err := r.crawl.Frontier.ClaimTask(ctx, tasks, claim)
	if err != nil && ctx.Err() == nil {
		r.crawl.Logger.Error("tasks cannot be run", slog.Any("error", err))
	}
	if err != nil || run == nil {
		return min(max(wait, taskLook), taskAsk)
	}
	within, cancel := context.WithTimeout(ctx, claim*3/4)
	defer cancel()
	p := r.perform(within, run)
	if within.Err() == nil {
		stored := make(chan struct{})
		select {
		case r.done <- taskDone{run, p, stored}:
			select {
			case <-stored:
			case <-ctx.Done():
			}
			return 0
		case <-ctx.Done():
		}
	}
	giving, end := context.WithTimeout(context.WithoutCancel(ctx), taskLastWords)
	defer end()
	_ = r.crawl.Frontier.ReturnTask(giving, run) // or the claim expires
	return taskLook
}

// perform calls the spider.
func (r *taskRunner) perform(ctx context.Context, run *scheduler.TaskRun) (p *page) {
	c := r.crawl
	p = newPage(c, run.Lease())
	defer func() {
		if e := recover(); e != nil {
			p = newPage(c, run.Lease())
			c.Logger.Error("task failed", slog.String("task", run.Name), slog.Any("error", fmt.Errorf("internal error: %v", e)))
		}
	}()
	out, err := c.callSpider(ctx, func(ctx context.Context) (*Output, error) { return c.Spider.RunTask(ctx, run.Name) })
	switch {
	case ctx.Err() != nil:
	case err != nil:
		script := p.raise(scheduler.ReasonCallbackError, run.Name, err)
		p.count(statSpiderErrors, 1)
		p.count(statSpiderError+script.Kind, 1)
	default:
		p.take(out, -1)
	}
	return p
}

// finishTask is the task that is due when the crawl is finished, "" when the spider has none.
func (c *Crawl) finishTask() string {
	for _, t := range c.Spider.Tasks() {
		if t.Name == scheduler.OnFinished {
			return t.Name
		}
	}
	return ""
}

// storeTask stores what a task gave and ends its run. Requests that the duplicate check makes safe to repeat go beside what must not be.
func (f *feeder) storeTask(ctx context.Context) error {
	c, out := f.crawl, *f.ran.page.out // which stays whole: an error may come before all is stored
	var checked, once []scheduler.Child
	for _, child := range out.Children {
		if child.Force || child.Request.DontFilter {
			once = append(once, child)
		} else {
			checked = append(checked, child)
		}
	}
	out.Children = once
	var beside []*scheduler.Outcome
	if len(out.Items)+len(out.Dead)+len(out.Stats)+len(once) > 0 {
		beside = append(beside, &out)
	}
	added := 0
	if len(beside)+len(checked) > 0 {
		n, stored, err := c.Frontier.Enqueue(ctx, checked, beside...)
		if err != nil {
			return fmt.Errorf("task %s: %w", f.ran.run.Name, err)
		}
		added = n
		if len(beside) > 0 && stored[0] {
			added += len(once)
			if err := f.passOn(beside); err != nil {
				return err
			}
		}
	}
	if added > 0 {
		f.finish.work(time.Now())
		f.nextLease = time.Time{}
	}
	ran := f.ran
	f.ran = nil
	defer close(ran.stored)
	return c.Frontier.EndTask(ctx, ran.run, added > 0)
}
