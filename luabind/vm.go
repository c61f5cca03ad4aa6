package luabind

import (
	lua "github.com/yuin/gopher-lua"
)

// vm is one Lua state with the spider loaded in it. One goroutine at a time uses it.
type vm struct {
	L *lua.LState
}
