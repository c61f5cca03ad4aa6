package luabind

import (
	lua "github.com/yuin/gopher-lua"
)

// openTable makes the table library: our own, since gopher-lua's has no bounds and differs from Lua 5.1.
func (v *vm) openTable() {
	v.L.RegisterModule(lua.TabLibName, map[string]lua.LGFunction{
		"concat": v.tableConcat, "insert": v.tableInsert, "remove": tableRemove, "sort": v.tableSort,
		"getn": tableGetN, "maxn": tableMaxN, "foreach": tableForeach, "foreachi": tableForeachI,
	})
}

func tableGetN(L *lua.LState) int {
	L.Push(lua.LNumber(length(L, L.CheckTable(1))))
	return 1
}

func tableMaxN(L *lua.LState) int {
	most := lua.LNumber(0)
	L.CheckTable(1).ForEach(func(k, _ lua.LValue) {
		if n, ok := k.(lua.LNumber); ok && n > most {
			most = n
		}
	})
	L.Push(most)
	return 1
}

// tableConcat is table.concat(t[, separator[, i[, j]]]).
func (v *vm) tableConcat(L *lua.LState) int {
	t := L.CheckTable(1)
	separator := ""
	if L.Get(2) != lua.LNil {
		separator = textArgument(L, 2)
	}
	from := wholeArgument(L, 3, 1)
	to := wholeArgument(L, 4, -1)
	if L.Get(4) == lua.LNil {
		to = length(L, t)
	}
	size := v.concatSize(L, t, from, to, len(separator))
	v.makes(L, "table.concat", size)
	out := make([]byte, 0, size)
	for i := from; i <= to; i++ {
		switch x := t.RawGetInt(i).(type) {
		case lua.LString:
			out = appendText(out, string(x))
		case lua.LNumber:
			out = appendNumber(out, float64(x))
		}
		if i < to {
			out = appendText(out, separator)
		}
	}
	L.Push(newText(out))
	return 1
}

// concatSize is how long the values of a list are with separators between them, about. It raises when one cannot be joined.
func (v *vm) concatSize(L *lua.LState, t *lua.LTable, from, to, separator int) int {
	size := 0
	for i := from; i <= to; i++ {
		switch x := t.RawGetInt(i).(type) {
		case lua.LString:
			size += len(x) + separator
		case lua.LNumber:
			size += 20 + separator
		default:
			L.RaiseError("invalid value (%s) at index %d in table for 'concat'", x.Type(), i)
		}
		if i%1024 == 0 {
			v.bound(L, "table.concat", size)
			v.interrupt.check(L)
		}
	}
	return size
}

// tableInsert is table.insert(t, [position,] value).
func (v *vm) tableInsert(L *lua.LState) int {
	t := L.CheckTable(1)
	n := t.Len()
	if n >= lua.MaxArrayIndex-1 {
		L.RaiseError("table.insert: a list has at most %d values, and this one is full; keep them in several lists", n)
	}
	switch L.GetTop() {
	case 2:
		t.RawSetInt(n+1, L.Get(2))
		return 0
	case 3:
	default:
		L.RaiseError("wrong number of arguments to 'insert'")
	}
	position, value := whole(float64(numberArgument(L, 2))), L.Get(3)
	if position >= 1 && position <= n {
		t.Insert(position, value)
		return 0
	}
	for i := n; i >= position; i-- { // a position below 1, which Lua takes as it comes
		t.RawSetInt(i+1, t.RawGetInt(i))
		if i%1024 == 0 {
			v.interrupt.check(L)
		}
	}
	t.RawSetInt(position, value)
	return 0
}

// tableRemove is table.remove(t[, position]).
func tableRemove(L *lua.LState) int {
	t := L.CheckTable(1)
	n := length(L, t)
	position := wholeArgument(L, 2, n)
	if position < 1 || position > n {
		return 0
	}
	L.Push(t.Remove(position))
	return 1
}

// tableForeach is table.foreach(t, f), which Lua 5.1 still has.
func tableForeach(L *lua.LState) int {
	t, f := L.CheckTable(1), L.CheckFunction(2)
	for k, value := t.Next(lua.LNil); k != lua.LNil; k, value = t.Next(k) {
		if visited(L, f, k, value) {
			return 1
		}
	}
	return 0
}

// tableForeachI is table.foreachi(t, f).
func tableForeachI(L *lua.LState) int {
	t, f := L.CheckTable(1), L.CheckFunction(2)
	for i := range length(L, t) {
		if visited(L, f, lua.LNumber(i+1), t.RawGetInt(i+1)) {
			return 1
		}
	}
	return 0
}

// visited calls f and leaves its result on the stack when there is one.
func visited(L *lua.LState, f, key, value lua.LValue) bool {
	L.Push(f)
	L.Push(key)
	L.Push(value)
	L.Call(2, 1)
	if L.Get(-1) != lua.LNil {
		return true
	}
	L.Pop(1)
	return false
}
