package luabind

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// collector gathers what one call emits.
type collector struct {
	out        engine.Output
	processing bool // inside process_item
	depth      int  // of the requests that the call emits
}

// requestList is the metatable of lists of requests that were made in Go: an empty one may be emitted.
var requestList = protected("list of requests", nil)

// newRequestList makes a list of requests for a script.
func (v *vm) newRequestList(list []*scheduler.Request) *lua.LTable {
	t := v.L.CreateTable(len(list), 0)
	for i, r := range list {
		t.RawSetInt(i+1, v.newRequest(r))
	}
	t.Metatable = requestList
	return t
}

// emit is the global emit(request | item | list of requests).
func (v *vm) emit(L *lua.LState) int {
	lv := L.Get(1)
	if v.out == nil {
		L.RaiseError("emit: nothing is being crawled while the file loads; emit inside of a callback")
	}
	if r := asRequest(lv); r != nil {
		v.emitRequest(L, r)
		return 0
	}
	t, ok := lv.(*lua.LTable)
	if !ok {
		L.RaiseError("emit takes a request, an item (a table with named fields) or a list of requests, got %s", lv.Type())
	}
	switch {
	case isRequestList(t):
		v.emitList(L, t)
	default:
		v.emitItem(L, t)
	}
	return 0
}

// isRequestList tells a list of requests from an item by its first value; emitList and emitItem refuse what is a mixture.
func isRequestList(t *lua.LTable) bool {
	return t.Metatable == requestList || asRequest(t.RawGetInt(1)) != nil
}

func isEmpty(t *lua.LTable) bool {
	k, _ := t.Next(lua.LNil)
	return k == lua.LNil
}

func (v *vm) emitList(L *lua.LState, t *lua.LTable) {
	n := 0
	for k, value := t.Next(lua.LNil); k != lua.LNil; k, value = t.Next(k) {
		r := asRequest(value)
		n++
		if r == nil || k != lua.LNumber(n) {
			L.RaiseError("emit: the list holds a %s at %s; every value of the list must be a request", value.Type(), k.String())
		}
		v.emitRequest(L, r)
	}
}

func (v *vm) emitRequest(L *lua.LState, r *luaRequest) {
	v.checkFunctions(L, r)
	out, err := v.finish(r)
	if err != nil {
		L.RaiseError("request %s: %s", r.URL, err)
	}
	v.out.out.Requests = append(v.out.out.Requests, out)
}

// checkFunctions raises when the request names a function that the spider has not.
func (v *vm) checkFunctions(L *lua.LState, r *luaRequest) {
	v.checkFunction(L, "callback", r.Callback)
	if r.Errback != "" {
		v.checkFunction(L, "errback", r.Errback)
	}
}

// emitItem runs process_item and keeps the item as it is then: a table may be filled anew for the next item.
func (v *vm) emitItem(L *lua.LState, t *lua.LTable) {
	if v.out.processing {
		L.RaiseError("emit: process_item cannot emit another item; it returns its own")
	}
	if isEmpty(t) {
		L.RaiseError("emit: the table is empty; an item needs fields")
	}
	process, ok := v.spider.RawGetString("process_item").(*lua.LFunction)
	if !ok {
		item, err := itemJSON(t)
		if err != nil {
			L.RaiseError("emit: %s", err)
		}
		v.out.out.Items = append(v.out.out.Items, item)
		return
	}
	before, err := itemJSON(t)
	if err != nil {
		L.RaiseError("emit: %s", err)
	}
	v.processItem(L, process, t, before)
}

func itemJSON(t *lua.LTable) (engine.Item, error) {
	b, err := appendJSON(nil, "item", t)
	if err != nil {
		return nil, err
	}
	if b[0] != '{' {
		return nil, fmt.Errorf("the table is a list of %s; an item has named fields, and only requests may be emitted as a list", t.RawGetInt(1).Type())
	}
	return b, nil
}

func (v *vm) processItem(L *lua.LState, process *lua.LFunction, t *lua.LTable, before engine.Item) {
	requests := len(v.out.out.Requests)
	v.out.processing = true
	L.Push(process)
	L.Push(t)
	err := v.protect(L, 1, 1)
	v.out.processing = false
	if err != nil {
		v.out.out.Requests = v.out.out.Requests[:requests]
		v.itemError(L, process, before, err)
		return
	}
	result := L.Get(-1)
	L.Pop(1)
	returned, ok := result.(*lua.LTable)
	if !ok {
		v.failItem(before, process, fmt.Sprintf("process_item returned %s; return the item, or drop(\"why\")", describe(result)))
		return
	}
	item, err := itemJSON(returned)
	if err != nil {
		v.failItem(before, process, "process_item: "+err.Error())
		return
	}
	v.out.out.Items = append(v.out.out.Items, item)
}

func describe(lv lua.LValue) string {
	if lv == lua.LNil {
		return "nothing"
	}
	return "a " + lv.Type().String()
}

// itemError deals with an error that left process_item: a drop and a mistake end the item, all else ends the call.
func (v *vm) itemError(L *lua.LState, process *lua.LFunction, before engine.Item, err error) {
	raised, _ := err.(*lua.ApiError)
	if raised != nil {
		if ud, ok := raised.Object.(*lua.LUserData); ok {
			if d, ok := ud.Value.(*dropped); ok {
				v.out.out.Dropped = append(v.out.out.Dropped, engine.Dropped{Reason: d.reason})
				return
			}
		}
	}
	raised = v.rethrow(L, err)
	v.out.out.Failed = append(v.out.out.Failed, engine.FailedItem{Item: before, Err: v.scriptError(raised)})
}

func (v *vm) failItem(before engine.Item, process *lua.LFunction, message string) {
	e := &engine.ScriptError{Kind: "error", Message: message, File: process.Proto.SourceName, Line: process.Proto.LineDefined}
	v.out.out.Failed = append(v.out.out.Failed, engine.FailedItem{Item: before, Err: e})
}

// drop is the global drop(why).
func (v *vm) drop(L *lua.LState) int {
	if v.out == nil || !v.out.processing {
		L.RaiseError("drop is for process_item; a callback that wants no item does not emit one")
	}
	ud := L.NewUserData()
	ud.Value = &dropped{L.OptString(1, "no reason given")}
	L.Error(ud, 0)
	return 0
}
