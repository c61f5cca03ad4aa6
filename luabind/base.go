package luabind

import (
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// tostring is Lua's, with numbers as appendNumber writes them.
func (v *vm) tostring(L *lua.LState) int {
	value := L.CheckAny(1)
	if _, ok := L.GetMetaField(value, "__tostring").(*lua.LFunction); ok {
		L.Push(L.ToStringMeta(value)) // whatever the method returns
		return 1
	}
	L.Push(lua.LString(v.tostringValue(L, value)))
	return 1
}

func (v *vm) tostringValue(L *lua.LState, value lua.LValue) string {
	switch x := value.(type) {
	case lua.LString:
		return string(x)
	case lua.LNumber:
		return string(appendNumber(nil, float64(x)))
	}
	switch x := L.ToStringMeta(value).(type) {
	case lua.LString:
		return string(x)
	case lua.LNumber:
		return string(appendNumber(nil, float64(x)))
	default:
		return x.String()
	}
}

// tonumber is Lua's, with a base of 2 to 36.
func tonumber(L *lua.LState) int {
	base := wholeArgument(L, 2, 10)
	if base < 2 || base > 36 {
		L.ArgError(2, "base out of range")
	}
	var f float64
	ok := false
	switch x := L.CheckAny(1).(type) {
	case lua.LNumber:
		f, ok = float64(x), true
	case lua.LString:
		if base == 10 {
			f, ok = parseNumber(string(x))
		} else {
			f, ok = parseBase(string(x), base)
		}
	}
	if !ok {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(lua.LNumber(f))
	return 1
}

const luaSpace = " \t\n\v\f\r"

// parseNumber reads a number as Lua 5.1 does: decimal, or hexadecimal whole ones.
func parseNumber(s string) (float64, bool) {
	s = strings.Trim(s, luaSpace)
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 {
		return 0, false
	}
	if len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x' {
		n, ok := parseBase(digits, 16)
		if s[0] == '-' {
			n = -n
		}
		return n, ok
	}
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

func parseBase(s string, base int) (float64, bool) {
	s = strings.Trim(s, luaSpace)
	negative := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	if base == 16 && len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		s = s[2:]
	}
	n, err := strconv.ParseUint(s, base, 64)
	if err != nil || strings.Contains(s, "_") {
		return 0, false
	}
	if negative {
		return -float64(n), true
	}
	return float64(n), true
}

// raise is Lua's error(message[, level]): any value may be raised, nil too; a string or number gets the place of the level in front.
func raise(L *lua.LState) int {
	level := wholeArgument(L, 2, 1)
	message := L.Get(1)
	if level > 0 && lua.LVCanConvToString(message) {
		message = lua.LString(placeOf(L, level) + plainText(message))
	}
	L.Error(message, 0)
	return 0
}

// placeOf is the file and line at a level of the stack, 1 being the function that runs, or "" where that is none of a script. gopher-lua's
// own error counts levels wrongly.
func placeOf(L *lua.LState, level int) string {
	place := L.Where(level)
	if place == "" || strings.HasPrefix(place, "[G]") {
		return ""
	}
	return place + " "
}

// setMetatable is Lua's: only tables may be given one, so that a script cannot change numbers or functions of a pooled VM.
func setMetatable(L *lua.LState) int {
	t := L.CheckTable(1)
	if L.GetTop() < 2 {
		L.ArgError(2, "nil or table expected")
	}
	L.CheckTypes(2, lua.LTNil, lua.LTTable)
	if m, ok := t.Metatable.(*lua.LTable); ok && m.RawGetString("__metatable") != lua.LNil {
		L.RaiseError("cannot change a protected metatable")
	}
	t.Metatable = L.Get(2)
	L.SetTop(1)
	return 1
}

// unpack is Lua's, of at most maxSpread values.
func unpack(L *lua.LState) int {
	t := L.CheckTable(1)
	from := wholeArgument(L, 2, 1)
	to := wholeArgument(L, 3, length(L, t))
	return spreadValues(L, "unpack", to-from+1, func(i int) lua.LValue { return t.RawGetInt(from + i - 1) })
}
