package luabind

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/scheduler"
)

// luaRequest is what the userdata of a request holds. meta and cbKwargs are nil until the script has given or read them; then they
// stand for the request's own and are written back when it is emitted.
type luaRequest struct {
	*scheduler.Request
	meta, cbKwargs *lua.LTable
	proxy          lua.LValue // as an option gave it, on its way into meta; else nil
	own            bool       // made by the script and not emitted yet: no one else has it
}

// newRequest makes the userdata that scripts see as a request.
func (v *vm) newRequest(r *scheduler.Request) *lua.LUserData {
	return v.wrapRequest(&luaRequest{Request: r})
}

func (v *vm) wrapRequest(r *luaRequest) *lua.LUserData {
	if v.requests == nil {
		v.requests = protected("request", map[string]lua.LValue{
			"__index":    v.L.NewFunction(v.requestIndex),
			"__newindex": v.L.NewFunction(requestNewIndex),
			"__tostring": v.L.NewFunction(requestToString),
		})
	}
	ud := v.L.NewUserData()
	ud.Value, ud.Metatable = r, v.requests
	return ud
}

// asRequest is the request in a value, or nil.
func asRequest(lv lua.LValue) *luaRequest {
	if ud, ok := lv.(*lua.LUserData); ok {
		if r, ok := ud.Value.(*luaRequest); ok {
			return r
		}
	}
	return nil
}

func checkRequest(L *lua.LState, n int) *luaRequest {
	r := asRequest(L.Get(n))
	if r == nil {
		L.ArgError(n, "request expected, got "+L.Get(n).Type().String()+"; call methods with a colon")
	}
	return r
}

// request is the global request{...}.
func (v *vm) request(L *lua.LState) int {
	t, ok := L.Get(1).(*lua.LTable)
	if !ok {
		L.RaiseError("request takes a table: request { url = \"https://...\", callback = \"parse\" }")
	}
	r := &luaRequest{Request: &scheduler.Request{}, own: true}
	v.setOptions(L, r, t)
	if r.URL == "" {
		L.RaiseError("request: url is missing")
	}
	L.Push(v.wrapRequest(r))
	return 1
}

// requestReplace is request:replace{...}: a copy with some fields changed.
func (v *vm) requestReplace(L *lua.LState) int {
	old := checkRequest(L, 1)
	r := *old.Request
	copied := &luaRequest{Request: &r, meta: old.meta, cbKwargs: old.cbKwargs, own: true}
	v.setOptions(L, copied, L.CheckTable(2))
	L.Push(v.wrapRequest(copied))
	return 1
}

// requestFields are the fields that a script can read beside those it can set.
var requestFields = map[string]func(r *luaRequest) lua.LValue{
	"url":            func(r *luaRequest) lua.LValue { return lua.LString(r.URL) },
	"method":         func(r *luaRequest) lua.LValue { return lua.LString(methodOf(r.Request)) },
	"body":           func(r *luaRequest) lua.LValue { return lua.LString(r.Body) },
	"callback":       func(r *luaRequest) lua.LValue { return nonEmpty(r.Callback) },
	"errback":        func(r *luaRequest) lua.LValue { return nonEmpty(r.Errback) },
	"priority":       func(r *luaRequest) lua.LValue { return lua.LNumber(r.Priority) },
	"dont_filter":    func(r *luaRequest) lua.LValue { return lua.LBool(r.DontFilter) },
	"depth":          func(r *luaRequest) lua.LValue { return lua.LNumber(r.Depth) },
	"redirect_times": func(r *luaRequest) lua.LValue { return lua.LNumber(r.RedirectTimes) },
	"retry_times":    func(r *luaRequest) lua.LValue { return lua.LNumber(r.RetryTimes) },
	"slot":           func(r *luaRequest) lua.LValue { return nonEmpty(r.Slot) },
	"revision":       func(r *luaRequest) lua.LValue { return nonEmpty(r.Revision) },
	"fingerprint": func(r *luaRequest) lua.LValue {
		fp := r.Fingerprint()
		return lua.LString(hex.EncodeToString(fp[:]))
	},
	"not_before": func(r *luaRequest) lua.LValue {
		if r.NotBefore.IsZero() {
			return lua.LNil
		}
		return lua.LNumber(float64(r.NotBefore.UnixMilli()) / 1000)
	},
}

