package luabind

import (
	"fmt"

	"github.com/yuin/gopher-lua/ast"
)

// maxConcat is how many values one call of concat takes: each needs a register of the function.
const maxConcat = 50

// concat turns a chain of .. into calls of concatFunction, whose mark patchMarks replaces.
func (r *repair) concat(e *ast.StringConcatOpExpr) ast.Expr {
	parts := []ast.Expr{e.Lhs}
	rest := e.Rhs
	for {
		next, ok := rest.(*ast.StringConcatOpExpr)
		if !ok {
			break
		}
		parts = append(parts, next.Lhs)
		rest = next.Rhs
	}
	parts = append(parts, rest)
	if len(parts) > maxNesting {
		panic(&repairError{e.Line(), fmt.Sprintf("more than %d values in one chain of .. ; use table.concat", maxNesting)})
	}
	r.exprs(parts)
	for len(parts) > maxConcat {
		from := len(parts) - maxConcat
		parts = append(parts[:from:from], concatCall(e, parts[from:]))
	}
	return concatCall(e, parts)
}

func concatCall(like ast.Expr, parts []ast.Expr) ast.Expr {
	return at(&ast.FuncCallExpr{Func: markOf(concatMark, like), Args: parts, AdjustRet: true}, like)
}
