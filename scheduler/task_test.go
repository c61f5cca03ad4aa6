package scheduler

import (
	"testing"
	"time"
)

const longClaim = time.Minute

func (k *kit) claim(f *Frontier, claim time.Duration, tasks ...Task) *TaskRun {
	k.t.Helper()
	run, _, err := f.ClaimTask(k.ctx, tasks, claim)
	if err != nil {
		k.t.Fatal(err)
	}
	return run
}

// awaitTask claims until there is something to claim.
func (k *kit) awaitTask(f *Frontier, claim time.Duration, tasks ...Task) *TaskRun {
	k.t.Helper()
	for {
		run, wait, err := f.ClaimTask(k.ctx, tasks, claim)
		switch {
		case err != nil:
			k.t.Fatal(err)
		case run != nil:
			return run
		case !sleep(k.ctx, wait):
			k.t.Fatal("no task is ever due")
		}
	}
}

func (k *kit) endTask(f *Frontier, run *TaskRun, added bool) {
	k.t.Helper()
	if err := f.EndTask(k.ctx, run, added); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kit) announce(task string) bool {
	k.t.Helper()
	first, err := k.Finish(k.ctx, task)
	if err != nil {
		k.t.Fatal(err)
	}
	return first
}

// TestEveryRunsOnOneWorker: a task is due a period after it was first asked for, one worker has it at a time, and the next run is about a
// period later.
func TestEveryRunsOnOneWorker(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		other, task := k.join(), Task{"every:200ms#1", 200 * time.Millisecond}
		begun := time.Now()
		if run := k.claim(k.Frontier, longClaim, task); run != nil {
			t.Fatal("it is due at once")
		}
		run := k.awaitTask(other, longClaim, task)
		if took := time.Since(begun); took < task.Every/2 || run.Run != 0 {
			t.Errorf("run %d after %v", run.Run, took)
		}
		if run := k.claim(k.Frontier, longClaim, task); run != nil {
			t.Error("two workers have it")
		}
		k.endTask(other, run, false)
		if run := k.awaitTask(k.Frontier, longClaim, task); run.Run != 1 {
			t.Errorf("the second run is %d", run.Run)
		}
	})
}

// TestKilledWorkersTaskIsTakenOver: when its claim has expired another worker gets the same run, whose outcome is stored once; the late
// worker ends nothing.
func TestKilledWorkersTaskIsTakenOver(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		other, task := k.join(), Task{"every:100ms#1", 100 * time.Millisecond}
		killed := k.awaitTask(other, 300*time.Millisecond, task)
		again := k.awaitTask(k.Frontier, longClaim, task)
		if again.Run != killed.Run {
			t.Errorf("run %d is taken over as %d", killed.Run, again.Run)
		}
		for i, f := range []*Frontier{other, k.Frontier} {
			run := []*TaskRun{killed, again}[i]
			_, stored, err := f.Enqueue(k.ctx, nil, &Outcome{Lease: run.Lease(), Items: [][]byte{[]byte("{}")}, Children: []Child{{Request: get("forced").Request, Force: true}}})
			if err != nil || stored[0] != (i == 0) {
				t.Errorf("outcome %d: stored %v, %v", i, stored, err)
			}
		}
		if s := k.check(); s.Items != 1 || s.Pending != 1 {
			t.Errorf("%d items and %d requests of one run", s.Items, s.Pending)
		}
		k.endTask(other, killed, false)
		if run := k.claim(k.Frontier, longClaim, task); run != nil {
			t.Error("a worker whose claim had expired has ended the run of another")
		}
		k.endTask(k.Frontier, again, false)
		if run := k.awaitTask(other, longClaim, task); run.Run != killed.Run+1 {
			t.Errorf("the next run is %d", run.Run)
		}
	})
}

// TestReturnedTaskIsDueAtOnce and nothing is claimed while the spider is paused; while it is drained only what belongs to its end.
func TestReturnedTaskIsDueAtOnce(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		task := Task{"every:100ms#1", 100 * time.Millisecond}
		run := k.awaitTask(k.Frontier, longClaim, task)
		if err := k.ReturnTask(k.ctx, run); err != nil {
			t.Fatal(err)
		}
		for _, state := range []State{Paused, Stopped, Draining} {
			if _, err := k.client.SetControl(k.ctx, k.cfg.Spider, k.cfg.Keys, Change{State: state}); err != nil {
				t.Fatal(err)
			}
			if run := k.claim(k.Frontier, longClaim, task); run != nil {
				t.Errorf("claimed while %s", state)
			}
		}
		if _, err := k.client.SetControl(k.ctx, k.cfg.Spider, k.cfg.Keys, Change{State: Running}); err != nil {
			t.Fatal(err)
		}
		if run := k.claim(k.Frontier, longClaim, task); run == nil {
			t.Error("not due after it was given back")
		}
	})
}

// TestOnFinishedIsDueOnce: for each announced end, on one worker, but not for the end of what the task has added itself.
func TestOnFinishedIsDueOnce(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		other, task := k.join(), Task{Name: OnFinished}
		due := func(want bool) {
			t.Helper()
			if got, err := k.TaskDue(k.ctx, OnFinished); err != nil || got != want {
				t.Errorf("due: %v, %v", got, err)
			}
		}
		work := func() {
			t.Helper()
			if _, _, err := k.Enqueue(k.ctx, []Child{{Request: get("1").Request, Force: true}}); err != nil {
				t.Fatal(err)
			}
			k.commit(&Outcome{Lease: k.await(k.Frontier, 1)[0]})
		}
		due(false)
		if run := k.claim(other, longClaim, task); run != nil {
			t.Error("due before the end")
		}
		if !k.announce(OnFinished) || k.announce(OnFinished) {
			t.Error("the end is not announced once")
		}
		due(true)
		run := k.claim(other, longClaim, task)
		if run == nil || k.claim(k.Frontier, longClaim, task) != nil {
			t.Fatal("not claimed by one worker")
		}
		due(true)
		work()
		k.endTask(other, run, true)
		due(false)
		if !k.announce(OnFinished) {
			t.Error("the end of what the task has added is not announced")
		}
		due(false)
		work()
		if !k.announce(OnFinished) {
			t.Error("the second end is not announced")
		}
		due(true)
		if err := k.client.Flush(k.ctx, k.cfg.Spider, k.cfg.Keys, FlushOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		due(false)
	})
}
