package luabind

import "github.com/yuin/gopher-lua/ast"

// loop repairs a loop and the breaks out of it.
func (r *repair) loop(s ast.Stmt) []ast.Stmt {
	around := r.jumps.push(&scope{})
	defer r.jumps.pop()
	inside := &scope{loop: true}
	needed := true
	switch s := s.(type) {
	case *ast.WhileStmt:
		needed = r.while(s, inside)
	case *ast.RepeatStmt:
		r.repeat(s, inside)
	case *ast.NumberForStmt:
		s.Init, s.Limit, s.Step = bound(r.expr(s.Init)), bound(r.expr(s.Limit)), bound(r.expr(s.Step))
		s.Stmts = r.inside(inside, s.Stmts, "(for index)", "(for limit)", "(for step)", s.Name)
	case *ast.GenericForStmt:
		r.exprs(s.Exprs)
		hidden := []string{"(for generator)", "(for state)", "(for control)"}
		s.Stmts = r.inside(inside, s.Stmts, append(hidden, s.Names...)...)
	}
	end := at(&ast.LabelStmt{Name: inside.breaker}, s)
	around.labels = map[string]*label{end.Name: {active: around.active(), trailing: true}}
	switch {
	case !needed:
		return nil
	case inside.breaker == "":
		return []ast.Stmt{s}
	}
	return []ast.Stmt{at(&ast.DoBlockStmt{Stmts: []ast.Stmt{s, end}}, s)}
}

// bound is where a numeric for starts or ends: gopher-lua takes numbers only, Lua 5.1 also strings that are some.
func bound(e ast.Expr) ast.Expr {
	switch e.(type) {
	case nil, *ast.NumberExpr, *ast.ArithmeticOpExpr, *ast.UnaryMinusOpExpr, *ast.UnaryLenOpExpr:
		return e
	}
	return at(&ast.FuncCallExpr{Func: markOf(numberMark, e), Args: []ast.Expr{single(e)}, AdjustRet: true}, e)
}

// inside repairs the body of a loop.
func (r *repair) inside(s *scope, body []ast.Stmt, locals ...string) []ast.Stmt {
	r.jumps.push(s)
	defer r.jumps.pop()
	r.jumps.declare(locals...)
	return r.body(body)
}

// while reports whether the loop is needed at all.
func (r *repair) while(s *ast.WhileStmt, inside *scope) bool {
	s.Condition = r.expr(s.Condition)
	s.Stmts = r.inside(inside, s.Stmts)
	if len(s.Stmts) == 0 && isAlways(s.Condition, true) {
		s.Stmts = []ast.Stmt{step(s)}
	}
	return !isAlways(s.Condition, false)
}

// repeat's condition sees the locals of the body.
func (r *repair) repeat(s *ast.RepeatStmt, inside *scope) {
	inside.until = true
	r.jumps.push(inside)
	defer r.jumps.pop()
	s.Stmts = r.body(s.Stmts)
	s.Condition = r.expr(s.Condition)
	if len(s.Stmts) == 0 {
		s.Stmts = []ast.Stmt{step(s)}
	}
}
