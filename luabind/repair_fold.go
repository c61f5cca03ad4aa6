package luabind

import "github.com/yuin/gopher-lua/ast"

// Constant conditions are decided here. The compiler turns one at the left of and/or, or in an if, into a bare jump. When a
// loop starts with a jump, its backward jump is followed through a jump that has been resolved already, to a wrong place.

// truth says whether an expression is a constant, and its truth value.
func truth(e ast.Expr) (value, constant bool) {
	switch e.(type) {
	case *ast.FalseExpr, *ast.NilExpr:
		return false, true
	case *ast.TrueExpr, *ast.NumberExpr, *ast.StringExpr:
		return true, true
	}
	return false, false
}

// foldLogical decides "constant and x" and "constant or x".
func foldLogical(e *ast.LogicalOpExpr) ast.Expr {
	value, constant := truth(e.Lhs)
	switch {
	case !constant:
		return e
	case value == (e.Operator == "and"):
		return single(e.Rhs)
	}
	return e.Lhs
}

// single cuts an expression of many values to one, as an operand is.
func single(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		e.AdjustRet = true
	case *ast.Comma3Expr:
		e.AdjustRet = true
	}
	return e
}

func foldNot(e *ast.UnaryNotOpExpr) ast.Expr {
	value, constant := truth(e.Expr)
	switch {
	case !constant:
		return e
	case value:
		return at(&ast.FalseExpr{}, e)
	}
	return at(&ast.TrueExpr{}, e)
}

// ifs repairs an if statement, and decides it when its condition is constant.
func (r *repair) ifs(s *ast.IfStmt) []ast.Stmt {
	s.Condition = r.expr(s.Condition)
	s.Then, s.Else = r.scope(s.Then), r.scope(s.Else)
	value, constant := truth(s.Condition)
	if !constant {
		return []ast.Stmt{s}
	}
	taken := s.Else
	if value {
		taken = s.Then
	}
	return []ast.Stmt{at(&ast.DoBlockStmt{Stmts: taken}, s)}
}

// step is one harmless instruction: it keeps a jump from being the first of a loop.
func step(like ast.PositionHolder) ast.Stmt {
	local := at(&ast.LocalAssignStmt{Names: []string{"(step)"}}, like)
	return at(&ast.DoBlockStmt{Stmts: []ast.Stmt{local}}, like)
}

// isAlways reports whether a condition is the constant want.
func isAlways(e ast.Expr, want bool) bool {
	value, constant := truth(e)
	return constant && value == want
}
