package luabind

import (
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
	v.openIpairs()
	v.openTable()
	v.openMath()
	v.openString()
	v.openCoroutine()
	v.L.SetFuncs(v.L.G.Global, map[string]lua.LGFunction{
		"tostring": v.tostring, "tonumber": tonumber, "setmetatable": setMetatable, "unpack": unpack, "error": raise,
		"pcall": v.pcall, "xpcall": v.xpcall, "require": v.require, "print": v.print,
		"request": v.request, "emit": v.emit, "drop": v.drop, "every": v.every, "unavailable": v.unavailable, "retry": v.retry,
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

func (v *vm) openOS() {
	lib := v.library(lua.OpenOs, lua.OsLibName)
	keep(lib, osNames)
	date := goFunction(lib, "date")
	lib.RawSetString("date", v.L.NewFunction(func(L *lua.LState) int {
		if n := len(L.OptString(1, "")); n > maxDateFormat {
			L.RaiseError("os.date: a format of %d bytes, more than %d", n, maxDateFormat)
		}
		return date(L)
	}))
}

// maxDateFormat is the longest format of os.date: each of its directives may become twenty bytes.
const maxDateFormat = 1024

func (v *vm) print(L *lua.LState) int {
	var line []byte
	for i := 1; i <= L.GetTop() && len(line) < maxLogText; i++ {
		if i > 1 {
			line = append(line, '\t')
		}
		line = append(line, clipLog(v.tostringValue(L, L.Get(i)))...)
	}
	v.logAt(L, levels["info"], string(line), nil)
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