func nonEmpty(s string) lua.LValue {
	if s == "" {
		return lua.LNil
	}
	return lua.LString(s)
}

func methodOf(r *scheduler.Request) string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

func (v *vm) requestIndex(L *lua.LState) int {
	r, name := checkRequest(L, 1), L.CheckString(2)
	if read, ok := requestFields[name]; ok {
		L.Push(read(r))
		return 1
	}
	switch name {
	case "meta":
		L.Push(v.object(L, &r.meta, r.Meta))
	case "cb_kwargs":
		L.Push(v.object(L, &r.cbKwargs, r.CbKwargs))
	case "proxy":
		L.Push(v.object(L, &r.meta, r.Meta).RawGetString("proxy"))
	case "headers":
		L.Push(v.headerTable(r.Headers))
	case "cookies":
		t := v.L.CreateTable(0, 4)
		for k, value := range r.Cookies {
			t.RawSetString(k, lua.LString(value))
		}
		L.Push(t)
	case "replace":
		L.Push(L.NewFunction(v.requestReplace))
	default:
		L.RaiseError("a request has no field %q", name)
	}
	return 1
}

// object is the table that stands for a JSON object of a request.
func (v *vm) object(L *lua.LState, table **lua.LTable, raw []byte) *lua.LTable {
	if *table != nil {
		return *table
	}
	*table = v.L.CreateTable(0, 4)
	if len(raw) == 0 {
		return *table
	}
	lv, err := v.decodeJSON(raw)
	if err != nil {
		L.RaiseError("meta or cb_kwargs of the request cannot be read: %s", err)
	}
	if t, ok := lv.(*lua.LTable); ok {
		*table = t
	}
	return *table
}

func (v *vm) headerTable(h http.Header) *lua.LTable {
	t := v.L.CreateTable(0, 4)
	for k, values := range h {
		t.RawSetString(k, lua.LString(strings.Join(values, ", ")))
	}
	return t
}

func requestNewIndex(L *lua.LState) int {
	L.RaiseError("a request cannot be changed; make another with request:replace { %s = ... }", L.CheckAny(2).String())
	return 0
}

func requestToString(L *lua.LState) int {
	r := checkRequest(L, 1)
	L.Push(lua.LString(fmt.Sprintf("<%s %s>", methodOf(r.Request), r.URL)))
	return 1
}

// finish is the request as it goes to the frontier; later changes of its tables do not reach it.
func (v *vm) finish(r *luaRequest) (*scheduler.Request, error) {
	out := r.Request
	if !r.own { // the engine's, or emitted before: others read it by now
		copied := *out
		out = &copied
	}
	r.own = false
	var err error
	if out.Meta, err = v.rawObject("meta", r.meta, out.Meta); err != nil {
		return nil, err
	}
	if out.CbKwargs, err = v.rawObject("cb_kwargs", r.cbKwargs, out.CbKwargs); err != nil {
		return nil, err
	}
	if v.out != nil {
		out.Depth = v.out.depth
	}
	if v.gen != nil {
		out.Revision = v.gen.revision
	}
	return out, nil
}

// rawObject writes a table as a JSON object; old holds when the table was never touched.
func (v *vm) rawObject(name string, t *lua.LTable, old []byte) ([]byte, error) {
	if t == nil {
		return old, nil
	}
	if isEmpty(t) {
		return nil, nil
	}
	b, err := appendJSON(nil, name, t)
	if err != nil {
		return nil, err
	}
	if b[0] != '{' {
		return nil, fmt.Errorf("%s is a list; it must have names: %s = { page = 2 }", name, name)
	}
	return b, nil
}

// checkFunction raises unless a request may name the function; "" is the default callback.
func (v *vm) checkFunction(L *lua.LState, what, name string) {
	if fn, ok := v.spider.RawGetString(cmp.Or(name, defaultCallback)).(*lua.LFunction); ok && fn != nil && !slices.Contains(hooks, name) {
		return
	}
	L.RaiseError("%s", v.gen.noFunction(what, name))
}
