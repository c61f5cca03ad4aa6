package luabind

import (
	lua "github.com/yuin/gopher-lua"
)

func (v *vm) responseFollow(L *lua.LState) int { return 0 }

func (v *vm) responseFollowAll(L *lua.LState) int { return 0 }
