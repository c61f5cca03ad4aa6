package scheduler

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// OnFinished is the task that is due when the crawl is announced as finished.
const OnFinished = "on_finished"

// Task is something that the fleet does now and then, on one worker.
type Task struct {
	Name  string        // without spaces; a task of another name is another
	Every time.Duration // whole milliseconds; 0 for OnFinished
}

// TaskRun is one run of a task, claimed by this worker for a time. Run grows with each run that has ended: a run that was begun again, because
// the worker died that had it, has the same number.
type TaskRun struct {
	Task
	Run    int64
	nonce  string
	spider string
}

// Lease is that of an outcome of the run, of which one is stored whoever brings it.
func (r *TaskRun) Lease() Lease {
	return OnceLease(fmt.Appendf(nil, "luacrawl task %s %s %d", r.spider, r.Name, r.Run)) // spiders may share a filter
}

// ClaimTask takes the first task that is due and that no other worker has, for the time of the claim. Without one it says when to ask again at
// the latest. A task with a period is due for the first time a period after it was first asked for.
func (f *Frontier) ClaimTask(ctx context.Context, tasks []Task, claim time.Duration) (run *TaskRun, wait time.Duration, err error) {
	n := nonce()
	args := []any{"claim", n, claim.Milliseconds()}
	for _, t := range tasks {
		args = append(args, t.Name, t.Every.Milliseconds())
	}
	r, err := f.run(ctx, taskScript, args...)
	if err != nil {
		return nil, 0, fmt.Errorf("claiming a task: %w", err)
	}
	for _, t := range tasks {
		if t.Name == r.text(0) {
			run = &TaskRun{Task: t, Run: r.num(1), nonce: n, spider: f.cfg.Spider}
		}
	}
	return run, time.Duration(r.num(2)) * time.Millisecond, r.err
}

// EndTask says that a run is over, well or not. added is whether it has added requests: the end of the crawl that follows from those is none
// that OnFinished is due at. A claim that has expired and that another worker has is left to that.
func (f *Frontier) EndTask(ctx context.Context, run *TaskRun, added bool) error {
	_, err := f.run(ctx, taskScript, "end", run.nonce, run.Name, run.Every.Milliseconds(), flag(added))
	if err != nil {
		return fmt.Errorf("ending task %s: %w", run.Name, err)
	}
	return nil
}

// ReturnTask gives a claim back, so that another worker may run the task at once.
func (f *Frontier) ReturnTask(ctx context.Context, run *TaskRun) error {
	if _, err := f.run(ctx, taskScript, "return", run.nonce, run.Name); err != nil {
		return fmt.Errorf("giving back task %s: %w", run.Name, err)
	}
	return nil
}

// TaskDue reports whether a task is due or runs somewhere.
func (f *Frontier) TaskDue(ctx context.Context, name string) (due bool, err error) {
	err = f.client.try(ctx, func() error {
		fields, err := f.client.rdb.HMGet(ctx, f.keys.meta, "task:"+name).Result()
		if err != nil {
			return err
		}
		text, _ := fields[0].(string)
		_, rest, _ := strings.Cut(text, " ")
		due = rest != "" && !strings.HasPrefix(rest, "0 ")
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("asking for task %s: %w", name, f.client.explain(ctx, f.keys, err))
	}
	return due, nil
}
