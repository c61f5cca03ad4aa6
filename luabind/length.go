package luabind

import (
	"strconv"

	"github.com/yuin/gopher-lua/ast"

	lua "github.com/yuin/gopher-lua"
)

// A table's array part ends before lua.MaxArrayIndex. Later values go into its hash part, which gopher-lua's # does not count, so
// that t[#t+1] = v overwrites one and the same place. A call in place of each # would make it three times as slow, so
// the repair adds a comparison where a list grows: t[#t+1] = v, local n = #t and local n = #t+1. Functions of ours call length.

var (
	fullFunction   = &lua.LFunction{IsG: true, GFunction: func(L *lua.LState) int { return full(L) }}
	lengthFunction = &lua.LFunction{IsG: true, GFunction: checkLength}
)

func full(L *lua.LState) int {
	L.RaiseError("a list has at most %d values, and this one is full; keep them in several lists, or count them in a variable", lua.MaxArrayIndex-1)
	return 0
}

// checkLength raises when its argument is a list with values that # does not count.
func checkLength(L *lua.LState) int {
	if t, ok := L.Get(1).(*lua.LTable); ok && t.Metatable == lua.LNil {
		length(L, t)
	}
	return 0
}

// length is the length of a list. It raises when the list has values that it does not count.
func length(L *lua.LState, t *lua.LTable) int {
	n := t.Len()
	if n >= lua.MaxArrayIndex-1 && t.RawGetH(lua.LNumber(lua.MaxArrayIndex)) != lua.LNil {
		full(L)
	}
	return n
}

// appending has t[#t+1] = v raise where the list is full. Names in brackets cannot clash with a script's.
func appending(s *ast.AssignStmt) ast.Stmt {
	target, ok := s.Lhs[0].(*ast.AttrGetExpr)
	if !ok || len(s.Lhs) > 1 || len(s.Rhs) > 1 {
		return assignment(s)
	}
	measured, plus := lengthPlus(target.Key)
	if measured == nil || plus != 1 {
		return assignment(s)
	}
	n := at(&ast.IdentExpr{Value: "(length)"}, s)
	target.Key = at(&ast.ArithmeticOpExpr{Operator: "+", Lhs: n, Rhs: at(&ast.NumberExpr{Value: "1"}, s)}, target.Key)
	return at(&ast.DoBlockStmt{Stmts: []ast.Stmt{
		at(&ast.LocalAssignStmt{Names: []string{n.Value}, Exprs: []ast.Expr{measured}}, s),
		whenFull(n, 0, fullMark, n),
		assignment(s),
	}}, s)
}

// measuring adds to local n = #t a look whether the list has values that are not counted.
func measuring(s *ast.LocalAssignStmt) []ast.Stmt {
	if len(s.Names) != 1 || len(s.Exprs) != 1 {
		return nil
	}
	measured, plus := lengthPlus(s.Exprs[0])
	if measured == nil || !plain(measured.Expr, s.Names[0]) {
		return nil
	}
	n := at(&ast.IdentExpr{Value: s.Names[0]}, s)
	return []ast.Stmt{whenFull(n, plus, lengthMark, measured.Expr)}
}

// lengthPlus takes #a, #a+1 and 1+#a apart.
func lengthPlus(e ast.Expr) (measured *ast.UnaryLenOpExpr, plus int) {
	if sum, ok := e.(*ast.ArithmeticOpExpr); ok && sum.Operator == "+" {
		a, b := sum.Lhs, sum.Rhs
		if _, number := a.(*ast.NumberExpr); number {
			a, b = b, a
		}
		if one, number := b.(*ast.NumberExpr); !number || one.Value != "1" {
			return nil, 0
		}
		e, plus = a, 1
	}
	measured, _ = e.(*ast.UnaryLenOpExpr)
	return measured, plus
}

// plain reports whether e is a name other than that one, or fields of it: evaluating it twice does no harm.
func plain(e ast.Expr, other string) bool {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return e.Value != other
	case *ast.AttrGetExpr:
		_, constant := e.Key.(*ast.StringExpr)
		return constant && plain(e.Object, other)
	}
	return false
}

// whenFull is: if n >= most + plus then mark(argument) end.
func whenFull(n *ast.IdentExpr, plus int, mark string, argument ast.Expr) ast.Stmt {
	most := at(&ast.NumberExpr{Value: strconv.Itoa(lua.MaxArrayIndex - 1 + plus)}, n)
	call := at(&ast.FuncCallExpr{Func: markOf(mark, n), Args: []ast.Expr{argument}}, n)
	return at(&ast.IfStmt{
		Condition: at(&ast.RelationalOpExpr{Operator: ">=", Lhs: n, Rhs: most}, n),
		Then:      []ast.Stmt{at(&ast.FuncCallStmt{Expr: call}, n)},
	}, n)
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
