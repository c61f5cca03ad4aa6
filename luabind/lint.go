package luabind

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"luacrawl/engine"
)

// linter looks through the files of a spider without running them. It reports only what is wrong for certain: names that no file
// defines, and callbacks that are written out and are no functions.
type linter struct {
	*check
	globals   map[string]bool            // that scripts have, or that the spider's files have set when they ran
	libraries map[string]map[string]bool // the fields of globals that are tables
	assigned  map[string]bool            // global names that a file sets
	reads     []read

	// Of the file that is walked.
	name   string
	isMain bool
	self   string // the local or global that the main file returns as its spider
	scope  *visible
}

// read is a use of a global.
type read struct {
	file  string
	line  int
	name  string
	field string // of a library, "" when it is not one
	scope *visible
}

// visible are the locals of a block, and of those around it.
type visible struct {
	names map[string]bool
	outer *visible
}

func (s *visible) has(name string) bool {
	for ; s != nil; s = s.outer {
		if s.names[name] {
			return true
		}
	}
	return false
}

// all are the names that can be seen there.
func (s *visible) all() (names []string) {
	for ; s != nil; s = s.outer {
		names = slices.AppendSeq(names, maps.Keys(s.names))
	}
	return names
}

func newLinter(c *check) *linter {
	l := &linter{check: c, globals: map[string]bool{}, libraries: map[string]map[string]bool{}, assigned: map[string]bool{}}
	v := newVM(nil, nil)
	defer v.close()
	for name, value := range named(v.L.G.Global) {
		l.globals[name] = true
		if t, ok := value.(*lua.LTable); ok && name != "_G" {
			l.libraries[name] = map[string]bool{}
			for field := range named(t) {
				l.libraries[name][field] = true
			}
		}
	}
	if c.vm != nil {
		for name := range named(c.vm.L.G.Global) {
			l.globals[name] = true
		}
		if c.vm.spider.RawGetString("items") != lua.LNil {
			l.globals["items"] = true // even when its declarations are wrong
		}
	}
	return l
}

// file walks one file. It compiles, so that its nesting is bounded.
func (l *linter) file(name string, text []byte, isMain bool) {
	chunk, err := parseSource(name, text)
	if err != nil {
		return // load has said it
	}
	l.name, l.isMain, l.self, l.scope = name, isMain, "", nil
	if isMain && len(chunk) > 0 {
		l.returned(chunk[len(chunk)-1])
	}
	l.block(chunk)
}

// returned looks what the main file returns: its spider, by name or as it stands.
func (l *linter) returned(last ast.Stmt) {
	ret, ok := last.(*ast.ReturnStmt)
	if !ok || len(ret.Exprs) != 1 {
		return
	}
	switch e := ret.Exprs[0].(type) {
	case *ast.IdentExpr:
		l.self = e.Value
	case *ast.TableExpr:
		l.place("", e)
	}
}

// place notes where the fields of the spider's table, or of one in it, are set.
func (l *linter) place(prefix string, t *ast.TableExpr) {
	for _, f := range t.Fields {
		key, ok := f.Key.(*ast.StringExpr)
		if !ok {
			continue
		}
		l.table[prefix+key.Value] = key.Line()
		if inner, ok := f.Value.(*ast.TableExpr); ok && prefix == "" {
			l.place(key.Value+".", inner)
		}
	}
}

// placed notes an assignment to the spider or to a field of it.
func (l *linter) placed(target, value ast.Expr) {
	name, line, ok := l.fieldOfSpider(target)
	if !ok {
		return
	}
	if t, isTable := value.(*ast.TableExpr); isTable {
		prefix := ""
		if name != "" {
			prefix = name + "."
		}
		l.place(prefix, t)
	}
	if name != "" {
		l.table[name] = line
	}
}

// fieldOfSpider reads an expression such as spider, spider.settings or spider.settings.lease.
func (l *linter) fieldOfSpider(e ast.Expr) (name string, line int, ok bool) {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return "", e.Line(), l.isMain && e.Value == l.self && l.self != ""
	case *ast.AttrGetExpr:
		key, isName := e.Key.(*ast.StringExpr)
		outer, _, of := l.fieldOfSpider(e.Object)
		if !isName || !of {
			return "", 0, false
		}
		return strings.TrimPrefix(outer+"."+key.Value, "."), key.Line(), true
	}
	return "", 0, false
}

// finish reports the globals that nothing defines, now that all files are known.
func (l *linter) finish() {
	for _, r := range l.reads {
		known := l.globals[r.name] || l.assigned[r.name]
		fields, isLibrary := l.libraries[r.name]
		switch {
		case !known:
			l.add(r.file, r.line, KindGlobal, l.undefined(r))
		case r.field != "" && isLibrary && !l.assigned[r.name] && !l.assigned[r.name+"."+r.field] && !fields[r.field]:
			l.add(r.file, r.line, KindGlobal, undefinedField(r, fields))
		}
	}
}

// absentNames are globals of standard Lua that scripts do not have.
var absentNames = []string{"collectgarbage", "debug", "dofile", "gcinfo", "getfenv", "io", "load", "loadfile", "loadstring", "module", "newproxy", "package", "setfenv"}

func (l *linter) undefined(r read) string {
	if slices.Contains(absentNames, r.name) {
		return fmt.Sprintf("undefined global %q: spiders do not have this part of Lua, nor another way to files, processes and the compiler", r.name)
	}
	known := slices.Concat(slices.Sorted(maps.Keys(l.globals)), slices.Sorted(maps.Keys(l.assigned)), r.scope.all())
	known = slices.DeleteFunc(known, func(name string) bool { return name == r.name }) // a local further down
	if near := engine.Nearest(r.name, known); near != "" {
		return fmt.Sprintf("undefined global %q; did you mean %q?", r.name, near)
	}
	if _, builtin := modules[r.name]; builtin {
		return fmt.Sprintf("undefined global %q; it is a module: local %s = require %q", r.name, r.name, r.name)
	}
	return fmt.Sprintf("undefined global %q; nothing sets it, here or in the modules that are required", r.name)
}

func undefinedField(r read, fields map[string]bool) string {
	known := slices.Sorted(maps.Keys(fields))
	if near := engine.Nearest(r.field, known); near != "" {
		return fmt.Sprintf("undefined function %s.%s; did you mean %q?", r.name, r.field, r.name+"."+near)
	}
	return fmt.Sprintf("undefined function %s.%s; spiders have %s", r.name, r.field, strings.Join(known, ", "))
}
