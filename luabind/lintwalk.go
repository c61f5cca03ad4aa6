package luabind

import (
	"slices"

	"github.com/yuin/gopher-lua/ast"
)

// inside walks with a scope of its own that begins with some names.
func (l *linter) inside(names []string, walk func()) {
	l.scope = &visible{names: map[string]bool{}, outer: l.scope}
	l.declare(names...)
	walk()
	l.scope = l.scope.outer
}

func (l *linter) declare(names ...string) {
	for _, name := range names {
		l.scope.names[name] = true
	}
}

func (l *linter) block(stmts []ast.Stmt, names ...string) {
	l.inside(names, func() {
		for _, s := range stmts {
			l.stmt(s)
		}
	})
}

func (l *linter) function(f *ast.FunctionExpr, hidden ...string) {
	l.block(f.Stmts, slices.Concat(f.ParList.Names, hidden, []string{"arg"})...)
}

func (l *linter) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		l.exprs(s.Rhs)
		for i, target := range s.Lhs {
			l.assign(target)
			if i < len(s.Rhs) {
				l.placed(target, s.Rhs[i])
			}
		}
	case *ast.LocalAssignStmt:
		l.local(s)
	case *ast.FuncCallStmt:
		l.expr(s.Expr)
	case *ast.ReturnStmt:
		l.exprs(s.Exprs)
	case *ast.FuncDefStmt:
		l.define(s)
	case *ast.DoBlockStmt:
		l.block(s.Stmts)
	case *ast.IfStmt:
		l.expr(s.Condition)
		l.block(s.Then)
		l.block(s.Else)
	default:
		l.loop(s)
	}
}

func (l *linter) loop(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.WhileStmt:
		l.expr(s.Condition)
		l.block(s.Stmts)
	case *ast.RepeatStmt: // its condition sees the locals of its body
		l.inside(nil, func() {
			for _, inner := range s.Stmts {
				l.stmt(inner)
			}
			l.expr(s.Condition)
		})
	case *ast.NumberForStmt:
		l.exprs([]ast.Expr{s.Init, s.Limit, s.Step})
		l.block(s.Stmts, s.Name)
	case *ast.GenericForStmt:
		l.exprs(s.Exprs)
		l.block(s.Stmts, s.Names...)
	}
}

// local: a local function sees itself, any other value does not. The parser tells them apart no more, which does no harm here.
func (l *linter) local(s *ast.LocalAssignStmt) {
	if len(s.Names) == 1 && len(s.Exprs) == 1 {
		if f, ok := s.Exprs[0].(*ast.FunctionExpr); ok {
			l.declare(s.Names...)
			l.function(f)
			return
		}
	}
	l.exprs(s.Exprs)
	l.declare(s.Names...)
	for i, name := range s.Names {
		if i < len(s.Exprs) && l.scope.outer == nil {
			l.placed(&ast.IdentExpr{Value: name}, s.Exprs[i])
		}
	}
}

func (l *linter) define(s *ast.FuncDefStmt) {
	if s.Name.Func == nil {
		l.expr(s.Name.Receiver)
		l.function(s.Func, "self")
		return
	}
	l.assign(s.Name.Func)
	l.placed(s.Name.Func, s.Func)
	l.function(s.Func)
}

// assign: a name that is no local becomes a global, and so does a field of _G; a field of a library becomes one of it.
func (l *linter) assign(target ast.Expr) {
	switch e := target.(type) {
	case *ast.IdentExpr:
		if !l.scope.has(e.Value) {
			l.assigned[e.Value] = true
		}
	case *ast.AttrGetExpr:
		object, isName := e.Object.(*ast.IdentExpr)
		key, isConstant := e.Key.(*ast.StringExpr)
		if isName && isConstant && !l.scope.has(object.Value) {
			l.assigned[object.Value+"."+key.Value] = true
			if object.Value == "_G" {
				l.assigned[key.Value] = true
			}
			l.expr(e.Object)
			return
		}
		l.expr(e.Object)
		l.expr(e.Key)
	}
}

func (l *linter) exprs(list []ast.Expr) {
	for _, e := range list {
		l.expr(e)
	}
}

func (l *linter) expr(e ast.Expr) {
	switch e := e.(type) {
	case *ast.IdentExpr:
		l.use(e, "")
	case *ast.AttrGetExpr:
		object, isName := e.Object.(*ast.IdentExpr)
		if key, isConstant := e.Key.(*ast.StringExpr); isName && isConstant {
			l.use(object, key.Value)
			return
		}
		l.exprs([]ast.Expr{e.Object, e.Key})
	case *ast.TableExpr:
		for _, f := range e.Fields {
			l.exprs([]ast.Expr{f.Key, f.Value})
		}
	case *ast.FuncCallExpr:
		l.exprs([]ast.Expr{e.Func, e.Receiver})
		l.exprs(e.Args)
		l.call(e)
	case *ast.FunctionExpr:
		l.function(e)
	default:
		l.operation(e)
	}
}

func (l *linter) operation(e ast.Expr) {
	switch e := e.(type) {
	case *ast.LogicalOpExpr:
		l.exprs([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.RelationalOpExpr:
		l.exprs([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.StringConcatOpExpr:
		l.exprs([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.ArithmeticOpExpr:
		l.exprs([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.UnaryMinusOpExpr:
		l.expr(e.Expr)
	case *ast.UnaryNotOpExpr:
		l.expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		l.expr(e.Expr)
	}
}

// use notes a name that is no local.
func (l *linter) use(e *ast.IdentExpr, field string) {
	if !l.scope.has(e.Value) {
		l.reads = append(l.reads, read{l.name, e.Line(), e.Value, field, l.scope})
	}
}
