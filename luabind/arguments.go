package luabind

import (
	"math"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

// textArgument is the n-th argument of a library function as text; numbers are written as tostring writes them.
func textArgument(L *lua.LState, n int) string {
	switch x := L.Get(n).(type) {
	case lua.LString:
		return string(x)
	case lua.LNumber:
		return string(appendNumber(nil, float64(x)))
	}
	return L.CheckString(n) // raises
}

// wholeArgument is the n-th argument as a whole number, or byDefault when it is left out. Those beyond 2^53 are cut to it.
func wholeArgument(L *lua.LState, n int, byDefault int) int {
	switch x := L.Get(n).(type) {
	case lua.LNumber:
		return whole(float64(x))
	case *lua.LNilType:
		return byDefault
	}
	return whole(float64(numberArgument(L, n)))
}

func numberArgument(L *lua.LState, n int) lua.LNumber {
	switch x := L.Get(n).(type) {
	case lua.LNumber:
		return x
	case lua.LString:
		if f, ok := parseNumber(string(x)); ok {
			return lua.LNumber(f)
		}
	}
	return L.CheckNumber(n) // raises
}

// exact is up to where float64 tells whole numbers apart.
const exact = 1 << 53

func whole(f float64) int {
	if math.IsNaN(f) {
		return 0
	}
	return int(max(-exact, min(exact, f)))
}

// appendNumber writes a number as Lua does, with 14 digits, but whole numbers up to 2^53 with all of theirs: ids of news
// articles have 16 digits, and belong into URLs.
func appendNumber(b []byte, f float64) []byte {
	switch {
	case f == 0 && math.Signbit(f):
		return append(b, "-0"...)
	case f == math.Trunc(f) && math.Abs(f) <= exact:
		return strconv.AppendInt(b, int64(f), 10)
	case math.IsNaN(f):
		return append(b, "nan"...)
	case math.IsInf(f, 1):
		return append(b, "inf"...)
	case math.IsInf(f, -1):
		return append(b, "-inf"...)
	}
	return strconv.AppendFloat(b, f, 'g', 14, 64)
}
