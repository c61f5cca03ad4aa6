package luabind

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

var moduleName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// modulePath is the file of a module, below the spider's folder.
func modulePath(folder, name string) (string, error) {
	if !moduleName.MatchString(name) {
		return "", fmt.Errorf("require: %q is not the name of a module; use the file's name without .lua, with dots for folders (require %q for parsers/price.lua)", name, "parsers.price")
	}
	return path.Join(folder, strings.ReplaceAll(name, ".", "/")+".lua"), nil
}

// require returns a built-in module, or a file of the spider's folder that is run once in each VM.
func (v *vm) require(L *lua.LState) int {
	name := L.CheckString(1)
	if value, ok := v.loaded[name]; ok {
		L.Push(value)
		return 1
	}
	var value lua.LValue
	if build, ok := modules[name]; ok {
		value = build(v)
	} else {
		value = v.requireFile(L, name)
	}
	v.loaded[name] = value
	L.Push(value)
	return 1
}

func (v *vm) requireFile(L *lua.LState, name string) lua.LValue {
	if i := slices.Index(v.loading, name); i >= 0 {
		chain := strings.Join(append(slices.Clone(v.loading[i:]), name), " -> ")
		L.RaiseError("require: module %q requires itself: %s; move what both need into a third file", name, chain)
	}
	proto, err := v.gen.module(name)
	if err != nil {
		L.RaiseError("%s", err)
	}
	v.loading = append(v.loading, name)
	L.Push(L.NewFunctionFromProto(proto))
	L.Push(lua.LString(name))
	err = v.protect(L, 1, 1)
	v.loading = v.loading[:len(v.loading)-1]
	if err != nil {
		L.Error(v.raise(err), 0)
	}
	value := L.Get(-1)
	L.Pop(1)
	if value == lua.LNil {
		value = lua.LTrue // as in Lua: the module has run
	}
	return value
}

// raise is the error value of a protected call, to be raised again.
func (v *vm) raise(err error) lua.LValue {
	if raised, ok := err.(*lua.ApiError); ok && raised.Type != lua.ApiErrorPanic {
		return raised.Object
	}
	v.broken = true
	panic(err)
}
