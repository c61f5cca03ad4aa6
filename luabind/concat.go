package luabind

import (
	"math"
	"unsafe"

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
	if size < pieceSize {
		L.Push(lua.LString(asText(join(L, make([]byte, 0, size), 1, n))))
		return 1
	}
	L.Push(joinLarge(L, n, size))
	return 1
}

// joinLarge goes on in the buffer of the last large string when that is the first value: a script that builds a text with s = s .. x
// copies each byte twice, and not all of the text each time.
func joinLarge(L *lua.LState, n, size int) lua.LString {
	i, ok := L.Context().(*interrupt)
	if !ok {
		chargeConcat(L, size)
		return lua.LString(asText(join(L, make([]byte, 0, size), 1, n)))
	}
	v := i.v
	v.bound(L, "..", size)
	first, isText := L.Get(1).(lua.LString)
	goesOn := isText && len(first) > 0 && len(first) == len(v.text) && unsafe.StringData(string(first)) == unsafe.SliceData(v.text)
	switch {
	case goesOn && size <= cap(v.text):
		v.charge(L, size-len(first))
		v.text = join(L, v.text, 2, n)
	case goesOn:
		v.charge(L, size)
		v.text = join(L, make([]byte, 0, min(2*size, int(v.memory()))), 1, n)
	default:
		v.charge(L, size)
		v.text = join(L, make([]byte, 0, size), 1, n)
	}
	return lua.LString(asText(v.text))
}

// join appends the values from..n on the stack to b.
func join(L *lua.LState, b []byte, from, n int) []byte {
	for i := from; i <= n; i++ {
		switch x := L.Get(i).(type) {
		case lua.LString:
			b = appendText(b, string(x))
		case lua.LNumber:
			b = appendNumber(b, float64(x))
		}
	}
	return b
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
