package luabind

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
	"luacrawl/scheduler"
	"luacrawl/scheduler/weburl"
)

// awaitFiles has the item wait in a pipeline of files. One without URLs goes on at once.
func (c *itemChain) awaitFiles(s pipelineStep) bool {
	listed, err := c.fileURLs(s.files.URLs)
	if err != nil {
		c.fail(err.Error())
		return false
	}
	if len(listed) == 0 {
		return true
	}
	if c.kind != nil {
		if _, ok := c.kind.index[s.files.Result]; !ok {
			c.fail(fmt.Sprintf("item %s has no field for its files; declare %s = \"json\" in spider.items.%s", c.kind.Name, s.files.Result, c.kind.Name))
			return false
		}
		c.info.Kind = c.kind.Name
	}
	urls := slices.DeleteFunc(listed, func(u string) bool { return u == "" })
	for range len(listed) - len(urls) {
		c.v.countStat("file_error_count")
		c.v.countStat("file_error_count/invalid_url")
	}
	if len(urls) == 0 {
		return c.setFiles(s, nil)
	}
	item, err := itemJSON(c.table)
	if err != nil {
		c.fail(err.Error())
		return false
	}
	c.waiting = true
	c.v.out.out.Waiting = append(c.v.out.out.Waiting, engine.Waiting{ItemInfo: c.info, Item: item, Order: s.order, URLs: urls})
	return true
}

// fileURLs are the URLs that a field of the item lists, normalised; one that nothing can be fetched from is "".
func (c *itemChain) fileURLs(field string) ([]string, error) {
	var urls []string
	switch value := c.table.RawGetString(field).(type) {
	case lua.LString:
		urls = append(urls, fileURL(string(value)))
	case *lua.LTable:
		for k, entry := value.Next(lua.LNil); k != lua.LNil; k, entry = value.Next(k) {
			text, ok := entry.(lua.LString)
			if !ok || k != lua.LNumber(len(urls)+1) {
				return nil, fmt.Errorf("item.%s holds a %s at %s; it is a list of URLs", field, entry.Type(), k)
			}
			urls = append(urls, fileURL(string(text)))
		}
	default:
		if value != lua.LNil && value != jsonNull {
			return nil, fmt.Errorf("item.%s is a %s; it is a list of URLs", field, value.Type())
		}
	}
	return urls, nil
}

func fileURL(raw string) string {
	u, err := weburl.Parse(strings.TrimSpace(raw))
	if err != nil || !weburl.IsHTTP(u) {
		return ""
	}
	return weburl.StripFragment(u)
}

// setFiles tells the item what has become of its files.
func (c *itemChain) setFiles(s pipelineStep, results []engine.FileResult) bool {
	if results == nil {
		results = []engine.FileResult{}
	}
	b, err := json.Marshal(results)
	if err == nil {
		var lv lua.LValue
		if lv, err = c.v.decodeJSON(b); err == nil {
			c.table.RawSetString(s.files.Result, lv)
			return true
		}
	}
	c.fail(err.Error())
	return false
}

// Finish takes an item whose files are there or given up through the pipelines after the one that it waited in.
func (s *Spider) Finish(ctx context.Context, r *scheduler.Request, w *engine.Waiting) (*engine.Output, error) {
	g := s.generationFor(ctx, r.Revision)
	at := slices.IndexFunc(g.steps, func(s pipelineStep) bool { return s.files != nil && s.order == w.Order })
	if at < 0 {
		e := &engine.ScriptError{Kind: "error", File: g.display + g.main.path, Message: fmt.Sprintf("an item waits in the pipeline files of order %v, and the spider has it no more", w.Order)}
		return nil, &engine.UnknownCallbackError{Callback: scheduler.FilesCallback, Revision: g.revision, Err: e}
	}
	return g.run(r.Depth, func(v *vm) error {
		v.out.request = r
		lv, err := v.decodeJSON(w.Item)
		if err != nil {
			return fmt.Errorf("item that waited for files: %w", err)
		}
		t, ok := lv.(*lua.LTable)
		if !ok {
			return fmt.Errorf("item that waited for files is a %s", lv.Type())
		}
		c := &itemChain{v: v, info: w.ItemInfo, table: t, before: w.Item, kept: -1, from: at + 1}
		if c.kind = g.items[w.Kind]; c.kind != nil {
			t.Metatable = v.metas[c.kind]
		}
		_, err = v.call(ctx, v.L.NewFunction(func(L *lua.LState) int {
			c.L = L
			if c.setFiles(g.steps[at], w.Files) {
				c.run(nil)
			}
			return 0
		}))
		return err
	})
}
