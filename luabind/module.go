package luabind

import (
	lua "github.com/yuin/gopher-lua"
)

// module makes what require(name) returns, once a VM.
type module func(v *vm) lua.LValue

// modules are the built-in modules by name, one file each.
var modules = map[string]module{}
