package luabind

import (
	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
)

// newResponse makes the userdata that callbacks get. It raises when it is used after the callback has returned.
func (v *vm) newResponse(r *engine.Response) *lua.LUserData { return v.L.NewUserData() }
