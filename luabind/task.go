package luabind

import (
	"context"
	"fmt"
	"math"
	"time"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

const (
	leastPeriod = time.Second
	mostPeriod  = 366 * 24 * time.Hour
	mostTasks   = 100
)

// luaTask is a function that runs once a period in the whole fleet.
type luaTask struct {
	scheduler.Task
	fn *lua.LFunction
}

// every is the global every(period, fn), called while a file loads. The period is a number of seconds, or a text as "10m" or "1h30m". A
// task's name is its period and which of those of that period it is, so that an edit of one leaves the others' times as they are.
func (v *vm) every(L *lua.LState) int {
	if v.defined {
		L.RaiseError("every: call it while the file loads, outside of functions: it names what the fleet does from then on")
	}
	period, err := periodOf(L.CheckAny(1))
	if err != nil {
		L.ArgError(1, err.Error())
	}
	fn := L.CheckFunction(2)
	if fn.IsG {
		L.ArgError(2, "a function of the spider's own is needed")
	}
	if len(v.tasks) == mostTasks {
		L.RaiseError("every: more than %d tasks", mostTasks)
	}
	nth := 1
	for _, t := range v.tasks {
		if t.Every == period {
			nth++
		}
	}
	v.tasks = append(v.tasks, luaTask{scheduler.Task{Name: fmt.Sprintf("every:%s#%d", period, nth), Every: period}, fn})
	return 0
}

func periodOf(lv lua.LValue) (time.Duration, error) {
	var d time.Duration
	switch x := lv.(type) {
	case lua.LNumber:
		d = time.Duration(min(max(float64(x), 0), 2*mostPeriod.Seconds()) * float64(time.Second))
		if math.IsNaN(float64(x)) {
			d = 0
		}
	case lua.LString:
		var err error
		if d, err = time.ParseDuration(string(x)); err != nil {
			return 0, fmt.Errorf("%.50q is no period; give seconds, or a text as in every(\"10m\", fn)", string(x))
		}
	default:
		return 0, fmt.Errorf("the period is a %s; give seconds, or a text as in every(\"10m\", fn)", lv.Type())
	}
	if d < leastPeriod || d > mostPeriod {
		return 0, fmt.Errorf("a period is 1s to %dh", int(mostPeriod.Hours()))
	}
	return d.Round(time.Millisecond), nil
}

// allTasks are the spider's tasks.
func (v *vm) allTasks(d *definition) []scheduler.Task {
	var all []scheduler.Task
	if d.functions[scheduler.OnFinished] {
		all = append(all, scheduler.Task{Name: scheduler.OnFinished})
	}
	for _, t := range v.tasks {
		all = append(all, t.Task)
	}
	return all
}

// Tasks are on_finished, if the spider has it, and what its files have named with every.
func (s *Spider) Tasks() []scheduler.Task { return s.current.Load().tasks }

// RunTask calls the function of a task. One that the spider has no more, since it was edited, gives nothing. run names the run, in the IDs of
// its items too.
func (s *Spider) RunTask(ctx context.Context, name string, run []byte) (*engine.Output, error) {
	return s.current.Load().run(0, func(v *vm) error {
		fn := v.task(name)
		if fn == nil {
			return nil
		}
		v.out.seed = run
		result, err := v.call(ctx, fn)
		if err != nil {
			return err
		}
		if result != lua.LNil {
			return &engine.ScriptError{Kind: "error", File: fn.Proto.SourceName, Line: fn.Proto.LineDefined,
				Message: fmt.Sprintf("a task returned %s; emit(...) what it finds instead of returning it", describe(result))}
		}
		return nil
	})
}

// task is the function of a task, nil when there is none.
func (v *vm) task(name string) *lua.LFunction {
	if name == scheduler.OnFinished {
		fn, _ := v.spider.RawGetString(name).(*lua.LFunction)
		return fn
	}
	for _, t := range v.tasks {
		if t.Name == name {
			return t.fn
		}
	}
	return nil
}
