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
		if frame.Elem().FieldByName("Fn").Elem().FieldByName("IsG").Bool() {
			return false
		}
		if op := instruction(frame); op != lua.OP_CALL && op != lua.OP_TAILCALL {
			return false
		}
	}
	return true
}

// byTailCall reports whether the running Go function was called as in "return f()".
func byTailCall(L *lua.LState) bool {
	frame, ok := frameOf(L)
	if !ok {
		return false
	}
	caller := frame.Elem().FieldByName("Parent")
	return !caller.IsNil() && !caller.Elem().FieldByName("Fn").Elem().FieldByName("IsG").Bool() && instruction(caller) == lua.OP_TAILCALL
}

// instruction is the one that a frame of a Lua function is at.
func instruction(frame reflect.Value) int {
	code := frame.Elem().FieldByName("Fn").Elem().FieldByName("Proto").Elem().FieldByName("Code")
	return int(code.Index(int(frame.Elem().FieldByName("Pc").Int())-1).Uint() >> 26)
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
