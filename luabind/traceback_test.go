package luabind_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"luacrawl/engine"
	"luacrawl/luabind"
	"luacrawl/luabind/luabindtest"
	"luacrawl/scheduler"
)

// TestTraceback: frames are those of the script, and the outermost one is called what the spider calls it.
func TestTraceback(t *testing.T) {
	t.Parallel()
	const more = `
function spider.process_item(item)
  local n = #item.missing
  return item
end
function spider.make_request_from_data(data) error(data) end`
	for name, c := range map[string]struct{ parse, want string }{
		"callback": {
			"local function inner(x) return x.y end\nlocal function outer() local v = inner(nil) return v end\nouter()",
			"spiders/spider.lua:3: in function 'inner'\nspiders/spider.lua:4: in function 'outer'\nspiders/spider.lua:5: in function 'parse'",
		},
		"tail call":    {"local function inner(x) return x.y end\nreturn inner(nil)", "spiders/spider.lua:3: in a function that function 'parse' ended with"},
		"process_item": {"emit { a = 1 }", "spiders/spider.lua:8: in function 'process_item'"},
		"seed":         {"", "spiders/spider.lua:11: in function 'make_request_from_data'"},
	} {
		s := spider(t, c.parse, more)
		out, err := s.Parse("http://site.test/", "")
		if c.parse == "" {
			_, err = s.Seed("x")
		}
		var e *engine.ScriptError
		if !errors.As(err, &e) {
			e = out.Failed[0].Err
		}
		if e.Traceback != c.want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", name, e.Traceback, c.want)
		}
	}
}

// nested are functions that call each other in all ways, down to one of a module that fails.
const (
	nested = `local lib = require "lib"
local spider = { name = "test" }

local function deep(x)
  local v = lib.title(x)
  return v
end

function spider.helper(x)
  local v = deep(x)
  return v
end

spider.parse = function(response)
  local v = spider.helper(response)
  for _, f in ipairs { spider.helper } do v = f() end
end

function spider.other(response)
  local ok = pcall(function() deep() end)
  local run = function(f) local v = f() return v end
  local v = run(spider.helper)
end

spider.process_item = function(item)
  local v = deep(item)
  return v
end

function spider.emits() emit { a = 1 } end

function spider.coroutine()
  local co = coroutine.wrap(function() local v = deep() return v end)
  local v = co()
end

function spider.oneline() local f = function() end error("x") end

return spider
`
	nestedLib = "local M = {}\nfunction M.title(x)\n  return x.nothing.title\nend\nreturn M\n"
)

func TestTracebackNamesFunctions(t *testing.T) {
	t.Parallel()
	f := luabindtest.Spider(t, luabindtest.Files{luabindtest.Main: nested, "lib.lua": nestedLib})
	for callback, want := range map[string]string{
		"parse":     "spiders/lib.lua:3: in function 'title'|spiders/spider.lua:5: in function 'deep'|spiders/spider.lua:10: in function 'helper'|spiders/spider.lua:15: in function 'parse'",
		"other":     "spiders/lib.lua:3: in function 'title'|spiders/spider.lua:5: in function 'deep'|spiders/spider.lua:10: in function 'f'|spiders/spider.lua:21: in function 'run'|spiders/spider.lua:22: in function 'other'",
		"oneline":   "spiders/spider.lua:37: in function 'oneline'",
		"coroutine": "spiders/spider.lua:34: in function 'coroutine'",
	} {
		_, err := f.Callback(&scheduler.Request{URL: "http://site.test/", Callback: callback}, "")
		var e *engine.ScriptError
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v", callback, err)
		}
		if got := strings.ReplaceAll(e.Traceback, "\n", "|"); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", callback, got, want)
		}
		if e.Revision != f.Revision() {
			t.Errorf("%s: revision %q", callback, e.Revision)
		}
	}
	out, err := f.Callback(&scheduler.Request{URL: "http://site.test/", Callback: "emits"}, "")
	if err != nil || len(out.Failed) != 1 {
		t.Fatal(out, err)
	}
	e := out.Failed[0].Err
	if want := "spiders/spider.lua:26: in function 'process_item'"; !strings.HasSuffix(e.Traceback, want) || e.Source != "  return x.nothing.title" {
		t.Errorf("%q\n%s", e.Source, e.Traceback)
	}
}

func TestErrorsQuoteTheirLine(t *testing.T) {
	t.Parallel()
	_, err := spider(t, "\tlocal title = response.meta.nothing.title").Parse("http://site.test/", "")
	var e *engine.ScriptError
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	if got, want := e.Excerpt(), "\tlocal title = response.meta.nothing.title\n\t^"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for text, want := range map[string]string{
		"local x = 1\nlocal y = = 2\n":                    "local y = = 2\n          ^",
		"local spider = {\n  name = \"x\"\n  parse = 1 }": "  parse = 1 }\n  ^",
		"local x = {\n":                   "local x = {\n^",
		"return nothing.name":             "return nothing.name\n^",
		"\xef\xbb\xbflocal x = )":         "local x = )\n          ^",
		"#!/usr/bin/lua\nlocal x = )":     "local x = )\n          ^",
		"goto nowhere":                    "goto nowhere\n^",
		"local x = '\x1b[31m' ..":         "local x = '?[31m' ..\n^",
		strings.Repeat("x", 300) + " = )": strings.Repeat("x", 200) + "\n^",
	} {
		_, err := luabind.Load(fstest.MapFS{"a.lua": {Data: []byte(text)}}, "a.lua", "spiders/", luabind.Options{})
		if !errors.As(err, &e) {
			t.Fatalf("%q: %v", text, err)
		}
		if got := e.Excerpt(); got != want {
			t.Errorf("%q: %v\n%s\nwant\n%s", text, err, got, want)
		}
	}
}
