package luabind

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
)

// interrupt is the context of a VM's states for all of its life. The VM looks at it before each instruction, so Done must be
// cheap: it is nil, which costs least in a select, until the context of the running call ends.
type interrupt struct {
	v            *vm             // whose it is
	deadline     time.Time       // of the running call; zero when it has none
	ctx          context.Context // of the running call, for what waits on others too; only the VM's goroutine uses it
	done         <-chan struct{} // of ctx
	begun        time.Time       // when the running call began,
	from         uint32          // and after how many instructions
	rested       time.Time       // when it last rested; zero before it was asked to
	instructions uint32          // that the VM has run; only its goroutine counts
	call         uint64          // the running call; only the VM's goroutine writes it, between calls
	signal       atomic.Uint64   // what is asked of a call, see restOf and endOf; it only grows, but for a rest that was taken
	heap         atomic.Uint64   // the last call that was ended for the memory it may hold
}

// restOf asks a call to rest, endOf to end: its context has ended, or it was exhausting. A later call's signals are greater.
func restOf(call uint64) uint64 { return call << 1 }
func endOf(call uint64) uint64  { return call<<1 | 1 }

var (
	errInterrupted = errors.New("interrupted")
	closedChannel  = func() chan struct{} { c := make(chan struct{}); close(c); return c }()
)

// begin binds the interrupt to the context of a call. A context that ends later than the call does no harm.
func (i *interrupt) begin(ctx context.Context) (end func() bool) {
	i.call++
	i.deadline, _ = ctx.Deadline()
	i.ctx = ctx
	i.done, i.begun, i.from, i.rested = ctx.Done(), time.Now(), i.instructions, time.Time{}
	call := i.call
	return context.AfterFunc(ctx, func() { i.raise(endOf(call)) })
}

// raise sets the signal unless a greater one is set.
func (i *interrupt) raise(signal uint64) {
	for {
		old := i.signal.Load()
		if old >= signal || i.signal.CompareAndSwap(old, signal) {
			return
		}
	}
}

// now reports whether the running call must end.
func (i *interrupt) now() bool { return i != nil && i.call > 0 && i.signal.Load() == endOf(i.call) }

// attend rests when that is asked of the running call, and reports whether it must end.
func (i *interrupt) attend() bool {
	if rest := restOf(i.call); i.call > 0 && i.signal.CompareAndSwap(rest, rest-1) {
		i.rest()
	}
	return i.now()
}

// rest waits as long as the watch has a call wait that has run since it last rested. One that has done little in its time was
// held up by others, and does not rest.
func (i *interrupt) rest() {
	if i.instructions-i.from < slowInstructions && time.Since(i.begun) < slowCall && i.v.made < slowMade {
		return
	}
	if !i.rested.IsZero() {
		timer := time.NewTimer(i.v.watch().restAfter(time.Since(i.rested), engine.LeastShare(i.ctx)))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-i.done:
		}
	}
	i.rested = time.Now()
}

// left is how long the running call may still run.
func (i *interrupt) left() time.Duration {
	if i == nil || i.deadline.IsZero() {
		return timeWithoutDeadline
	}
	return time.Until(i.deadline)
}

// timeWithoutDeadline is how long a library function may take that cannot be interrupted, in a call that may run for ever.
const timeWithoutDeadline = 5 * time.Second

// exhaust ends a call because the heap is past its limit.
func (i *interrupt) exhaust(call uint64) {
	i.heap.Store(call)
	i.raise(endOf(call))
}

// exhausted reports whether the running call was ended for memory.
func (i *interrupt) exhausted() bool { return i.call > 0 && i.heap.Load() == i.call }

// check raises in the script when the running call must end. Library functions that may run for long call it now and then.
func (i *interrupt) check(L *lua.LState) {
	if i != nil && i.attend() {
		L.RaiseError("%s", errInterrupted)
	}
}

// checkContext is check for what has waited on the call's context itself, which may tell before the signal does.
func (i *interrupt) checkContext(L *lua.LState) {
	if i != nil && i.ctx != nil && i.ctx.Err() != nil {
		i.raise(endOf(i.call))
	}
	i.check(L)
}

func (i *interrupt) Done() <-chan struct{} {
	if i.signal.Load()>>1 == i.call && i.attend() {
		return closedChannel
	}
	if i.instructions++; i.instructions%forgetEvery == 0 && i.v != nil {
		i.v.forgetTailCalls()
	}
	return nil
}

func (i *interrupt) Err() error {
	if i.now() {
		return errInterrupted
	}
	return nil
}

func (i *interrupt) Deadline() (time.Time, bool) { return time.Time{}, false }
func (i *interrupt) Value(any) any               { return nil }
