package luabind

import (
	"reflect"

	lua "github.com/yuin/gopher-lua"
)

// Call frames are not exported by gopher-lua. What is needed of them is read, and in one case set, by reflection; tests fail when
// their fields are no longer as they are here.

// forgetEvery is after how many instructions tail calls are forgotten.
const forgetEvery = 1 << 16

// frameOf is the innermost frame of a state, the pointer to it.
func frameOf(L *lua.LState) (reflect.Value, bool) {
	d, ok := L.GetStack(0)
	if !ok {
		return reflect.Value{}, false
	}
	return reflect.ValueOf(d).Elem().FieldByName("frame"), true
}

// calledByLua reports whether all functions that run on a coroutine were called by the call instruction of a Lua function.
func calledByLua(L *lua.LState) bool {
	frame, ok := frameOf(L)
	if !ok {
		return false
	}
	for frame = frame.Elem().FieldByName("Parent"); !frame.IsNil(); frame = frame.Elem().FieldByName("Parent") {
		fn := frame.Elem().FieldByName("Fn").Elem()
		if fn.FieldByName("IsG").Bool() {
			return false
		}
		pc := int(frame.Elem().FieldByName("Pc").Int())
		switch op := int(fn.FieldByName("Proto").Elem().FieldByName("Code").Index(pc-1).Uint() >> 26); op {
		case lua.OP_CALL, lua.OP_TAILCALL:
		default:
			return false
		}
	}
	return true
}

// forgetTailCalls sets the count of tail calls of the running frame back. gopher-lua writes a line into the traceback of an error
// for each: a loop by tail calls would fill the memory with them.
func (v *vm) forgetTailCalls() {
	if v.running == nil {
		return
	}
	if frame, ok := frameOf(v.running); ok {
		count := frame.Elem().FieldByName("TailCall")
		reflect.NewAt(count.Type(), count.Addr().UnsafePointer()).Elem().SetInt(0)
	}
}
