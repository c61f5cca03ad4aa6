package luabind

import (
	lua "github.com/yuin/gopher-lua"
)

// maxJSONDepth is how deep tables may nest in JSON that is written or read.
const maxJSONDepth = 200

func init() { modules["json"] = jsonModule }

// jsonNull is json.null: what JSON has and Lua has not, a value that is there and is nothing. One serves all VMs since nothing
// can change it: a script reaches neither the userdata's fields nor its metatable.
var jsonNull = &lua.LUserData{Metatable: protected("json.null", map[string]lua.LValue{
	"__tostring": &lua.LFunction{IsG: true, GFunction: func(L *lua.LState) int {
		L.Push(lua.LString("null"))
		return 1
	}},
})}

// jsonArray is the metatable of tables that are arrays even when they are empty. It is shared and sealed as jsonNull is.
var jsonArray = protected("json.array", nil)

// protected makes a metatable that a script can neither see nor replace.
func protected(name string, fields map[string]lua.LValue) *lua.LTable {
	t := &lua.LTable{Metatable: lua.LNil}
	t.RawSetString("__metatable", lua.LString(name))
	for k, f := range fields {
		t.RawSetString(k, f)
	}
	return t
}

// jsonModule is require "json": encode, decode, null and array.
func jsonModule(v *vm) lua.LValue {
	t := v.L.SetFuncs(v.L.NewTable(), map[string]lua.LGFunction{
		"encode": v.jsonEncode,
		"decode": v.jsonDecode,
		"array":  jsonArrayOf,
	})
	t.RawSetString("null", jsonNull)
	return t
}

// jsonEncode is json.encode(value): text. What JSON cannot hold raises.
func (v *vm) jsonEncode(L *lua.LState) int {
	b, err := appendJSON(nil, "value", L.CheckAny(1))
	if err != nil {
		L.RaiseError("json.encode: %s", err)
	}
	L.Push(newText(b))
	return 1
}

// jsonDecode is json.decode(text): value, or nil and what is wrong with the text, since that comes from a site.
func (v *vm) jsonDecode(L *lua.LState) int {
	s, ok := L.Get(1).(lua.LString)
	if !ok {
		L.TypeError(1, lua.LTString)
	}
	lv, err := v.decodeJSON([]byte(s))
	if err != nil {
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return 2
	}
	L.Push(lv)
	return 1
}

// jsonArrayOf is json.array([table]): the table, or a new one, marked to be [] when it is empty.
func jsonArrayOf(L *lua.LState) int {
	t := L.OptTable(1, nil)
	if t == nil {
		t = L.NewTable()
	}
	if t.Metatable != lua.LNil && t.Metatable != jsonArray {
		L.ArgError(1, "the table has a metatable already")
	}
	t.Metatable = jsonArray
	L.Push(t)
	return 1
}
