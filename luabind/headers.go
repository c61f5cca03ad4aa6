package luabind

import (
	"net/http"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// newHeaders makes the table of a response's headers: names in lower case, each with its first value. Reading it does not
// mind the case, and headers:getall(name) gives a list of all values. A missing header is nil.
func newHeaders(L *lua.LState, header http.Header) *lua.LTable {
	t := L.CreateTable(0, len(header))
	for name, values := range header {
		if len(values) > 0 {
			t.RawSetString(strings.ToLower(name), lua.LString(values[0]))
		}
	}
	getAll := L.NewFunction(func(L *lua.LState) int {
		all := header.Values(L.CheckString(2))
		L.Push(newStringList(L, all))
		return 1
	})
	t.Metatable = protected("headers", map[string]lua.LValue{
		"__index": L.NewFunction(func(L *lua.LState) int {
			name := lua.LVAsString(L.Get(2))
			if name == "getall" {
				L.Push(getAll)
			} else {
				L.Push(L.CheckTable(1).RawGetString(strings.ToLower(name)))
			}
			return 1
		}),
	})
	return t
}

// newStringList makes a table of strings.
func newStringList(L *lua.LState, values []string) *lua.LTable {
	t := L.CreateTable(len(values), 0)
	for _, s := range values {
		t.Append(lua.LString(s))
	}
	return t
}
