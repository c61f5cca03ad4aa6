package luabind

import (
	"github.com/yuin/gopher-lua/ast"

	lua "github.com/yuin/gopher-lua"
)

// lengthFunction is what #a calls in place of gopher-lua's instruction. A table's array part ends before lua.MaxArrayIndex, later values
// go into its hash part, which the instruction does not count: t[#t+1] = v would overwrite one and the same place.
var lengthFunction = &lua.LFunction{IsG: true, GFunction: lengthOf}

// length turns #a into a call of lengthFunction, whose mark patchMarks replaces.
func (r *repair) length(e *ast.UnaryLenOpExpr) ast.Expr {
	return at(&ast.FuncCallExpr{Func: markOf(lengthMark, e), Args: []ast.Expr{r.expr(e.Expr)}, AdjustRet: true}, e)
}

func lengthOf(L *lua.LState) int {
	x := L.Get(1)
	if s, ok := x.(lua.LString); ok {
		L.Push(lua.LNumber(len(s)))
		return 1
	}
	t, ok := x.(*lua.LTable)
	if ok && t.Metatable == lua.LNil {
		L.Push(lua.LNumber(length(L, t)))
		return 1
	}
	if method, has := L.GetMetaField(x, "__len").(*lua.LFunction); has {
		L.Push(method)
		L.Push(x)
		L.Call(1, 1)
		return 1
	}
	if !ok {
		L.RaiseError("attempt to get length of a %s value", x.Type())
	}
	L.Push(lua.LNumber(length(L, t)))
	return 1
}

// length is the length of a list. It raises when the list has values that it does not count.
func length(L *lua.LState, t *lua.LTable) int {
	n := t.Len()
	if n >= lua.MaxArrayIndex-1 && t.RawGetH(lua.LNumber(lua.MaxArrayIndex)) != lua.LNil {
		L.RaiseError("a list of more than %d values has no length; keep them in several lists, or count them in a variable", n)
	}
	return n
}

// ipairs is Lua's: it goes on into a table's hash part.
func (v *vm) openIpairs() {
	next := v.L.NewFunction(func(L *lua.LState) int {
		t, i := L.CheckTable(1), L.CheckInt(2)+1
		value := t.RawGetInt(i)
		if i >= lua.MaxArrayIndex {
			value = t.RawGetH(lua.LNumber(i))
		}
		if value == lua.LNil {
			return 0
		}
		L.Push(lua.LNumber(i))
		L.Push(value)
		return 2
	})
	v.L.SetGlobal("ipairs", v.L.NewFunction(func(L *lua.LState) int {
		t := L.CheckTable(1)
		L.Push(next)
		L.Push(t)
		L.Push(lua.LNumber(0))
		return 3
	}))
}
