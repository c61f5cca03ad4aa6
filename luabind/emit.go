package luabind

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
	"luacrawl/engine/fetch/robots"
	"luacrawl/scheduler"
)

// collector gathers what one call emits.
type collector struct {
	out        engine.Output
	processing bool              // inside process_item
	retries    bool              // the call is of a request, which it may want to be tried again
	depth      int               // of the requests that the call emits
	emitted    int               // items, those that were dropped too
	obeyed     robots.Directives // of the page: what is not taken

	// What the call is about, for the IDs of its items.
	request *scheduler.Request // nil for a seed
	seed    []byte
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
	if v.out.obeyed.NoFollow {
		v.countStat(engine.StatNoFollow)
		return
	}
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

// emitItem takes an item through process_item and the pipelines, and keeps it as it is then: a table may be filled anew for the next item.
func (v *vm) emitItem(L *lua.LState, t *lua.LTable) {
	if v.out.processing {
		L.RaiseError("emit: process_item cannot emit another item; it returns its own")
	}
	if isEmpty(t) {
		L.RaiseError("emit: the table is empty; an item needs fields")
	}
	if v.out.obeyed.NoIndex {
		v.countStat(engine.StatNoIndex)
		return
	}
	process, _ := v.spider.RawGetString("process_item").(*lua.LFunction)
	before, err := itemJSON(t)
	if err != nil {
		L.RaiseError("emit: %s", err)
	}
	if process == nil && v.gen.plain() && len(v.gen.items) == 0 {
		v.out.out.Items = append(v.out.out.Items, before)
		return
	}
	c := &itemChain{v: v, L: L, info: engine.ItemInfo{Number: v.out.emitted}, kind: v.declared(t), table: t, before: before, kept: -1}
	v.out.emitted++
	c.run(process)
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

func describe(lv lua.LValue) string {
	if lv == lua.LNil {
		return "nothing"
	}
	return "a " + lv.Type().String()
}

// itemError deals with an error that left process_item: a drop and a mistake end the item, all else ends the call.
func (v *vm) itemError(L *lua.LState, before engine.Item, err error) {
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

// drop is the global drop(why).
func (v *vm) drop(L *lua.LState) int {
	if v.out == nil || !v.out.processing {
		L.RaiseError("drop is for process_item and pipelines; a callback that wants no item does not emit one")
	}
	ud := L.NewUserData()
	ud.Value = &dropped{L.OptString(1, "no reason given")}
	L.Error(ud, 0)
	return 0
}

// unavailable is the global unavailable(why): something that the call needs is down, such as a database. It unwinds the call, which is made
// again after a while on the same response, until it is there.
func (v *vm) unavailable(L *lua.LState) int {
	if v.out == nil {
		L.RaiseError("unavailable: nothing is being crawled while the file loads; call it inside of a callback or a pipeline")
	}
	ud := L.NewUserData()
	ud.Value = &unavailable{clipText(L.OptString(1, "no reason given"))}
	L.Error(ud, 0)
	return 0
}

// itemID is the ID that an item of this call will have.
func (c *collector) itemID(spider string, info engine.ItemInfo) string {
	return engine.ItemID(spider, c.request, c.seed, info)
}

// countStat raises a counter of the call.
func (v *vm) countStat(name string) {
	if v.out.out.Stats == nil {
		v.out.out.Stats = map[string]int64{}
	}
	v.out.out.Stats[name]++
}
