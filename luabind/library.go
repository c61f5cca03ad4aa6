package luabind

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// What of Lua's own libraries scripts have. Left out is what reaches files, the process, the compiler or other states.
var (
	baseNames = []string{"_G", "_VERSION", "assert", "error", "getmetatable", "ipairs", "next", "pairs", "pcall", "print", "rawequal",
		"rawget", "rawset", "require", "select", "setmetatable", "tonumber", "tostring", "type", "unpack", "xpcall"}
	osNames = []string{"clock", "date", "difftime", "time"}
)

func (v *vm) openLibraries() {
	v.library(lua.OpenBase, lua.BaseLibName)
	v.openOS()
	keep(v.L.G.Global, append(baseNames, "os"))
	v.library(lua.OpenTable, lua.TabLibName)
	v.library(lua.OpenMath, lua.MathLibName)
	v.openString()
	v.openCoroutine()
	v.L.SetFuncs(v.L.G.Global, map[string]lua.LGFunction{
		"pcall": v.pcall, "xpcall": v.xpcall, "require": v.require, "print": v.print,
		"request": v.request, "emit": v.emit, "drop": v.drop,
	})
	v.openLog()
}

// library opens one of gopher-lua's libraries and returns its table.
func (v *vm) library(open lua.LGFunction, name string) *lua.LTable {
	v.L.Push(v.L.NewFunction(open))
	v.L.Push(lua.LString(name))
	v.L.Call(1, 0)
	if name == lua.BaseLibName {
		return v.L.G.Global
	}
	return v.L.GetGlobal(name).(*lua.LTable)
}

func (v *vm) openOS() { keep(v.library(lua.OpenOs, lua.OsLibName), osNames) }

// openString gives strings a metatable that scripts can neither see nor change.
func (v *vm) openString() {
	lib := v.library(lua.OpenString, lua.StringLibName)
	lib.RawSetString("dump", lua.LNil)
	lib.RawSetString("__index", lua.LNil)
	rep := goFunction(lib, "rep")
	v.L.SetFuncs(lib, map[string]lua.LGFunction{"rep": func(L *lua.LState) int { return v.rep(L, rep) }})
	methods := v.L.CreateTable(0, 16)
	lib.ForEach(methods.RawSet)
	v.L.SetMetatable(lua.LString(""), protected("string", map[string]lua.LValue{"__index": methods}))
}

// rep is string.rep within the memory of a callback.
func (v *vm) rep(L *lua.LState, rep lua.LGFunction) int {
	size, limit := float64(len(L.CheckString(1)))*float64(L.CheckNumber(2)), v.memory()
	if size > float64(limit) {
		L.RaiseError("string.rep would make %.0f bytes, more than the %d of setting callback_memory", size, limit)
	}
	return rep(L)
}

// defaultMemory is the memory of a callback in bytes when Options does not say.
const defaultMemory = 64 << 20

func (v *vm) memory() int64 {
	if v.gen != nil && v.gen.options.Memory > 0 {
		return v.gen.options.Memory
	}
	return defaultMemory
}

func (v *vm) print(L *lua.LState) int {
	var parts []string
	for i := 1; i <= L.GetTop(); i++ {
		parts = append(parts, L.ToStringMeta(L.Get(i)).String())
	}
	v.logAt(L, levels["info"], strings.Join(parts, "\t"), nil)
	return 0
}

func goFunction(lib *lua.LTable, name string) lua.LGFunction {
	return lib.RawGetString(name).(*lua.LFunction).GFunction
}

// keep takes all but the named fields out of a table.
func keep(t *lua.LTable, names []string) {
	kept := map[string]bool{}
	for _, n := range names {
		kept[n] = true
	}
	var others []lua.LValue
	t.ForEach(func(k, _ lua.LValue) {
		if s, ok := k.(lua.LString); !ok || !kept[string(s)] {
			others = append(others, k)
		}
	})
	for _, k := range others {
		t.RawSet(k, lua.LNil)
	}
}
