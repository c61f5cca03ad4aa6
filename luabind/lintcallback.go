package luabind

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// call looks at the callbacks that a call names in so many words: request { callback = "x" }, response:follow(href, "x"),
// response:follow_all(links, "x"), request:replace { errback = "x" }.
func (l *linter) call(e *ast.FuncCallExpr) {
	function, isName := e.Func.(*ast.IdentExpr)
	switch {
	case isName && function.Value == "request" && !l.scope.has("request") && len(e.Args) == 1:
		l.options(e.Args[0])
	case e.Method == "replace" && len(e.Args) == 1:
		l.options(e.Args[0])
	case (e.Method == "follow" || e.Method == "follow_all") && len(e.Args) == 2:
		l.callback("callback", e.Args[1])
		l.options(e.Args[1])
	}
}

// options looks at a table of a request's options.
func (l *linter) options(e ast.Expr) {
	t, ok := e.(*ast.TableExpr)
	if !ok {
		return
	}
	for _, f := range t.Fields {
		if key, ok := f.Key.(*ast.StringExpr); ok && (key.Value == "callback" || key.Value == "errback") {
			l.callback(key.Value, f.Value)
		}
	}
}

// callback checks a name that is written out. Without a spider that has run it cannot tell.
func (l *linter) callback(kind string, e ast.Expr) {
	name, ok := e.(*ast.StringExpr)
	if !ok || l.vm == nil {
		return
	}
	functions := &definition{functions: map[string]bool{}}
	for field, value := range named(l.vm.spider) {
		if _, isFunction := value.(*lua.LFunction); isFunction {
			functions.functions[field] = true
		}
	}
	if !functions.isCallback(name.Value) {
		l.add(l.name, name.Line(), KindCallback, fmt.Sprintf("%s %q is no function of the spider%s", kind, name.Value, functions.didYouMean(name.Value)))
	}
}
