package luabind

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"luacrawl/engine"
)

func filesystem(files map[string]string) fs.FS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

const goodSpider = "local spider = { name = 'a' }\nfunction spider.parse() end\nreturn spider\n"

// TestBadSpiders pins what a person reads when a spider cannot be loaded.
func TestBadSpiders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"missing":        {nil, `spiders/a.lua: there is no such file`},
		"empty":          {map[string]string{"a.lua": ""}, `spiders/a.lua: the file returns nothing; end it with "return spider"`},
		"syntax":         {map[string]string{"a.lua": "local x = 1\nlocal = 2\n"}, `spiders/a.lua:2: syntax error near "="`},
		"unfinished":     {map[string]string{"a.lua": "local s = {}\nfunction s.parse()\n  if x then\nend\n"}, `spiders/a.lua:4: syntax error at the end of the file: is an "end" or a bracket missing?`},
		"number":         {map[string]string{"a.lua": "return 5"}, `spiders/a.lua: the file returns a number; it must return the spider's table`},
		"no name":        {map[string]string{"a.lua": "return {}"}, `spiders/a.lua: the spider has no name; give it one: name = "news"`},
		"bad name":       {map[string]string{"a.lua": "return { name = 'a b' }"}, `spider.name "a b" must be 1 to 64 of the characters A-Z a-z 0-9 _ . -`},
		"long name":      {map[string]string{"a.lua": "return { name = ('a'):rep(65) }"}, `must be 1 to 64 of the characters`},
		"name is number": {map[string]string{"a.lua": "return { name = 5 }"}, `spider.name is a number; it must be a string`},
		"misspelt field": {map[string]string{"a.lua": "return { name = 'a', alowed_domains = {} }"}, `unknown field "alowed_domains" in the spider's table; did you mean "allowed_domains"?`},
		"unknown field":  {map[string]string{"a.lua": "return { name = 'a', zzz = 1 }"}, `unknown field "zzz" in the spider's table; it has allowed_domains, args, items, name, pipelines, settings, start_urls and functions`},
		"list entry":     {map[string]string{"a.lua": "return { name = 'a', 7 }"}, `the spider's table has a number as a key (1)`},
		"domains":        {map[string]string{"a.lua": "return { name = 'a', allowed_domains = 'x.test' }"}, `spider.allowed_domains is a string; it must be a list of strings: allowed_domains = { "..." }`},
		"domain":         {map[string]string{"a.lua": "return { name = 'a', allowed_domains = { 'x.test', 5 } }"}, `spider.allowed_domains[2] is a number; it must be a string`},
		"domain's port":  {map[string]string{"a.lua": "return { name = 'a', allowed_domains = { 'x.test', 'y.test:81' } }"}, `spider.allowed_domains[2] is "y.test:81"; it must be a domain without scheme, port or path, as in "news.example"`},
		"domain's path":  {map[string]string{"a.lua": "return { name = 'a', allowed_domains = { 'http://x.test/' } }"}, `spider.allowed_domains[1] is "http://x.test/"; it must be a domain without scheme, port or path, as in "news.example"`},
		"named domain":   {map[string]string{"a.lua": "return { name = 'a', allowed_domains = { x = 'x.test' } }"}, `spider.allowed_domains has the key x; it must be a list`},
		"no parse":       {map[string]string{"a.lua": "return { name = 'a', start_urls = { 'http://x.test' } }"}, `the spider has start_urls and no function parse`},
		"no callback":    {map[string]string{"a.lua": "return { name = 'a', process_item = function(i) return i end }"}, `spiders/a.lua: the spider has no function parse, nor any other that gets responses; define function spider.parse(response)`},
		"settings":       {map[string]string{"a.lua": "return { name = 'a', settings = 5 }"}, `spider.settings is a number; it must be a table`},
		"setting":        {map[string]string{"a.lua": "return { name = 'a', settings = { x = function() end } }"}, `spider.settings.x is a function; a setting is a number, a string, true or false, a list of them, or a table of names and strings`},
		"hook":           {map[string]string{"a.lua": "return { name = 'a', process_item = 5 }"}, `spider.process_item is a number; it must be a function`},
		"name function":  {map[string]string{"a.lua": "return { name = function() end }"}, `spider.name is a function; it must be a string`},
		"args":           {map[string]string{"a.lua": "return { name = 'a', args = 5 }"}, `spider.args is a number; it must be a table of default arguments`},
		"raises":         {map[string]string{"a.lua": "\nlocal x\nx.y = 1"}, `spiders/a.lua:3: attempt to index`},
		"raises table":   {map[string]string{"a.lua": "\nerror({ code = 5 })"}, `spiders/a.lua:2: error value {"code":5}`},
		"emits":          {map[string]string{"a.lua": "emit({ a = 1 })"}, `spiders/a.lua:1: emit: nothing is being crawled while the file loads`},
		"missing module": {map[string]string{"a.lua": "\nrequire 'nope'"}, `spiders/a.lua:2: require: there is no module "nope": neither the file spiders/nope.lua nor one of the built-in`},
		"misspelt":       {map[string]string{"a.lua": "require 'jsn'"}, `did you mean "json"?`},
		"outside":        {map[string]string{"a.lua": "require '../etc'"}, `require: "../etc" is not the name of a module`},
		"absolute":       {map[string]string{"a.lua": "require '/etc/passwd'"}, `is not the name of a module`},
		"dots":           {map[string]string{"a.lua": "require 'a..b'"}, `is not the name of a module`},
		"itself":         {map[string]string{"a.lua": "require 'm'", "m.lua": "\nrequire 'n'", "n.lua": "require 'm'"}, `spiders/n.lua:1: require: module "m" requires itself: m -> n -> m`},
		"main itself":    {map[string]string{"a.lua": "\nrequire 'a'"}, `spiders/a.lua:2: require: module "a" requires itself: a -> a; move what both need into a third file`},
		"much memory":    {map[string]string{"a.lua": "\nlocal s = ('x'):rep(1e10)"}, `spiders/a.lua:2: string.rep would make 10000000000 bytes, more than the 67108864 of setting callback_memory`},
		"bad module":     {map[string]string{"a.lua": "require 'm'", "m.lua": "\n\n=\n"}, `spiders/m.lua:3: syntax error near "="`},
		"module raises":  {map[string]string{"a.lua": "require 'm'", "m.lua": "\nerror('boom')"}, `spiders/m.lua:2: boom`},
		"compiled":       {map[string]string{"a.lua": "\x1bLua"}, `the file is compiled Lua; give its source`},
		"request":        {map[string]string{"a.lua": "\nrequest { url = '/x' }"}, `spiders/a.lua:2: request: url "/x" is not an absolute http or https URL`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(filesystem(c.files), "a.lua", "spiders/", Options{})
			var e *engine.ScriptError
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a *engine.ScriptError", err)
			}
			if !strings.Contains(e.Error(), c.want) {
				t.Errorf("got  %s\nwant %s", e, c.want)
			}
		})
	}
}

