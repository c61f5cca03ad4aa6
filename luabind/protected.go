package luabind

import (
	"errors"

	lua "github.com/yuin/gopher-lua"
)

// maxDepth is how many protected calls and coroutines may run inside each other: each takes a part of Go's stack, which
// must never overflow since that ends the process.
const maxDepth = 100

// dropped is the error value of drop: it passes through every protected call of the script.
type dropped struct{ reason string }

// unavailable is the error value of unavailable, which ends the whole call.
type unavailable struct{ reason string }

// uncatchable reports whether an error must pass through the script's own protected calls: a drop, a retry, the end of the call's
// time, and a panic of Go code, after which the VM is thrown away.
func (v *vm) uncatchable(err error) bool {
	var raised *lua.ApiError
	if !errors.As(err, &raised) || raised.Type == lua.ApiErrorPanic {
		v.broken = true
		return true
	}
	return v.passes(raised.Object)
}

func (v *vm) passes(value lua.LValue) bool {
	if v.broken || v.interrupt != nil && v.interrupt.now() {
		return true
	}
	ud, ok := value.(*lua.LUserData)
	if !ok {
		return false
	}
	switch ud.Value.(type) {
	case *dropped, *unavailable, *retryAsked:
		return true
	}
	return false
}

// protect calls the function at the top of L's stack, below its nargs arguments, and replaces both by its results. It runs on a
// state of its own: an error in gopher-lua cuts the captured locals of all functions on the erring state loose, so that
// those of the caller would no longer be shared with its closures.
func (v *vm) protect(L *lua.LState, nargs, nret int) error {
	if v.depth >= maxDepth {
		L.RaiseError("more than %d protected calls or coroutines inside each other", maxDepth)
	}
	th := v.state(L)
	v.depth++
	current := L.G.CurrentThread
	L.XMoveTo(th, nargs+1)
	v.running = th
	err := th.PCall(nargs, nret, nil)
	v.running = L
	L.G.CurrentThread = current
	v.depth--
	if err == nil {
		th.XMoveTo(L, th.GetTop())
	}
	th.SetTop(0)
	v.spare = append(v.spare, th)
	return err
}

// state returns a state that nothing runs on.
func (v *vm) state(L *lua.LState) *lua.LState {
	if n := len(v.spare); n > 0 {
		th := v.spare[n-1]
		v.spare = v.spare[:n-1]
		return th
	}
	return v.thread(L)
}

// thread makes a state that ends with the call, as all states of the VM.
func (v *vm) thread(L *lua.LState) *lua.LState {
	th, cancel := L.NewThread()
	if cancel != nil {
		cancel()
	}
	v.guard(th)
	return th
}

func (v *vm) guard(th *lua.LState) {
	if v.interrupt != nil {
		th.SetContext(v.interrupt)
	}
}

// rethrow raises err again where the script cannot catch it; pcall and xpcall return else.
func (v *vm) rethrow(L *lua.LState, err error) *lua.ApiError {
	var raised *lua.ApiError
	errors.As(err, &raised)
	if !v.uncatchable(err) {
		return raised
	}
	if raised != nil && raised.Object != nil && raised.Object != lua.LNil {
		L.Error(raised.Object, 0)
	}
	panic(err)
}

func (v *vm) pcall(L *lua.LState) int {
	L.CheckAny(1)
	err := v.protect(L, L.GetTop()-1, lua.MultRet)
	if err == nil {
		L.Insert(lua.LTrue, 1)
		return L.GetTop()
	}
	raised := v.rethrow(L, err)
	L.Push(lua.LFalse)
	L.Push(raised.Object)
	return 2
}

// xpcall calls the handler after the stack has unwound: without the debug library it cannot tell.
func (v *vm) xpcall(L *lua.LState) int {
	L.CheckAny(1)
	handler := L.Get(2)
	L.SetTop(1)
	err := v.protect(L, 0, lua.MultRet)
	if err == nil {
		L.Insert(lua.LTrue, 1)
		return L.GetTop()
	}
	L.SetTop(0)
	L.Push(lua.LFalse)
	for range maxHandlers {
		raised := v.rethrow(L, err)
		L.Push(handler)
		L.Push(raised.Object)
		if err = v.protect(L, 1, 1); err == nil {
			return 2
		}
	}
	v.rethrow(L, err)
	L.Push(lua.LString("error in error handling"))
	return 2
}

// maxHandlers is how often a handler is called that raises: it handles its own errors, too, as in Lua 5.1.
const maxHandlers = 10
