package luabind

import (
	lua "github.com/yuin/gopher-lua"
)

// defaultMemory is the memory of a callback in bytes when Options does not say.
const defaultMemory = 64 << 20

// chargeStep is after how many bytes of new values a call has the heap looked at.
const chargeStep = 8 << 20

func (v *vm) memory() int64 {
	if v.gen != nil && v.gen.options.Memory > 0 {
		return v.gen.options.Memory
	}
	return defaultMemory
}

// bound raises when a value that a library function is making grows past what a call may make.
func (v *vm) bound(L *lua.LState, what string, size int) {
	if int64(size) > v.memory() {
		v.tooLarge(L, what, float64(size))
	}
}

// makes is bound for a value of its full size, which it charges the call with.
func (v *vm) makes(L *lua.LState, what string, size int) {
	v.bound(L, what, size)
	v.charge(L, size)
}

// charge notes that a call makes a value of so many bytes. A call that makes many large ones does not wait for the watch's
// next look: it looks itself.
func (v *vm) charge(L *lua.LState, size int) {
	if v.made += size; v.made-v.looked < chargeStep {
		return
	}
	v.looked = v.made
	v.watch().check()
	if v.made >= slowMade {
		v.watch().hasMade(v)
	}
	v.interrupt.check(L)
}

func (v *vm) watch() *heapWatch {
	if v.gen == nil {
		return nil
	}
	return v.gen.options.watch
}

func (v *vm) tooLarge(L *lua.LState, what string, size float64) {
	L.RaiseError("%s would make %.0f bytes, more than the %d of setting callback_memory", what, size, v.memory())
}
