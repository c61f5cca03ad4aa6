package luabind

import (
	lua "github.com/yuin/gopher-lua"
)

// openCoroutine puts the coroutine library in place, with create, resume and wrap of our own: a coroutine ends with the
// call's time, a drop passes through it, and an error in a wrapped one leaves the caller running.
func (v *vm) openCoroutine() {
	lib := v.library(lua.OpenCoroutine, lua.CoroutineLibName)
	create := goFunction(lib, "create")
	resume := goFunction(lib, "resume")
	v.L.SetFuncs(lib, map[string]lua.LGFunction{
		"create":  func(L *lua.LState) int { return v.coCreate(L, create) },
		"resume":  func(L *lua.LState) int { return v.coResume(L, resume) },
		"wrap":    func(L *lua.LState) int { return v.coWrap(L, create, resume) },
		"running": coRunning,
		"yield":   coYield,
	})
}

func (v *vm) coCreate(L *lua.LState, create lua.LGFunction) int {
	n := create(L)
	if th, ok := L.Get(-1).(*lua.LState); ok {
		v.guard(th)
	}
	return n
}

func (v *vm) coResume(L *lua.LState, resume lua.LGFunction) int {
	if v.depth >= maxDepth {
		L.RaiseError("more than %d protected calls or coroutines inside each other", maxDepth)
	}
	v.depth++
	v.running = L.CheckThread(1)
	defer func() {
		v.depth--
		v.running = L
	}()
	n := resume(L)
	if n == 2 && L.Get(-2) == lua.LFalse && v.passes(L.Get(-1)) {
		L.Error(L.Get(-1), 0)
	}
	return n
}

func (v *vm) coWrap(L *lua.LState, create, resume lua.LGFunction) int {
	v.coCreate(L, create)
	th := L.Get(-1)
	L.Push(L.NewFunction(func(L *lua.LState) int {
		L.Insert(th, 1)
		n := v.coResume(L, resume)
		if L.Get(-n) == lua.LFalse {
			L.Error(L.Get(-1), 0)
		}
		return n - 1
	}))
	return 1
}

// coYield is coroutine.yield. gopher-lua suspends only the innermost of its loops, so a yield out of a metamethod, an iterator
// of a for loop or a callback of a library function would end that function instead, with a stack that is no longer right.
func coYield(L *lua.LState) int {
	if L.Parent == nil && L.G.CurrentThread == L.G.MainThread {
		L.RaiseError("attempt to yield from outside a coroutine")
	}
	if L.Parent == nil || !calledByLua(L) {
		L.RaiseError("attempt to yield across metamethod/C-call boundary: out of a pcall, a metamethod, an iterator or a callback")
	}
	if byTailCall(L) { // repair_mark.go takes yield out of tail calls by its name
		L.RaiseError("a yield under another name cannot be returned; take its results into locals first")
	}
	return -1
}

// coRunning is nil outside of coroutines, also inside a protected call.
func coRunning(L *lua.LState) int {
	if L.G.CurrentThread == L.G.MainThread {
		L.Push(lua.LNil)
	} else {
		L.Push(L.G.CurrentThread)
	}
	return 1
}
