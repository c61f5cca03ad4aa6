package luabind

import (
	"time"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
	"luacrawl/engine/fetch/cookies"
)

// newResponseCookies makes response.cookies: a list of what the response sets (cookies.Parse), with the fields that request{ cookies } has, and
// expires (seconds; nil for as long as the jar lives) and httponly. domain is nil for a cookie of the page's host alone.
func newResponseCookies(L *lua.LState, r *engine.Response) *lua.LTable {
	set := cookies.Parse(r.URL, r.Header["Set-Cookie"], time.Now())
	list := L.CreateTable(len(set), 0)
	for _, c := range set {
		one := L.CreateTable(0, 7)
		one.RawSetString("name", lua.LString(c.Name))
		one.RawSetString("value", lua.LString(c.Value))
		one.RawSetString("path", lua.LString(c.Path))
		one.RawSetString("secure", lua.LBool(c.Secure))
		one.RawSetString("httponly", lua.LBool(c.HTTPOnly))
		if !c.HostOnly {
			one.RawSetString("domain", lua.LString(c.Domain))
		}
		if !c.Expires.IsZero() {
			one.RawSetString("expires", seconds(c.Expires))
		}
		list.Append(one)
	}
	return list
}
