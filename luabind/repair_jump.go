package luabind

import (
	"fmt"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// The compiler gives a goto an instruction that closes captured locals from register 0 on, so also those of outer blocks that
// are still in use; and it gives a break none for the inner blocks that it leaves. Here scopes are followed as the compiler
// follows them, a break out of captured locals becomes a goto, and each goto learns the register to close from. A goto carries
// its number in place of its line through the compiler, to be found again in the bytecode.

// jumpLine is the first line number that stands for a goto.
const jumpLine = 1 << 30

// jumps follows the scopes of the function that is being repaired.
type jumps struct {
	scope  *scope // innermost
	jumps  []*jump
	breaks int // labels made for breaks
}

// scope is one block of a function.
type scope struct {
	parent   *scope // nil for the main chunk
	function bool   // the outermost of its function
	loop     bool
	until    bool // a condition follows that sees the locals
	names    []string
	base     int // registers taken when it was entered
	captured bool
	labels   map[string]*label
	breaker  string // the label that breaks of this loop go to, once there is one
}

type label struct {
	active   int  // registers taken where it stands
	trailing bool // nothing follows it in its block
}

type jump struct {
	stmt  *ast.GotoStmt
	line  int
	from  []scopeAt // from the innermost scope to the function's outermost
	close int       // the register to close from
}

type scopeAt struct {
	scope  *scope
	active int
}

func (s *scope) active() int { return s.base + len(s.names) }

func (j *jumps) push(s *scope) *scope {
	s.parent = j.scope
	if s.parent != nil && !s.function {
		s.base = s.parent.active()
	}
	j.scope = s
	return s
}

func (j *jumps) pop() { j.scope = j.scope.parent }

func (j *jumps) declare(names ...string) { j.scope.names = append(j.scope.names, names...) }

// use marks the scope of a name that a function takes from outside of itself.
func (j *jumps) use(name string) {
	outside := false
	for s := j.scope; s != nil; s = s.parent {
		if slices.Contains(s.names, name) {
			s.captured = s.captured || outside
			return
		}
		outside = outside || s.function
	}
}

func (j *jumps) label(s *ast.LabelStmt) {
	if j.scope.labels == nil {
		j.scope.labels = map[string]*label{}
	}
	if j.scope.labels[s.Name] != nil {
		panic(&repairError{s.Line(), fmt.Sprintf("label %q stands twice in this block", s.Name)})
	}
	j.scope.labels[s.Name] = &label{active: j.scope.active()}
}

func (j *jumps) goes(s *ast.GotoStmt) {
	g := &jump{stmt: s, line: s.Line()}
	for at := j.scope; at != nil; at = at.parent {
		g.from = append(g.from, scopeAt{at, at.active()})
		if at.function {
			break
		}
	}
	s.SetLine(jumpLine + len(j.jumps))
	j.jumps = append(j.jumps, g)
}

// resolve finds the labels of a function's gotos, from the n-th on.
func (j *jumps) resolve(n int, function *scope) {
	for _, g := range j.jumps[n:] {
		if g.from[len(g.from)-1].scope == function {
			g.resolve()
		}
	}
}

func (g *jump) resolve() {
	for _, from := range g.from {
		l := from.scope.labels[g.stmt.Label]
		if l == nil {
			continue
		}
		if l.active > from.active && !l.trailing {
			panic(&repairError{g.line, fmt.Sprintf("goto %s jumps into the scope of a local; declare the local before the goto", g.stmt.Label)})
		}
		g.close = min(l.active, from.active)
		return
	}
	panic(&repairError{g.line, fmt.Sprintf("goto %s: there is no such label around it", g.stmt.Label)})
}

// patch gives each goto in the bytecode its line and the register it closes from.
func (j *jumps) patch(proto *lua.FunctionProto) {
	for pc, line := range proto.DbgSourcePositions {
		if line < jumpLine {
			continue
		}
		g := j.jumps[line-jumpLine]
		proto.DbgSourcePositions[pc] = g.line
		if int(proto.Code[pc]>>26) == lua.OP_CLOSE {
			proto.Code[pc] = proto.Code[pc]&^(0xff<<18) | uint32(g.close)<<18
		}
	}
	for _, child := range proto.FunctionPrototypes {
		j.patch(child)
	}
}

// function repairs a function's body; params is nil for the main chunk.
func (r *repair) function(params *ast.ParList, body []ast.Stmt, self ...string) []ast.Stmt {
	s := r.jumps.push(&scope{function: true})
	defer r.jumps.pop()
	r.jumps.declare(self...)
	if params != nil {
		r.jumps.declare(params.Names...)
		if params.HasVargs && lua.CompatVarArg {
			r.jumps.declare("arg")
		}
	}
	first := len(r.jumps.jumps)
	body = r.body(body)
	r.jumps.resolve(first, s)
	return body
}

// scope repairs a block.
func (r *repair) scope(body []ast.Stmt) []ast.Stmt {
	r.jumps.push(&scope{})
	defer r.jumps.pop()
	return r.body(body)
}

// body repairs the statements of the scope that was just entered, and notes which of its labels end it.
func (r *repair) body(body []ast.Stmt) []ast.Stmt {
	out := r.block(body)
	for i := len(out) - 1; i >= 0 && !r.jumps.scope.until; i-- {
		l, ok := out[i].(*ast.LabelStmt)
		if !ok {
			break
		}
		r.jumps.scope.labels[l.Name].trailing = true
	}
	return out
}

// breaks returns what takes the place of a break.
func (r *repair) breaks(s *ast.BreakStmt) []ast.Stmt {
	captured := false
	for at := r.jumps.scope; at != nil && !at.function; at = at.parent {
		if at.loop && !captured {
			return []ast.Stmt{step(s), s}
		}
		if at.loop {
			return []ast.Stmt{r.leap(at, s)}
		}
		captured = captured || at.captured
	}
	panic(&repairError{s.Line(), "break outside of a loop"})
}

// leap is a goto out of a loop.
func (r *repair) leap(loop *scope, s *ast.BreakStmt) ast.Stmt {
	if loop.breaker == "" {
		r.jumps.breaks++
		loop.breaker = fmt.Sprintf("(break %d)", r.jumps.breaks)
	}
	leap := at(&ast.GotoStmt{Label: loop.breaker}, s)
	r.jumps.goes(leap)
	return leap
}
