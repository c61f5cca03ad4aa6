package luabind

import (
	"fmt"

	"github.com/yuin/gopher-lua/ast"
)

// assignment repairs one assignment whose expressions are repaired already. Names in brackets cannot clash with a script's.
func assignment(s *ast.AssignStmt) ast.Stmt {
	if len(s.Lhs) > 1 || len(s.Rhs) > 1 {
		return spread(s)
	}
	switch target := s.Lhs[0].(type) {
	case *ast.IdentExpr:
		if direct(s.Rhs[0]) {
			return s
		}
		return spread(s)
	case *ast.AttrGetExpr:
		if _, constant := truth(target.Object); constant {
			return spread(s)
		}
	}
	return s
}

// direct reports whether the compiler may compute e straight into a local: not when it branches on the way, nor for a call
// cut to one value, which is built where the last parameter lies.
func direct(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.LogicalOpExpr:
		return false
	case *ast.FuncCallExpr:
		return !e.AdjustRet
	case *ast.Comma3Expr:
		return !e.AdjustRet
	}
	return true
}

// spread turns an assignment into its steps: evaluate what the targets stand on, then all values, then store from the
// last target to the first, as PUC Lua does.
func spread(s *ast.AssignStmt) ast.Stmt {
	var stmts []ast.Stmt
	hold := func(name string, e ast.Expr) ast.Expr {
		stmts = append(stmts, at(&ast.LocalAssignStmt{Names: []string{name}, Exprs: []ast.Expr{e}}, s))
		return at(&ast.IdentExpr{Value: name}, e)
	}
	values := at(&ast.LocalAssignStmt{Exprs: s.Rhs}, s)
	var stores []ast.Stmt
	for i, target := range s.Lhs {
		if t, ok := target.(*ast.AttrGetExpr); ok {
			t.Object = hold(fmt.Sprintf("(object %d)", i), t.Object)
			if _, constant := truth(t.Key); !constant {
				t.Key = hold(fmt.Sprintf("(key %d)", i), t.Key)
			}
		}
		name := fmt.Sprintf("(value %d)", i)
		values.Names = append(values.Names, name)
		value := at(&ast.IdentExpr{Value: name}, target)
		stores = append(stores, at(&ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{value}}, target))
	}
	stmts = append(stmts, values)
	for i := len(stores) - 1; i >= 0; i-- {
		stmts = append(stmts, stores[i])
	}
	return at(&ast.DoBlockStmt{Stmts: stmts}, s)
}

// local repairs a local statement. "local f = function" and "local function f" come out of the parser alike but for the
// last line; a second value takes the first off the path where f is already in scope inside its own body.
func (r *repair) local(s *ast.LocalAssignStmt) ast.Stmt {
	recursive := s.LastLine() != 0
	if recursive {
		r.jumps.declare(s.Names...)
	}
	r.exprs(s.Exprs)
	if recursive {
		return s
	}
	r.jumps.declare(s.Names...)
	if len(s.Names) == 1 && len(s.Exprs) == 1 {
		if f, ok := s.Exprs[0].(*ast.FunctionExpr); ok {
			s.Exprs = append(s.Exprs, at(&ast.NilExpr{}, f))
		}
	}
	return s
}
