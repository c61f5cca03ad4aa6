package luabind

import (
	"strconv"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
)

// response is what a response's userdata holds. Fields are turned into Lua values once, when they are first asked for.
type response struct {
	*engine.Response
	fields  [responseFields]lua.LValue
	request *luaRequest // behind request, meta and cb_kwargs; nil until one of them is read

	// What links{} has last returned, so that follow_all of it need not resolve every URL once more.
	linkTable *lua.LTable
	links     []string
}

// Places in response.fields.
const (
	fieldURL = iota
	fieldStatus
	fieldHeaders
	fieldCookies
	fieldBody
	fieldText
	fieldEncoding
	fieldMeta
	fieldCbKwargs
	fieldRequest
	responseFields
)

var responseFieldPlaces = map[string]int{
	"url": fieldURL, "status": fieldStatus, "headers": fieldHeaders, "cookies": fieldCookies, "body": fieldBody, "text": fieldText,
	"encoding": fieldEncoding, "meta": fieldMeta, "cb_kwargs": fieldCbKwargs, "request": fieldRequest,
}

const usedTooLate = "response used after its callback returned"

// newResponse makes the userdata that callbacks get. It raises when it is used after the callback has returned.
func (v *vm) newResponse(r *engine.Response) *lua.LUserData {
	return &lua.LUserData{Value: &response{Response: r}, Metatable: v.metatable("luacrawl.response", v.responseMetatable)}
}

// metatable returns this VM's metatable of that name, made at its first use.
func (v *vm) metatable(name string, build func() *lua.LTable) *lua.LTable {
	registry := v.L.G.Registry
	if t, ok := registry.RawGetString(name).(*lua.LTable); ok {
		return t
	}
	t := build()
	registry.RawSetString(name, t)
	return t
}

// responseMetatable has the methods ready, so that response:css makes no function.
func (v *vm) responseMetatable() *lua.LTable {
	methods := v.L.SetFuncs(v.L.NewTable(), map[string]lua.LGFunction{
		"css":        v.responseCSS,
		"urljoin":    v.responseURLJoin,
		"links":      v.responseLinks,
		"follow":     v.responseFollow,
		"follow_all": v.responseFollowAll,
		"json":       v.responseJSON,
		"robots":     responseRobots,
		"sitemap":    responseSitemap,
	})
	known := []string{"css", "urljoin", "links", "follow", "follow_all", "json", "robots", "sitemap"}
	for name := range responseFieldPlaces {
		known = append(known, name)
	}
	index := func(L *lua.LState) int {
		r := checkResponse(L)
		key := lua.LVAsString(L.Get(2))
		if method := methods.RawGetString(key); method != lua.LNil {
			L.Push(method)
			return 1
		}
		place, ok := responseFieldPlaces[key]
		if !ok {
			raiseUnknown(L, "a response has no "+strconv.Quote(key), key, known)
		}
		if r.fields[place] == nil {
			r.fields[place] = v.responseField(L, r, place)
		}
		L.Push(r.fields[place])
		return 1
	}
	return protected("response", map[string]lua.LValue{
		"__index":    v.L.NewFunction(index),
		"__newindex": v.L.NewFunction(readOnly("response")),
		"__tostring": v.L.NewFunction(responseString),
	})
}

// responseField makes the Lua value of a field.
func (v *vm) responseField(L *lua.LState, r *response, place int) lua.LValue {
	switch place {
	case fieldURL:
		return lua.LString(r.URL)
	case fieldStatus:
		return lua.LNumber(r.Status)
	case fieldHeaders:
		return newHeaders(L, r.Header)
	case fieldCookies:
		return newResponseCookies(L, r.Response)
	case fieldBody:
		return lua.LString(r.Body)
	case fieldText:
		return lua.LString(r.Text())
	case fieldEncoding:
		return lua.LString(r.Encoding())
	}
	if r.Request == nil {
		return lua.LNil
	}
	if r.request == nil {
		r.request = &luaRequest{Request: r.Request}
	}
	switch place {
	case fieldMeta:
		return v.object(L, &r.request.meta, r.Request.Meta)
	case fieldCbKwargs:
		return v.object(L, &r.request.cbKwargs, r.Request.CbKwargs)
	}
	return v.wrapRequest(r.request)
}

// checkResponse is the living response that a method was called on.
func checkResponse(L *lua.LState) *response {
	ud, _ := L.Get(1).(*lua.LUserData)
	if ud == nil {
		L.RaiseError("a response's methods are called with a colon, as in response:css(\"a\")")
	}
	r, ok := ud.Value.(*response)
	if !ok {
		L.RaiseError("a response's methods are called with a colon, as in response:css(\"a\")")
	}
	if r.Released() {
		L.RaiseError(usedTooLate)
	}
	return r
}

// css is response:css(selector): selection.
func (v *vm) responseCSS(L *lua.LState) int {
	r := checkResponse(L)
	L.Push(v.newSelection(r.Select(checkSelector(L, 2, "css"))))
	return 1
}

// urljoin is response:urljoin(href): url, or nil and an error for what is no URL, since links come from a site.
func (v *vm) responseURLJoin(L *lua.LState) int {
	r := checkResponse(L)
	href, ok := L.Get(2).(lua.LString)
	if !ok {
		L.RaiseError("response:urljoin needs a string, got %s", L.Get(2).Type())
	}
	u, err := r.Join(string(href))
	if err != nil {
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return 2
	}
	L.Push(lua.LString(u))
	return 1
}

// json is response:json(): the page's JSON as Lua values. A page that is none raises.
func (v *vm) responseJSON(L *lua.LState) int {
	r := checkResponse(L)
	value, err := v.decodeJSON([]byte(r.Text()))
	if err != nil {
		L.RaiseError("response:json() of %s: %s", r.URL, err)
	}
	L.Push(value)
	return 1
}

func responseString(L *lua.LState) int {
	r := checkResponse(L)
	L.Push(lua.LString("<" + strconv.Itoa(r.Status) + " " + r.URL + ">"))
	return 1
}

// readOnly raises for an assignment to a field.
func readOnly(what string) lua.LGFunction {
	return func(L *lua.LState) int {
		L.RaiseError("a %s cannot be changed (field %q); keep values in a table or in request.meta", what, lua.LVAsString(L.Get(2)))
		return 0
	}
}

// raiseUnknown raises for a name that is none of the known, with the one that may have been meant.
func raiseUnknown(L *lua.LState, problem, name string, known []string) {
	if near := engine.Nearest(name, known); near != "" {
		L.RaiseError("%s; did you mean %q?", problem, near)
	}
	L.RaiseError("%s", problem)
}