func TestLoadEndsASpiderThatLoopsAtItsTop(t *testing.T) {
	t.Parallel()
	fsys := filesystem(map[string]string{"a.lua": "\nwhile true do pcall(function() local x = 1 end) end"})
	_, err := Load(fsys, "a.lua", "spiders/", Options{loadTimeout: 50 * time.Millisecond})
	var e *engine.ScriptError
	if !errors.As(err, &e) || e.Kind != "timeout" || e.File != "spiders/a.lua" || e.Line != 2 {
		t.Fatalf("got %#v", err)
	}
	if !strings.Contains(e.Message, "the top level of the file did not end in time") {
		t.Errorf("got %s", e)
	}
}

// TestPipelineAtItsTop: one that loops is ended, and what a pipeline may do there is what the spider's own file may.
func TestPipelineAtItsTop(t *testing.T) {
	t.Parallel()
	load := func(module string) error {
		fsys := filesystem(map[string]string{
			"a.lua": "return { name = 'a', parse = function() end, pipelines = { { 'm', order = 1 } } }",
			"m.lua": module + "\nreturn { process_item = function(item) return item end }",
		})
		s, err := Load(fsys, "a.lua", "spiders/", Options{loadTimeout: time.Second})
		if err == nil {
			s.Close()
		}
		return err
	}
	for module, want := range map[string]string{
		"\nwhile true do pcall(function() local x = 1 end) end": "spiders/m.lua:2: the top level of the file did not end in time",
		"require('sql').open('sqlite:x.db'):exec('SELECT 1')":   "db:exec at the top level of a file",
		"every('10m', function() end)":                          "",
		"error('boom')":                                         "spiders/m.lua:1: boom",
	} {
		err := load(module)
		if want == "" && err == nil {
			continue
		}
		var e *engine.ScriptError
		if !errors.As(err, &e) || !strings.Contains(e.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", module, err, want)
		}
	}
}

// TestRevision is the same for the same files, and changes with any file that the spider requires.
func TestRevision(t *testing.T) {
	t.Parallel()
	files := func(module string) map[string]string {
		return map[string]string{"a.lua": "local m = require 'lib.m'\n" + goodSpider, "lib/m.lua": module, "other.lua": module}
	}
	revision := func(files map[string]string) string {
		s, err := Load(filesystem(files), "a.lua", "spiders/", Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return s.Revision()
	}
	first := revision(files("return 1"))
	if again := revision(files("return 1")); again != first || len(first) != 12 {
		t.Errorf("revisions %q and %q of the same files", first, again)
	}
	if revision(files("return 2")) == first {
		t.Error("a change of a module leaves the revision as it was")
	}
	unused := files("return 1")
	unused["other.lua"] = "changed"
	if revision(unused) != first {
		t.Error("a file that the spider does not require changes the revision")
	}
}

func TestModulesRunOnceAndAreFoundWithoutBeingRun(t *testing.T) {
	t.Parallel()
	s, err := Load(filesystem(map[string]string{
		"sub/a.lua": `local first = require "lib.count"
local spider = { name = "a" }
local which = "late"
function spider.make_request_from_data(data)
  if data == "again" then emit { n = require("lib.count").n, same = require "lib.count" == first } end
  if data == "literal" then emit { n = require("lazy").n } end
  if data == "computed" then emit { n = require(which).n } end
  if data == "none" then emit { n = require("empty") } end
end
return spider`,
		"sub/lib/count.lua": "loads = (loads or 0) + 1\nreturn { n = loads }",
		"sub/lazy.lua":      "return { n = 'lazy' }",
		"sub/late.lua":      "return { n = 'late' }",
		"sub/empty.lua":     "",
	}), "sub/a.lua", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for seed, want := range map[string]string{"again": `{"n":1,"same":true}`, "literal": `{"n":"lazy"}`, "none": `{"n":true}`} {
		out, err := s.MakeRequests(t.Context(), []byte(seed))
		if err != nil || string(out.Items[0]) != want {
			t.Errorf("%s: got %v, %v, want %s", seed, out, err, want)
		}
	}
	_, err = s.MakeRequests(t.Context(), []byte("computed"))
	if err == nil || !strings.Contains(err.Error(), `module "late" was not loaded with the spider`) {
		t.Errorf("a module by a computed name: %v", err)
	}
}
