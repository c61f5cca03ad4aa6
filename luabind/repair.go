package luabind

import (
	"fmt"

	"github.com/yuin/gopher-lua/ast"

	lua "github.com/yuin/gopher-lua"
)

// maxNesting bounds how deep expressions and blocks may nest: the compiler recurses along them, and folds constants in
// quadratic time.
const maxNesting = 1000

// maxPositional is how many positional values one table constructor may have: beyond it gopher-lua writes them to wrong places.
const maxPositional = 25000

// repair rewrites what the compiler of gopher-lua 1.1.2 gets wrong, before it sees it:
//
//   - x = a and b, where x is a local: x keeps its old value when a is false (upstream issue 490). repair_assign.go
//   - x = (f(x)), where x is the last parameter: f is loaded over x and its arguments over later locals. repair_assign.go
//   - several targets in one assignment: values are stored before the others are read. repair_assign.go
//   - local f = function() ... f() end: f is seen as the local, as in local function f. repair_assign.go
//   - a jump back to a jump (a loop that starts with a constant condition or a break): the second is read twice. repair_fold.go
//   - break and goto leave captured locals of inner blocks open, or close those of outer ones. repair_jump.go
//   - return coroutine.yield(x): the coroutine cannot go on. repair_mark.go
//   - for i = "1", "3": a string that is a number must be one before the loop. repair_loop.go
//   - a .. b has no bound: it becomes the call of a function that has. repair_concat.go
//   - t[#t+1] = v overwrites a value where the table's array part is full: it raises there. length.go
//
// luabind's differential test compares the outcome with PUC Lua 5.1.
type repair struct {
	depth    int
	jumps    jumps
	requires []string // names of require "name"
}

// repairError is source that cannot be compiled right, with its line.
type repairError struct {
	line    int
	message string
}

func (r *repair) chunk(chunk []ast.Stmt) []ast.Stmt {
	return r.function(nil, chunk)
}

func (r *repair) enter(at ast.PositionHolder) {
	r.depth++
	if r.depth > maxNesting {
		panic(&repairError{at.Line(), fmt.Sprintf("more than %d expressions or blocks inside each other; split them", maxNesting)})
	}
}

func (r *repair) leave() { r.depth-- }

func (r *repair) block(stmts []ast.Stmt) []ast.Stmt {
	out := make([]ast.Stmt, 0, len(stmts))
	for _, s := range stmts {
		out = append(out, r.stmt(s)...)
	}
	return out
}

// stmt returns what takes the place of s.
func (r *repair) stmt(s ast.Stmt) []ast.Stmt {
	r.enter(s)
	defer r.leave()
	switch s := s.(type) {
	case *ast.AssignStmt:
		r.exprs(s.Lhs)
		r.exprs(s.Rhs)
		return []ast.Stmt{appending(s)}
	case *ast.LocalAssignStmt:
		return append([]ast.Stmt{r.local(s)}, measuring(s)...)
	case *ast.FuncCallStmt:
		s.Expr = r.expr(s.Expr)
	case *ast.ReturnStmt:
		r.returns(s)
	case *ast.FuncDefStmt:
		r.define(s)
	case *ast.DoBlockStmt:
		s.Stmts = r.scope(s.Stmts)
	case *ast.IfStmt:
		return r.ifs(s)
	case *ast.WhileStmt, *ast.RepeatStmt, *ast.NumberForStmt, *ast.GenericForStmt:
		return r.loop(s)
	case *ast.BreakStmt:
		return r.breaks(s)
	case *ast.GotoStmt:
		r.jumps.goes(s)
	case *ast.LabelStmt:
		r.jumps.label(s)
	}
	return []ast.Stmt{s}
}

// define repairs a function statement; a method has a hidden first parameter.
func (r *repair) define(s *ast.FuncDefStmt) {
	if s.Name.Func == nil {
		s.Name.Receiver = r.expr(s.Name.Receiver)
		s.Func.Stmts = r.function(s.Func.ParList, s.Func.Stmts, "self")
		return
	}
	s.Name.Func = r.expr(s.Name.Func)
	r.expr(s.Func)
}

func (r *repair) exprs(list []ast.Expr) {
	for i, e := range list {
		list[i] = r.expr(e)
	}
}

// expr returns what takes the place of e.
func (r *repair) expr(e ast.Expr) ast.Expr {
	if e == nil {
		return nil
	}
	r.enter(e)
	defer r.leave()
	switch e := e.(type) {
	case *ast.IdentExpr:
		r.jumps.use(e.Value)
	case *ast.AttrGetExpr:
		e.Object, e.Key = r.expr(e.Object), r.expr(e.Key)
	case *ast.TableExpr:
		r.table(e)
	case *ast.FuncCallExpr:
		r.noteRequire(e)
		e.Func, e.Receiver = r.expr(e.Func), r.expr(e.Receiver)
		r.exprs(e.Args)
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = r.expr(e.Lhs), r.expr(e.Rhs)
		return foldLogical(e)
	case *ast.RelationalOpExpr:
		e.Lhs, e.Rhs = r.expr(e.Lhs), r.expr(e.Rhs)
	case *ast.StringConcatOpExpr:
		return r.concat(e)
	case *ast.ArithmeticOpExpr:
		e.Lhs, e.Rhs = r.expr(e.Lhs), r.expr(e.Rhs)
	case *ast.UnaryMinusOpExpr:
		e.Expr = r.expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		e.Expr = r.expr(e.Expr)
	case *ast.UnaryNotOpExpr:
		e.Expr = r.expr(e.Expr)
		return foldNot(e)
	case *ast.FunctionExpr:
		e.Stmts = r.function(e.ParList, e.Stmts)
	}
	return e
}

func (r *repair) noteRequire(e *ast.FuncCallExpr) {
	fn, ok := e.Func.(*ast.IdentExpr)
	if !ok || fn.Value != "require" || len(e.Args) != 1 {
		return
	}
	if name, ok := e.Args[0].(*ast.StringExpr); ok {
		r.requires = append(r.requires, name.Value)
	}
}

func (r *repair) table(e *ast.TableExpr) {
	positional := 0
	for _, f := range e.Fields {
		if f.Key == nil {
			positional++
		}
		f.Key, f.Value = r.expr(f.Key), r.expr(f.Value)
	}
	if positional > maxPositional {
		panic(&repairError{e.Line(), fmt.Sprintf("a table with more than %d values; keep data outside of Lua files", maxPositional)})
	}
}

// at gives a new node the lines of an old one.
func at[N ast.PositionHolder](n N, like ast.PositionHolder) N {
	n.SetLine(like.Line())
	n.SetLastLine(max(like.Line(), like.LastLine()))
	return n
}

// patch sets in the bytecode what the AST cannot say.
func (r *repair) patch(proto *lua.FunctionProto) {
	r.jumps.patch(proto)
	patchMarks(proto)
}
