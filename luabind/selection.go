package luabind

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
)

// newSelection makes the userdata of a selection.
func (v *vm) newSelection(s *engine.Selection) *lua.LUserData {
	return &lua.LUserData{Value: s, Metatable: v.metatable("luacrawl.selection", v.selectionMetatable)}
}

// selectionMetatable has methods only, so that looking one up calls nothing.
func (v *vm) selectionMetatable() *lua.LTable {
	functions := map[string]lua.LGFunction{
		"css":    v.selectionCSS,
		"get":    selectionGet,
		"getall": selectionGetAll,
		"text":   selectionText,
		"attr":   selectionAttr,
		"each":   v.selectionEach,
	}
	methods := v.L.SetFuncs(v.L.NewTable(), functions)
	var known []string
	for name := range functions {
		known = append(known, name)
	}
	methods.Metatable = protected("selection methods", map[string]lua.LValue{
		"__index": v.L.NewFunction(func(L *lua.LState) int {
			key := lua.LVAsString(L.Get(2))
			raiseUnknown(L, fmt.Sprintf("a selection has no %q", key), key, known)
			return 0
		}),
	})
	return protected("selection", map[string]lua.LValue{
		"__index":    methods,
		"__newindex": v.L.NewFunction(readOnly("selection")),
		"__len":      v.L.NewFunction(selectionLen),
		"__tostring": v.L.NewFunction(selectionString),
	})
}

// checkSelection is the selection that a method was called on, of a living response.
func checkSelection(L *lua.LState) *engine.Selection {
	s, ok := asSelection(L, L.Get(1))
	if !ok {
		L.RaiseError("a selection's methods are called with a colon, as in selection:get()")
	}
	return s
}

// asSelection is a selection, if the value is one. It raises for one of a page that is gone.
func asSelection(L *lua.LState, lv lua.LValue) (*engine.Selection, bool) {
	ud, ok := lv.(*lua.LUserData)
	if !ok {
		return nil, false
	}
	s, ok := ud.Value.(*engine.Selection)
	if ok && s.Page().Released() {
		L.RaiseError(usedTooLate)
	}
	return s, ok
}

// checkSelector compiles the n-th argument.
func checkSelector(L *lua.LState, n int, method string) *engine.Selector {
	css, ok := L.Get(n).(lua.LString)
	if !ok {
		L.RaiseError("%s needs a CSS selector as a string, got %s", method, L.Get(n).Type())
	}
	sel, err := engine.CompileSelector(string(css))
	if err != nil {
		L.RaiseError("%s", err)
	}
	return sel
}

// css is selection:css(selector): the matches below the selection's elements.
func (v *vm) selectionCSS(L *lua.LState) int {
	s := checkSelection(L)
	L.Push(v.newSelection(s.Select(checkSelector(L, 2, "css"))))
	return 1
}

// get is selection:get([default]): the first match as a string or as HTML, else default, else nil.
func selectionGet(L *lua.LState) int {
	s := checkSelection(L)
	if value, ok := s.Get(); ok {
		L.Push(lua.LString(value))
	} else {
		L.Push(L.Get(2))
	}
	return 1
}

// getall is selection:getall(): get of each match, as a list.
func selectionGetAll(L *lua.LState) int {
	L.Push(newStringList(L, checkSelection(L).GetAll()))
	return 1
}

// text is selection:text(): the text of the first match, else "".
func selectionText(L *lua.LState) int {
	L.Push(lua.LString(checkSelection(L).Text()))
	return 1
}

// attr is selection:attr(name): an attribute of the first match, else nil.
func selectionAttr(L *lua.LState) int {
	s := checkSelection(L)
	name, ok := L.Get(2).(lua.LString)
	if !ok {
		L.RaiseError("attr needs the name of an attribute, got %s", L.Get(2).Type())
	}
	if value, ok := s.Attr(string(name)); ok {
		L.Push(lua.LString(value))
	} else {
		L.Push(lua.LNil)
	}
	return 1
}

// each is selection:each(): an iterator over the matches, each as a selection of one.
func (v *vm) selectionEach(L *lua.LState) int {
	s, i := checkSelection(L), 0
	L.Push(L.NewFunction(func(L *lua.LState) int {
		if s.Page().Released() {
			L.RaiseError(usedTooLate)
		}
		if i >= s.Len() {
			L.Push(lua.LNil)
			return 1
		}
		L.Push(v.newSelection(s.At(i)))
		i++
		return 1
	}))
	return 1
}

func selectionLen(L *lua.LState) int {
	L.Push(lua.LNumber(checkSelection(L).Len()))
	return 1
}

func selectionString(L *lua.LState) int {
	L.Push(lua.LString(fmt.Sprintf("<selection of %d>", checkSelection(L).Len())))
	return 1
}
