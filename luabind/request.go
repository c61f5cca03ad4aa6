package luabind

import (
	lua "github.com/yuin/gopher-lua"

	"luacrawl/scheduler"
)

// newRequest makes the userdata that scripts see as a request.
func (v *vm) newRequest(r *scheduler.Request) *lua.LUserData { return nil }

// checkCallback raises unless the spider has a function of that name.
func (v *vm) checkCallback(name string) {}
