package luabind

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// concatFunction is what a..b..c calls in place of gopher-lua's instruction, which has no bound: repair_concat.go puts it into the
// constants of compiled code. One serves all VMs, since nothing can change it; it finds its VM's bounds by the state's context.
var concatFunction = &lua.LFunction{IsG: true, GFunction: concat}

// concat joins its arguments, from the right as Lua does.
func concat(L *lua.LState) int {
	n := L.GetTop()
	size := 0
	for i := 1; i <= n; i++ {
		switch x := L.Get(i).(type) {
		case lua.LString:
			size += len(x)
		case lua.LNumber:
			size += 24
		default:
			return concatOthers(L, n)
		}
	}
	if size >= chargeStep/8 {
		chargeConcat(L, size)
	}
	L.Push(join(L, n, size))
	return 1
}

// join makes one string of the first n values on the stack.
func join(L *lua.LState, n, size int) lua.LString {
	b := make([]byte, 0, size)
	for i := 1; i <= n; i++ {
		switch x := L.Get(i).(type) {
		case lua.LString:
			b = appendText(b, string(x))
		case lua.LNumber:
			b = appendNumber(b, float64(x))
		}
	}
	return lua.LString(asText(b))
}

func chargeConcat(L *lua.LState, size int) {
	if i, ok := L.Context().(*interrupt); ok {
		i.v.makes(L, "..", size)
	} else if size > math.MaxInt32 {
		L.RaiseError(".. would make %d bytes", size)
	}
}

// concatOthers joins where a value is neither string nor number: pair by pair from the right, by their metamethods.
func concatOthers(L *lua.LState, n int) int {
	for ; n > 1; n-- {
		a, b := L.Get(n-1), L.Get(n)
		if lua.LVCanConvToString(a) && lua.LVCanConvToString(b) {
			text := plainText(a)
			tail := plainText(b)
			chargeConcat(L, len(text)+len(tail))
			L.SetTop(n - 2)
			L.Push(lua.LString(asText(appendText(appendText(make([]byte, 0, len(text)+len(tail)), text), tail))))
			continue
		}
		L.Push(concatMethod(L, a, b))
		L.Push(a)
		L.Push(b)
		L.Call(2, 1)
		result := L.Get(-1)
		L.SetTop(n - 2)
		L.Push(result)
	}
	return 1
}

// plainText is a string or number as text.
func plainText(lv lua.LValue) string {
	if f, ok := lv.(lua.LNumber); ok {
		return string(appendNumber(nil, float64(f)))
	}
	return lua.LVAsString(lv)
}

func concatMethod(L *lua.LState, a, b lua.LValue) lua.LValue {
	f := L.GetMetaField(a, "__concat")
	if f == lua.LNil {
		f = L.GetMetaField(b, "__concat")
	}
	if f == lua.LNil {
		if lua.LVCanConvToString(a) {
			a = b
		}
		L.RaiseError("attempt to concatenate a %s value", a.Type())
	}
	return f
}
