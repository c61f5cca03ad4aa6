package luabind_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"luacrawl/luabind"
	"luacrawl/luabind/luabindtest"
)

// checked are the findings of a spider, one a line.
func checked(f luabindtest.Files) string {
	var lines []string
	for _, finding := range luabind.Check(f.FS(), luabindtest.Main, "spiders/", luabind.Options{}).Findings {
		lines = append(lines, finding.String())
	}
	return strings.Join(lines, "\n")
}

// TestCheck pins what a person reads of each kind of mistake. The callback's body begins on line 4.
func TestCheck(t *testing.T) {
	t.Parallel()
	body := func(lua string) luabindtest.Files {
		return luabindtest.Files{luabindtest.Main: "local spider = { name = 'a' }\nfunction spider.other() end\nfunction spider.parse(response)\n" + lua + "\nend\nreturn spider\n"}
	}
	file := func(lua string) luabindtest.Files { return luabindtest.Files{luabindtest.Main: lua} }
	for name, c := range map[string]struct {
		files luabindtest.Files
		want  string
	}{
		"good":                 {body("local x = 1\nfor i, v in ipairs({ x }) do log(i, v) end\nemit(response:follow('/', 'other'))"), ""},
		"syntax":               {body("local = 2"), `spiders/spider.lua:4: syntax error near "="`},
		"raises":               {file("local x\nx.y = 1"), `spiders/spider.lua:2: attempt to index a non-table object(nil) with key 'y'`},
		"callback":             {body("emit(request { url = 'http://x.test/',\n callback = 'othr' })"), `spiders/spider.lua:5: callback "othr" is no function of the spider; did you mean "other"?`},
		"errback":              {body("emit(request { url = 'http://x.test/', errback = 'oher' })"), `spiders/spider.lua:4: errback "oher" is no function of the spider; did you mean "other"?`},
		"follow":               {body("emit(response:follow('/', 'pars'))"), `spiders/spider.lua:4: callback "pars" is no function of the spider; did you mean "parse"?`},
		"follow options":       {body("emit(response:follow('/', { callback = 'parse', errback = 'zzzzzz' }))"), `spiders/spider.lua:4: errback "zzzzzz" is no function of the spider; it has ["other" "parse"]`},
		"follow_all":           {body("emit(response:follow_all(response:links(), 'pars'))"), `spiders/spider.lua:4: callback "pars" is no function of the spider; did you mean "parse"?`},
		"replace":              {body("emit(response.request:replace { callback = 'pars' })"), `spiders/spider.lua:4: callback "pars" is no function of the spider; did you mean "parse"?`},
		"hook as callback":     {file("return { name = 'a', parse = function(r) emit(r:follow('/', 'process_item')) end, process_item = function(i) return i end }"), `spiders/spider.lua:1: callback "process_item" is no function of the spider; it has ["parse"]`},
		"in a module":          {luabindtest.Files{luabindtest.Main: "local m = require 'm'\nreturn { name = 'a', parse = m }", "m.lua": "return function(r)\n emit(r:follow('/', 'prse'))\n emitt {} end"}, "spiders/m.lua:2: callback \"prse\" is no function of the spider; did you mean \"parse\"?\nspiders/m.lua:3: undefined global \"emitt\"; did you mean \"emit\"?"},
		"callback by a module": {luabindtest.Files{luabindtest.Main: "local s = { name = 'a' }\nrequire('m')(s)\nfunction s.parse(r) emit(r:follow('/', 'made')) end\nreturn s", "m.lua": "return function(s) s['ma' .. 'de'] = function() end end"}, ""},
		"own request":          {body("local function request(t) return t end\nrequest { callback = 'whatever' }"), ""},
		"computed callback":    {body("emit(response:follow('/', 'o' .. 'ther'))"), ""},
		"an item":              {body("emit { callback = 'whatever', a = 1 }"), ""},
		"global":               {body("emitt { a = 1 }"), `spiders/spider.lua:4: undefined global "emitt"; did you mean "emit"?`},
		"near a local":         {body("emit { a = respons.url }"), `spiders/spider.lua:4: undefined global "respons"; did you mean "response"?`},
		"near nothing":         {body("zzzzzzzzzz()"), `spiders/spider.lua:4: undefined global "zzzzzzzzzz"; nothing sets it, here or in the modules that are required`},
		"a module's name":      {body("json.decode('1')"), `spiders/spider.lua:4: undefined global "json"; it is a module: local json = require "json"`},
		"not in the sandbox":   {body("io.open('x')"), `spiders/spider.lua:4: undefined global "io": spiders do not have this part of Lua, nor another way to files, processes and the compiler`},
		"library":              {body("string.fnd('x') os.getenv('x')"), "spiders/spider.lua:4: undefined function string.fnd; did you mean \"string.find\"?\nspiders/spider.lua:4: undefined function os.getenv; spiders have clock, date, difftime, time"},
		"out of scope":         {body("do local x = 1 end\nemit { a = x }"), `spiders/spider.lua:5: undefined global "x"; nothing sets it, here or in the modules that are required`},
		"before its local":     {body("local x = x"), `spiders/spider.lua:4: undefined global "x"; nothing sets it, here or in the modules that are required`},
		"scopes": {body(`local function f(a, ...) return f(a), ... end
local g = function() return g end
repeat local done = true until done
for i = 1, 3 do local j = i end
for k, v in pairs({}) do f(k, v, g) end
while response do break end
local o = {} function o:m() return self, -1, not self, #"", 1 + 2 .. "" end
if o then f() elseif g then f() else f() end
counter = (counter or 0) + 1
_G.named = 1 log(named)
function string.shout(s) return s:upper() end
log(string.shout("x"))
goto out
::out::`), ""},
		"unknown field": {file("local spider = {\n  name = 'a',\n  alowed_domains = { 'x' },\n}\nspider.stat_urls = {}\nfunction spider.parse() end\nreturn spider"),
			"spiders/spider.lua:3: unknown field \"alowed_domains\" in the spider's table; did you mean \"allowed_domains\"?\nspiders/spider.lua:5: unknown field \"stat_urls\" in the spider's table; did you mean \"start_urls\"?"},
		"returned as it stands": {file("return {\n  name = 'a',\n  alowed_domains = {} }"), `spiders/spider.lua:3: unknown field "alowed_domains" in the spider's table; did you mean "allowed_domains"?`},
		"wrong field":           {file("local s = {}\ns.name = 'a'\ns.allowed_domains = 'x'\nreturn s"), `spiders/spider.lua:3: spider.allowed_domains is a string; it must be a list of strings: allowed_domains = { "..." }`},
		"no name":               {file("return {}"), `spiders/spider.lua: the spider has no name; give it one: name = "news" (its keys in Redis begin with it)`},
		"settings": {file("local s = {\n name = 'a',\n settings = {\n  retry_tims = 1,\n  lease = 'soon',\n  robotstxt_obey = true } }\ns.settings.depth_limit = -1\nfunction s.parse() end\nreturn s"),
			"spiders/spider.lua:4: unknown setting \"retry_tims\": did you mean \"retry_times\"?\nspiders/spider.lua:5: setting lease: want a number, got \"soon\"\n" +
				"spiders/spider.lua:7: setting depth_limit: want a whole number from 0 to 2147483647, got -1"},
		"settings in one piece": {file("local s = { name = 'a' }\ns.settings = { retry_tims = 1 }\nfunction s.parse() end\nreturn s"), `spiders/spider.lua:2: unknown setting "retry_tims": did you mean "retry_times"?`},
		"all at once": {file("local s = { name = 'a',\n nam = 'b', settings = { leas = 1 } }\nfunction s.parse(r)\n emit(r:follow('/', 'x_x_x')) prnt()\nend\nreturn s"),
			"spiders/spider.lua:2: unknown field \"nam\" in the spider's table; did you mean \"name\"?\nspiders/spider.lua:2: unknown setting \"leas\": did you mean \"lease\"?\n" +
				"spiders/spider.lua:4: callback \"x_x_x\" is no function of the spider; it has [\"parse\"]\nspiders/spider.lua:4: undefined global \"prnt\"; did you mean \"print\"?"},
		"declared items":       {file("local s = { name = 'a', items = { a = { n = 'number' } } }\nfunction s.parse() emit(items.a { n = 1 }) unavailable('x') end\nreturn s"), ""},
		"badly declared items": {file("local s = { name = 'a', items = { a = { n = 'numbr' } } }\nfunction s.parse() emit(items.a { n = 1 }) end\nreturn s"), `spiders/spider.lua:1: spider.items.a.n: unknown type "numbr"; did you mean "number"?`},
		"in a pipeline": {luabindtest.Files{luabindtest.Main: "return { name = 'a', parse = function() end, pipelines = { { 'm', order = 1 }, { 'redis', order = 2 } } }", "m.lua": "return { process_item = function(item)\n drp('x') end }"},
			`spiders/m.lua:2: undefined global "drp"; did you mean "drop"?`},
		"no such pipeline": {file("return { name = 'a', parse = function() end, pipelines = { { 'm', order = 1 } } }"), `spiders/spider.lua: require: there is no module "m": neither the file spiders/m.lua nor one of the built-in [hash json re sql text time url]`},
		"missing":          {luabindtest.Files{}, `spiders/spider.lua: there is no such file`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, checked(c.files)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheckOfOurSpiders finds nothing in what we ship.
func TestCheckOfOurSpiders(t *testing.T) {
	t.Parallel()
	var spiders []string
	for _, pattern := range []string{"../spiders/*.lua", "../examples/*/*.lua", "../cli/testdata/spiders/*.lua"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		spiders = append(spiders, found...)
	}
	for _, path := range spiders {
		dir, main := filepath.Split(path)
		c := luabind.Check(os.DirFS(dir), main, dir, luabind.Options{})
		if len(c.Findings) > 0 || c.Name == "" || len(c.Revision) != 12 {
			t.Errorf("%s: %+v", path, c)
		}
	}
}
