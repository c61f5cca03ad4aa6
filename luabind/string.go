package luabind

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// openString makes the string library: our own, since gopher-lua's has no bounds and differs from Lua 5.1. Strings have a
// metatable that scripts can neither see nor change.
func (v *vm) openString() {
	functions := map[string]lua.LGFunction{
		"byte": stringByte, "char": stringChar, "find": v.find, "format": v.format, "gmatch": v.gmatch,
		"gsub": v.gsub, "len": stringLen, "lower": v.lower, "match": v.match, "rep": v.rep, "reverse": v.reverse,
		"sub": stringSub, "upper": v.upper,
	}
	lib := v.L.RegisterModule(lua.StringLibName, functions).(*lua.LTable)
	lib.RawSetString("gfind", lib.RawGetString("gmatch")) // its name in Lua 5.0
	methods := v.L.CreateTable(0, len(functions))
	lib.ForEach(methods.RawSet)
	v.L.SetMetatable(lua.LString(""), protected("string", map[string]lua.LValue{"__index": methods}))
}

// maxSpread is how many values one call spreads over the stack (unpack, string.byte).
const maxSpread = 100_000

// spread makes room for n results and calls set for each, from 1.
func spreadValues(L *lua.LState, what string, n int, value func(i int) lua.LValue) int {
	if n <= 0 {
		return 0
	}
	if n > maxSpread {
		L.RaiseError("%s: %d values are more than %d", what, n, maxSpread)
	}
	top := L.GetTop()
	L.SetTop(top + n)
	for i := 1; i <= n; i++ {
		L.Replace(top+i, value(i))
	}
	return n
}

// slice is which bytes of a text of that size i and j mean, as string.sub takes them.
func slice(i, j, size int) (from, to int) {
	if i < 0 {
		i = max(i+size+1, 1)
	}
	if j < 0 {
		j += size + 1
	}
	i, j = max(i, 1), min(j, size)
	if i > j {
		return 0, 0
	}
	return i - 1, j
}

func stringByte(L *lua.LState) int {
	s := textArgument(L, 1)
	i := wholeArgument(L, 2, 1)
	from, to := slice(i, wholeArgument(L, 3, i), len(s))
	if to-from == 1 {
		L.Push(lua.LNumber(s[from]))
		return 1
	}
	return spreadValues(L, "string.byte", to-from, func(i int) lua.LValue { return lua.LNumber(s[from+i-1]) })
}

func stringChar(L *lua.LState) int {
	b := make([]byte, L.GetTop())
	for i := range b {
		c := whole(float64(numberArgument(L, i+1)))
		if c < 0 || c > 255 {
			L.ArgError(i+1, "invalid value")
		}
		b[i] = byte(c)
	}
	L.Push(lua.LString(b))
	return 1
}

func stringLen(L *lua.LState) int {
	L.Push(lua.LNumber(len(textArgument(L, 1))))
	return 1
}

func stringSub(L *lua.LState) int {
	s := textArgument(L, 1)
	from, to := slice(whole(float64(numberArgument(L, 2))), wholeArgument(L, 3, -1), len(s))
	L.Push(lua.LString(s[from:to]))
	return 1
}

// rep is string.rep within the memory of a callback.
func (v *vm) rep(L *lua.LState) int {
	s := textArgument(L, 1)
	n := max(0, whole(float64(numberArgument(L, 2))))
	if size := float64(len(s)) * float64(n); size > float64(v.memory()) {
		v.tooLarge(L, "string.rep", size)
	}
	v.charge(L, len(s)*n)
	L.Push(repeat(s, n))
	return 1
}

// repeat is strings.Repeat, in pieces.
func repeat(s string, n int) lua.LString {
	size := len(s) * n
	if size <= pieceSize {
		return lua.LString(strings.Repeat(s, n))
	}
	most := max(1, pieceSize/len(s)) * len(s)
	b := appendText(make([]byte, 0, size), s)
	for len(b) < size {
		b = appendText(b, asText(b[:min(len(b), most, size-len(b))]))
	}
	return lua.LString(asText(b))
}

func (v *vm) reverse(L *lua.LState) int {
	return v.mapped(L, func(b []byte, s string) {
		for i := range b {
			b[i] = s[len(s)-1-i]
		}
	})
}

// lower is string.lower: of ASCII only, as in the C locale. The module text knows Unicode.
func (v *vm) lower(L *lua.LState) int {
	return v.mapped(L, func(b []byte, s string) {
		for i := range b {
			c := s[i]
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			b[i] = c
		}
	})
}

// upper is string.upper, of ASCII only.
func (v *vm) upper(L *lua.LState) int {
	return v.mapped(L, func(b []byte, s string) {
		for i := range b {
			c := s[i]
			if c >= 'a' && c <= 'z' {
				c -= 'a' - 'A'
			}
			b[i] = c
		}
	})
}

// mapped pushes what fill makes of the function's argument, as many bytes as that has.
func (v *vm) mapped(L *lua.LState, fill func(b []byte, s string)) int {
	s := textArgument(L, 1)
	v.charge(L, len(s))
	b := make([]byte, len(s))
	fill(b, s)
	L.Push(lua.LString(asText(b)))
	return 1
}
