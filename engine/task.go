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

// taskDone is a run of a task that has ended here.
type taskDone struct {
	run   *scheduler.TaskRun
	ended chan bool // holds one: whether it has ended for the fleet too
}

// taskRunner runs the spider's tasks: one at a time in this process, each on one worker of the fleet. Redis knows when a task is due and who
// has it. A claim is longer than a run can take, so nobody else begins it meanwhile; what a run gives is stored by the feeder, once, by its
// number, however often it was begun.
type taskRunner struct {
	crawl  *Crawl
	nudged chan struct{} // holds one
}

func newTaskRunner(c *Crawl) *taskRunner {
	return &taskRunner{crawl: c, nudged: make(chan struct{}, 1)}
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
	if within.Err() == nil && r.store(ctx, run, p) {
		return 0
	}
	giving, end := context.WithTimeout(context.WithoutCancel(ctx), taskLastWords)
	defer end()
	_ = r.crawl.Frontier.ReturnTask(giving, run) // or the claim expires
	return taskLook
}

// store hands what a run gave to the sinks and the feeder, and reports whether the run has ended for the fleet.
func (r *taskRunner) store(ctx context.Context, run *scheduler.TaskRun, p *page) bool {
	task := &taskDone{run, make(chan bool, 1)}
	if done := (result{lease: p.lease, outcome: p.out, task: task}); !p.park(ctx, done) {
		select {
		case r.crawl.feeder.done <- done:
		case <-ctx.Done():
			return false
		}
	}
	select {
	case ended := <-task.ended:
		return ended
	case <-ctx.Done():
		return false
	}
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
	out, err := c.callSpider(ctx, func(ctx context.Context) (*Output, error) { return c.Spider.RunTask(ctx, run.Name, p.lease.Seed) })
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

// takeTask takes a run that the sinks have done with, or have given up.
func (f *feeder) takeTask(r result) {
	if r.outcome == nil {
		r.task.ended <- false
		return
	}
	f.ran = &r
}

// storeTask stores what a task gave and ends its run.
func (f *feeder) storeTask(ctx context.Context) error {
	run := f.ran.task.run
	added, err := f.storeOutcome(ctx, *f.ran.outcome) // which stays whole: an error may come before all is stored
	if err != nil {
		return fmt.Errorf("task %s: %w", run.Name, err)
	}
	if added > 0 {
		f.finish.work(time.Now())
		f.nextLease = time.Time{}
	}
	if err := f.crawl.Frontier.EndTask(ctx, run, added > 0); err != nil {
		return err
	}
	f.ran.task.ended <- true
	f.ran = nil
	return nil
}

// storeOutcome stores an outcome with a OnceLease, and says how many requests it has added. Those that the duplicate check makes safe to
// repeat go beside what must not be.
func (f *feeder) storeOutcome(ctx context.Context, out scheduler.Outcome) (added int, err error) {
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
	if len(out.Items)+len(out.Elsewhere)+len(out.Dead)+len(out.Stats)+len(once) > 0 {
		beside = append(beside, &out)
	}
	if len(beside)+len(checked) == 0 {
		return 0, nil
	}
	added, stored, err := f.crawl.Frontier.Enqueue(ctx, checked, beside...)
	if err != nil || len(beside) == 0 || !stored[0] {
		return added, err
	}
	return added + len(once), f.passOn(beside)
}
