package luabind

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// gsub is string.gsub(s, pattern, replacement[, n]).
func (v *vm) gsub(L *lua.LState) int {
	m := v.matcherOf(L)
	replacement := L.Get(3)
	switch r := replacement.(type) {
	case lua.LNumber:
		replacement = lua.LString(appendNumber(nil, float64(r)))
	case lua.LString, *lua.LTable, *lua.LFunction:
	default:
		L.ArgError(3, "string/function/table expected")
	}
	most := wholeArgument(L, 4, len(m.text)+1)
	p, anchored := m.anchor()
	var out []byte
	s, kept, count := 0, 0, 0 // the text before kept is in out
	for count < most {
		end := m.try(s, p)
		if end >= 0 {
			count++
			out = appendText(out, m.text[kept:s])
			out = m.replace(out, s, end, replacement)
			kept = end
			v.bound(L, "string.gsub", len(out))
		}
		if end > s {
			s = end
		} else {
			s++
		}
		if s > len(m.text) || anchored {
			break
		}
	}
	if count == 0 {
		L.Push(lua.LString(m.text))
	} else {
		v.makes(L, "string.gsub", len(out)+len(m.text)-kept)
		L.Push(newText(appendText(out, m.text[kept:])))
	}
	L.Push(lua.LNumber(count))
	return 2
}

// replace appends what takes the place of a match.
func (m *matcher) replace(out []byte, start, end int, replacement lua.LValue) []byte {
	var v lua.LValue
	L := m.L
	switch r := replacement.(type) {
	case lua.LString:
		return m.expand(out, start, end, string(r))
	case *lua.LTable:
		v = L.GetTable(r, m.first(start, end))
	case *lua.LFunction:
		L.Push(r)
		L.Call(m.push(start, end), 1)
		v = L.Get(-1)
		L.Pop(1)
	}
	switch v := v.(type) {
	case lua.LString:
		return appendText(out, string(v))
	case lua.LNumber:
		return appendNumber(out, float64(v))
	}
	if lua.LVAsBool(v) {
		L.RaiseError("invalid replacement value (a %s)", v.Type())
	}
	return appendText(out, m.text[start:end])
}

// first is the first capture, or all of the match when there is none.
func (m *matcher) first(start, end int) lua.LValue {
	if m.level == 0 {
		return lua.LString(m.text[start:end])
	}
	return m.captured(0)
}

// expand appends a replacement with its %0 to %9.
func (m *matcher) expand(out []byte, start, end int, r string) []byte {
	for {
		i := strings.IndexByte(r, '%')
		if i < 0 {
			return appendText(out, r)
		}
		out = appendText(out, r[:i])
		if i+1 == len(r) {
			return append(out, 0) // as C strings have it
		}
		switch c := r[i+1]; {
		case c < '0' || c > '9':
			out = append(out, c)
		case c == '0':
			out = appendText(out, m.text[start:end])
		default:
			out = m.appendCapture(out, start, end, int(c-'1'))
		}
		r = r[i+2:]
		m.v.bound(m.L, "string.gsub", len(out))
		m.spend(1 + (end-start)/16)
	}
}

func (m *matcher) appendCapture(out []byte, start, end, i int) []byte {
	if i >= m.level {
		if i > 0 {
			m.fail("invalid capture index")
		}
		return appendText(out, m.text[start:end])
	}
	switch c := m.captured(i).(type) {
	case lua.LString:
		return appendText(out, string(c))
	case lua.LNumber:
		return appendNumber(out, float64(c))
	}
	return out
}
