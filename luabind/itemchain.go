package luabind

import (
	"context"
	"fmt"
	"time"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
)

// itemChain is one emitted item on its way through process_item and the spider's pipelines.
type itemChain struct {
	v      *vm
	L      *lua.LState
	info   engine.ItemInfo
	kind   *declaration
	table  *lua.LTable
	before engine.Item // as it was emitted
	last   string      // the function that has returned it, "" when it is as it was emitted
	fn     *lua.LFunction
	kept   int // its place among the items, -1 until it has one
	routes []engine.Route

	from    int  // the first of the pipelines that it goes through
	waiting bool // for its files, and goes on in another call
}

// run takes the item through all of it. What ends it on the way (a drop, a mistake) leaves nothing of it but what it says.
func (c *itemChain) run(process *lua.LFunction) {
	routes := len(c.v.out.out.Routes)
	ok := process == nil || c.call(process, "process_item")
	for _, s := range c.v.gen.steps[c.from:] {
		if !ok || c.waiting {
			break
		}
		ok = c.step(s)
	}
	out := &c.v.out.out
	switch {
	case ok && c.waiting: // nothing before files keeps it
		return
	case !ok && c.kept >= 0: // Redis comes before the step that ended it: it has the item as it was there
		ok = true
	case ok && c.kept < 0:
		ok = c.keep() // no pipeline is Redis: the item as it is at the end
	}
	if !ok {
		out.Routes = out.Routes[:routes]
		return
	}
	out.Routes = append(out.Routes, c.routes...)
}

func (c *itemChain) step(s pipelineStep) bool {
	switch {
	case s.sink >= 0:
		item, ok := c.encode()
		if ok {
			kept := len(c.v.out.out.Items) // what goes with it if the sink refuses: the item that is not kept yet
			if c.kept >= 0 {
				kept = -1
			}
			c.routes = append(c.routes, engine.Route{ItemInfo: c.info, Sink: s.sink, Kept: kept, Item: item})
		}
		return ok
	case s.files != nil:
		return c.awaitFiles(s)
	case s.module != "":
		fn := c.v.pipelineFunction(c.L, s.module)
		return c.call(fn, s.module+".process_item", c.v.spider, lua.LString(c.id()))
	}
	return c.keep()
}

// id is the ID that the sinks after this step will know the item by, as far as its fields are there.
func (c *itemChain) id() string {
	info := c.info
	if c.kind != nil {
		info.Kind, info.Key = c.kind.Name, c.kind.key(c.table)
	}
	return c.v.out.itemID(c.v.gen.name, info)
}

// keep makes the item, as it is now, one of the call's items.
func (c *itemChain) keep() bool {
	item, ok := c.encode()
	if !ok {
		return false
	}
	out := &c.v.out.out
	c.kept = len(out.Items)
	out.Items = append(out.Items, item)
	out.About = append(out.About, c.info)
	if c.kind != nil {
		c.kind.fill(c.table, c.v.countStat)
	}
	return true
}

// encode gives the item as it is now. One that breaks its declaration, or cannot be kept, goes to dead.
func (c *itemChain) encode() (engine.Item, bool) {
	if c.kind != nil {
		if err := c.kind.complete(c.table); err != nil {
			c.fail(err.Error())
			return nil, false
		}
		c.info.Kind, c.info.Key = c.kind.Name, c.kind.key(c.table)
	}
	item, err := itemJSON(c.table)
	if err != nil {
		c.fail(err.Error())
		return nil, false
	}
	return item, true
}

// call has a function work on the item, which it returns.
func (c *itemChain) call(fn *lua.LFunction, name string, more ...lua.LValue) bool {
	v, L := c.v, c.L
	requests := len(v.out.out.Requests)
	v.out.processing = true
	L.Push(fn)
	L.Push(c.table)
	for _, arg := range more {
		L.Push(arg)
	}
	err := v.protect(L, 1+len(more), 1)
	v.out.processing = false
	if err != nil {
		v.out.out.Requests = v.out.out.Requests[:requests]
		v.itemError(L, c.before, err)
		return false
	}
	result := L.Get(-1)
	L.Pop(1)
	returned, ok := result.(*lua.LTable)
	if !ok {
		c.failAt(fn, fmt.Sprintf("%s returned %s; return the item, or drop(\"why\")", name, describe(result)))
		return false
	}
	if kind := v.declared(returned); kind != nil {
		c.kind = kind
	}
	c.table, c.last, c.fn = returned, name, fn
	return true
}

// fail says that the item, as it is now, cannot be kept.
func (c *itemChain) fail(message string) {
	if c.last != "" {
		message = c.last + ": " + message
	}
	c.failAt(c.fn, message)
}

// failAt sends the item to dead, with the place of a function, or of the emit.
func (c *itemChain) failAt(fn *lua.LFunction, message string) {
	e := &engine.ScriptError{Kind: "error", Message: message}
	if fn != nil && fn.Proto != nil {
		e.File, e.Line = fn.Proto.SourceName, fn.Proto.LineDefined
	} else {
		e.File, e.Line, _ = splitPosition(c.L.Where(1) + " ")
	}
	c.v.out.out.Failed = append(c.v.out.out.Failed, engine.FailedItem{Item: c.before, Err: e})
}

// pipelineFunction is the process_item of a pipeline's module. Its open_spider is called before its first item in this VM.
func (v *vm) pipelineFunction(L *lua.LState, module string) *lua.LFunction {
	t := v.pipelines[module]
	if !v.opened[module] {
		if open, ok := t.RawGetString("open_spider").(*lua.LFunction); ok {
			L.Push(open)
			L.Push(v.spider)
			if err := v.protect(L, 1, 0); err != nil {
				L.Error(v.rethrow(L, err).Object, 0)
			}
		}
		v.opened[module] = true
	}
	return t.RawGetString("process_item").(*lua.LFunction) // openPipelines has checked it
}

// openPipelines requires the modules among the spider's pipelines.
func (v *vm) openPipelines(ctx context.Context, steps []pipelineStep) error {
	v.pipelines, v.opened = map[string]*lua.LTable{}, map[string]bool{}
	for _, s := range steps {
		if s.module == "" {
			continue
		}
		t, err := v.pipelineModule(ctx, s.module)
		if err != nil {
			return err
		}
		v.pipelines[s.module] = t
	}
	return nil
}

func (v *vm) pipelineModule(ctx context.Context, name string) (*lua.LTable, error) {
	if _, err := modulePath(v.gen.folder, name); err != nil {
		return nil, err
	}
	result, err := v.call(ctx, v.L.NewFunction(v.require), lua.LString(name))
	if err != nil {
		return nil, err
	}
	t, ok := result.(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("pipeline %s: the module returns no table; it has a function process_item(item, spider, item_id)", name)
	}
	if _, ok := t.RawGetString("process_item").(*lua.LFunction); !ok {
		return nil, fmt.Errorf("pipeline %s: the module has no function process_item(item, spider, item_id)", name)
	}
	return t, nil
}

// closeTimeout is what close_spider of all pipelines of a VM may take.
const closeTimeout = 5 * time.Second

// closePipelines calls close_spider of the pipelines that this VM has opened.
func (v *vm) closePipelines() {
	if len(v.opened) == 0 || v.broken {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for name := range v.opened {
		fn, ok := v.pipelines[name].RawGetString("close_spider").(*lua.LFunction)
		if !ok {
			continue
		}
		if _, err := v.call(ctx, fn, v.spider); err != nil && v.logger != nil {
			v.logger.Error("close_spider of pipeline "+name+" failed", "error", err)
		}
	}
}
