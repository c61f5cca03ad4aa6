package scheduler

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// Inside miniredis the scripts run on gopher-lua 1.1.2, which miscompiles "x = a and b" when x is an existing local (its issue 490) and a
// while with a literal nil. Such shapes must not appear in them.
func TestScriptsAvoidMiscompiledShapes(t *testing.T) {
	t.Parallel()
	for _, s := range scripts {
		for _, fault := range miscompiled(t, s.name, s.source) {
			t.Error(fault)
		}
	}
	for source, bad := range map[string]bool{
		"local x = 1 and 2":                                     false,
		"local x\nx = (1 and 2) + 1":                            false,
		"t.x = a and b":                                         false,
		"local x\nx = a and b":                                  true,
		"local x\nx = a or b":                                   true,
		"local x\nx = not a":                                    true,
		"local function f(x) x, y = 1, a and b end":             true,
		"for i = 1, 2 do local x if a then x = a and b end end": true,
		"while nil do end":                                      true,
		"while a and nil do end":                                true,
		"repeat until nil":                                      true,
		"f(function() x = a or b end)":                          true,
	} {
		if got := len(miscompiled(t, "sample", source)) > 0; got != bad {
			t.Errorf("%q: found %v", source, got)
		}
	}
}

func TestEveryScriptHasAHeader(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(scriptFiles, "scripts", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text := mustRead(name)
		if !strings.HasPrefix(text, "-- ") {
			t.Errorf("%s does not say what it is for", name)
		}
		if path.Dir(name) != "scripts" {
			return nil
		}
		for _, want := range []string{"\n-- KEYS ", "\n-- ARGV ", "\n-- Returns "} {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no line %q", name, strings.TrimSpace(want))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// miscompiled finds the shapes in a script's syntax tree.
func miscompiled(t *testing.T, name, source string) []string {
	t.Helper()
	chunk, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		t.Fatal(err)
	}
	f := &shapeFinder{name: name}
	f.block(chunk)
	return f.found
}

type shapeFinder struct {
	name  string
	found []string
}

func (f *shapeFinder) report(line int, what string) {
	f.found = append(f.found, fmt.Sprintf("%s:%d: %s", f.name, line, what))
}

func (f *shapeFinder) block(list []ast.Stmt) {
	for _, s := range list {
		f.stmt(s)
	}
}

func (f *shapeFinder) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		for _, to := range s.Lhs {
			if _, local := to.(*ast.IdentExpr); !local {
				continue
			}
			for _, from := range s.Rhs {
				switch from.(type) {
				case *ast.LogicalOpExpr, *ast.UnaryNotOpExpr:
					f.report(s.Line(), "assigns a logical expression to a variable")
				}
			}
		}
		f.exprs(s.Rhs)
	case *ast.LocalAssignStmt:
		f.exprs(s.Exprs)
	case *ast.FuncCallStmt:
		f.expr(s.Expr)
	case *ast.DoBlockStmt:
		f.block(s.Stmts)
	case *ast.WhileStmt:
		f.condition(s.Line(), s.Condition)
		f.block(s.Stmts)
	case *ast.RepeatStmt:
		f.condition(s.Line(), s.Condition)
		f.block(s.Stmts)
	case *ast.IfStmt:
		f.condition(s.Line(), s.Condition)
		f.block(s.Then)
		f.block(s.Else)
	case *ast.NumberForStmt:
		f.block(s.Stmts)
	case *ast.GenericForStmt:
		f.exprs(s.Exprs)
		f.block(s.Stmts)
	case *ast.FuncDefStmt:
		f.block(s.Func.Stmts)
	case *ast.ReturnStmt:
		f.exprs(s.Exprs)
	}
}

// condition finds a literal nil that a condition hangs on; comparing with nil is harmless.
func (f *shapeFinder) condition(line int, e ast.Expr) {
	switch e := e.(type) {
	case *ast.NilExpr:
		f.report(line, "has a literal nil as condition")
	case *ast.LogicalOpExpr:
		f.condition(line, e.Lhs)
		f.condition(line, e.Rhs)
	case *ast.UnaryNotOpExpr:
		f.condition(line, e.Expr)
	default:
		f.expr(e)
	}
}

func (f *shapeFinder) exprs(list []ast.Expr) {
	for _, e := range list {
		f.expr(e)
	}
}

// expr looks for functions inside an expression.
func (f *shapeFinder) expr(e ast.Expr) {
	switch e := e.(type) {
	case *ast.FunctionExpr:
		f.block(e.Stmts)
	case *ast.FuncCallExpr:
		f.exprs(e.Args)
	case *ast.LogicalOpExpr:
		f.expr(e.Lhs)
		f.expr(e.Rhs)
	}
}
