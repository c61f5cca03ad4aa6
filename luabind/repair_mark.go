package luabind

import (
	"crypto/rand"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// Marks stand for functions of ours until the code is compiled: an AST holds no functions, constants do. No script can
// contain them.
var (
	concatMark = "concat " + rand.Text()
	passMark   = "pass " + rand.Text()
	numberMark = "number " + rand.Text()
	lengthMark = "length " + rand.Text()
	fullMark   = "full " + rand.Text()
	marks      = map[string]*lua.LFunction{
		concatMark: concatFunction, passMark: passFunction, numberMark: numberFunction, lengthMark: lengthFunction, fullMark: fullFunction,
	}
)

// passFunction returns its arguments.
var passFunction = &lua.LFunction{IsG: true, GFunction: func(L *lua.LState) int { return L.GetTop() }}

// numberFunction returns its argument: as a number when it is a string that is one.
var numberFunction = &lua.LFunction{IsG: true, GFunction: func(L *lua.LState) int {
	if s, ok := L.Get(1).(lua.LString); ok {
		if f, ok := parseNumber(string(s)); ok {
			L.Push(lua.LNumber(f))
			return 1
		}
	}
	L.SetTop(1)
	return 1
}}

func markOf(mark string, like ast.Expr) ast.Expr { return at(&ast.StringExpr{Value: mark}, like) }

// patchMarks puts the functions where their marks stand.
func patchMarks(proto *lua.FunctionProto) {
	for i, c := range proto.Constants {
		if s, ok := c.(lua.LString); ok && marks[string(s)] != nil {
			proto.Constants[i] = marks[string(s)]
		}
	}
	for _, child := range proto.FunctionPrototypes {
		patchMarks(child)
	}
}

// returns repairs "return coroutine.yield(x)": as a tail call it would leave a coroutine without a frame to go on in.
func (r *repair) returns(s *ast.ReturnStmt) {
	r.exprs(s.Exprs)
	if len(s.Exprs) != 1 {
		return
	}
	call, ok := s.Exprs[0].(*ast.FuncCallExpr)
	if !ok || call.AdjustRet || !isYield(call.Func) {
		return
	}
	s.Exprs[0] = at(&ast.FuncCallExpr{Func: markOf(passMark, call), Args: []ast.Expr{call}}, call)
}

func isYield(f ast.Expr) bool {
	switch f := f.(type) {
	case *ast.IdentExpr:
		return f.Value == "yield"
	case *ast.AttrGetExpr:
		key, ok := f.Key.(*ast.StringExpr)
		return ok && key.Value == "yield"
	}
	return false
}
