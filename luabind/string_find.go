package luabind

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// matcherOf makes a matcher of a function's first two arguments.
func (v *vm) matcherOf(L *lua.LState) matcher {
	return matcher{L: L, v: v, text: textArgument(L, 1), pattern: textArgument(L, 2)}
}

// search finds the first match at or after position s. The pattern's part from p on is used.
func (m *matcher) search(s, p int, anchored bool) (start, end int) {
	for {
		if end := m.try(s, p); end >= 0 {
			return s, end
		}
		if s++; anchored || s > len(m.text) {
			return -1, -1
		}
	}
}

// anchor is where the pattern begins behind its ^.
func (m *matcher) anchor() (p int, anchored bool) {
	if m.pattern != "" && m.pattern[0] == '^' {
		return 1, true
	}
	return 0, false
}

// startOf turns the argument init into a position in the text.
func startOf(init, size int) int {
	if init < 0 {
		init += size + 1
	}
	return min(max(init-1, 0), size)
}

// find is string.find(s, pattern[, init[, plain]]).
func (v *vm) find(L *lua.LState) int { return v.findOrMatch(L, true) }

// match is string.match(s, pattern[, init]).
func (v *vm) match(L *lua.LState) int { return v.findOrMatch(L, false) }

func (v *vm) findOrMatch(L *lua.LState, find bool) int {
	m := v.matcherOf(L)
	init := startOf(wholeArgument(L, 3, 1), len(m.text))
	if find && (L.ToBool(4) || !strings.ContainsAny(m.pattern, patternSpecials)) {
		at := strings.Index(m.text[init:], m.pattern)
		if at < 0 {
			L.Push(lua.LNil)
			return 1
		}
		L.Push(lua.LNumber(init + at + 1))
		L.Push(lua.LNumber(init + at + len(m.pattern)))
		return 2
	}
	p, anchored := m.anchor()
	start, end := m.search(init, p, anchored)
	switch {
	case start < 0:
		L.Push(lua.LNil)
		return 1
	case find:
		L.Push(lua.LNumber(start + 1))
		L.Push(lua.LNumber(end))
		for i := range m.level {
			L.Push(m.captured(i))
		}
		return 2 + m.level
	}
	return m.push(start, end)
}

// push pushes the captures of a match, or all of it when there are none.
func (m *matcher) push(start, end int) int {
	if m.level == 0 {
		m.L.Push(lua.LString(m.text[start:end]))
		return 1
	}
	for i := range m.level {
		m.L.Push(m.captured(i))
	}
	return m.level
}

// captured is the i-th capture, from 0.
func (m *matcher) captured(i int) lua.LValue {
	switch c := m.captures[i]; c.size {
	case captureOpen:
		m.fail("unfinished capture")
		return lua.LNil
	case capturePosition:
		return lua.LNumber(c.start + 1)
	default:
		return lua.LString(m.text[c.start : c.start+c.size])
	}
}

// gmatch is string.gmatch(s, pattern): an iterator over the captures of each match. As in Lua 5.1 a ^ has no meaning here.
func (v *vm) gmatch(L *lua.LState) int {
	m := v.matcherOf(L)
	at := 0
	L.Push(L.NewFunction(func(L *lua.LState) int {
		if at > len(m.text) {
			return 0
		}
		m.L, m.steps, m.polled, m.depth = L, 0, 0, 0
		start, end := m.search(at, 0, false)
		if start < 0 {
			at = len(m.text) + 1
			return 0
		}
		at = end
		if start == end {
			at++
		}
		return m.push(start, end)
	}))
	return 1
}
