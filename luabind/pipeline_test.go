package luabind_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"luacrawl/engine"
	"luacrawl/luabind"
	"luacrawl/luabind/luabindtest"
)

// piped is a spider with pipelines; its modules add their names to the item's field path.
func piped(t *testing.T, pipelines, parse string, more ...string) *luabindtest.Fixture {
	t.Helper()
	module := func(name string) string {
		return `local m = { opened = 0 }
function m.open_spider(spider) m.opened = m.opened + 1 end
function m.process_item(item, spider, id)
  if item.drop == "` + name + `" then drop("by ` + name + `") end
  if item.raise == "` + name + `" then error("by ` + name + `", 0) end
  if item.down == "` + name + `" then unavailable("` + name + `'s database") end
  item.path = (item.path or "") .. "` + name + `" .. m.opened
  item.id = #id == 40 and spider.name or "no id"
  return item
end
return m`
	}
	text := "local spider = { name = 'test', pipelines = { " + pipelines + " } }\nfunction spider.parse(response)\n" + parse + "\nend\n" + strings.Join(more, "\n") + "\nreturn spider\n"
	return luabindtest.Spider(t, luabindtest.Files{luabindtest.Main: text, "a.lua": module("a"), "b.lua": module("b")})
}

func showRoutes(out *engine.Output) string {
	b := show(out)
	for _, r := range out.Routes {
		b += fmt.Sprintf("\nsink %d: item %d kept %d %s%s %s", r.Sink, r.Number, r.Kept, r.Kind, strings.ReplaceAll(r.Key, "\x00", ";"), r.Item)
	}
	return strings.TrimPrefix(b, "\n")
}

func TestPipelines(t *testing.T) {
	t.Parallel()
	const all = `{ "redis", order = 400 }, { "sql", order = 300, dsn = "x" }, { "a", order = 200 }, { "b", order = 350 }, { "feed", order = 500, path = "x" }`
	for name, c := range map[string]struct{ pipelines, parse, want string }{
		"in their order": {all, `emit { n = 1 }`, `item {"id":"test","n":1,"path":"a1b1"}
sink 0: item 0 kept 0  {"id":"test","n":1,"path":"a1"}
sink 1: item 0 kept -1  {"id":"test","n":1,"path":"a1b1"}`},
		"opened once":  {`{ "a", order = 1 }, { "redis", order = 2 }`, `emit { n = 1 } emit { n = 2 }`, "item {\"id\":\"test\",\"n\":1,\"path\":\"a1\"}\nitem {\"id\":\"test\",\"n\":2,\"path\":\"a1\"}"},
		"dropped":      {all, `emit { drop = "a" } emit { n = 2 }`, "item {\"id\":\"test\",\"n\":2,\"path\":\"a1b1\"}\ndropped by a\nsink 0: item 1 kept 0  {\"id\":\"test\",\"n\":2,\"path\":\"a1\"}\nsink 1: item 1 kept -1  {\"id\":\"test\",\"n\":2,\"path\":\"a1b1\"}"},
		"dropped late": {all, `emit { drop = "b" }`, "dropped by b"},
		"after redis":  {`{ "redis", order = 1 }, { "a", order = 2 }`, `emit { drop = "a" }`, "item {\"drop\":\"a\"}\ndropped by a"},
		"raised":       {all, `emit { raise = "b" }`, `failed {"raise":"b"}: b.lua:5: by b`},
		"no redis":     {`{ "feed", order = 1, path = "x" }`, `emit { n = 1 }`, "item {\"n\":1}\nsink 0: item 0 kept 0  {\"n\":1}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := piped(t, c.pipelines, c.parse).Parse("http://site.test/", "")
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(showRoutes(out), "spiders/", ""); !strings.HasPrefix(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestUnavailableEndsTheCall(t *testing.T) {
	t.Parallel()
	for name, parse := range map[string]string{
		"in a pipeline": `emit { n = 1 } emit { down = "a" }`,
		"in pcall":      `pcall(function() emit { down = "a" } end) emit { n = 1 }`,
		"in a callback": `emit { n = 1 } unavailable("a's database")`,
	} {
		_, err := piped(t, `{ "a", order = 200 }, { "redis", order = 300 }`, parse).Parse("http://site.test/", "")
		var down *engine.UnavailableError
		if !errors.As(err, &down) || down.Reason != "a's database" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadPipelines(t *testing.T) {
	t.Parallel()
	for pipelines, want := range map[string]string{
		`pipelines = 1`:                                                         "spider.pipelines is a number; it must be a list",
		`pipelines = { redis = 400 }`:                                           "spider.pipelines has the key redis; it is a list",
		`pipelines = { "redis" }`:                                               "spider.pipelines[1]: it is a string; write { \"redis\", order = 400 }",
		`pipelines = { { order = 1 } }`:                                         "spider.pipelines[1]: it has no name",
		`pipelines = { { "redis" } }`:                                           "spider.pipelines[1]: redis has no order",
		`pipelines = { { "redis", order = "x" } }`:                              "order is a string; it is a number",
		`pipelines = { { "redis", order = 1, key = "x" } }`:                     "redis: unknown option \"key\"; known are order, type and maxlen (the key is the setting items_key)",
		`pipelines = { { "redis", order = 1, type = "streem" } }`:               "redis: type is \"list\" or \"stream\", not \"streem\"",
		`pipelines = { { "redis", order = 1, type = { 1 } } }`:                  "redis: type is \"list\" or \"stream\"",
		`pipelines = { { "redis", order = 1, type = "stream" } }`:               "redis: a stream needs a maxlen",
		`pipelines = { { "redis", order = 1, maxlen = 5 } }`:                    "redis: maxlen is for type = \"stream\"",
		`pipelines = { { "redis", order = 1, type = "stream", maxlen = 0 } }`:   "redis: maxlen is a whole number of items, at least 1, not 0",
		`pipelines = { { "redis", order = 1, type = "stream", maxlen = 1.5 } }`: "redis: maxlen is a whole number of items, at least 1, not 1.5",
		`pipelines = { { "redis", order = 1, type = "stream", maxlen = {} } }`:  "redis: maxlen is a whole number of items",
		`pipelines = { { "redis", order = 1, type = "stream", maxlen = 0/0 } }`: "redis: maxlen is a whole number of items",
		`pipelines = { { "redis", order = 1, type = "list" } }`:                 "",
		`pipelines = { { "sql", order = 1, x = print } }`:                       "x: it is a function",
		`pipelines = { { "redis", order = 1 }, { "sql", order = 1 } }`:          "redis and sql have the same order 1",
		`pipelines = { { "redis", order = 1 }, { "redis", order = 2 } }`:        "names redis twice",
		`pipelines = { { "nosuch", order = 1 } }`:                               "there is no module \"nosuch\"",
		`pipelines = { { "empty", order = 1 } }`:                                "the module has no function process_item",
		`pipelines = { { "list", order = 1 } }`:                                 "",
		`items = { article = 1 }`:                                               "spider.items.article is a number",
		`items = { article = {} }`:                                              "declares 0 fields",
		`items = { article = { title = "strin!" } }`:                            "unknown type \"strin\"; did you mean \"string\"?",
		`items = { article = { title = "string key now" } }`:                    "is no declaration",
		`items = { article = { ["x;drop table y"] = "string" } }`:               "fields have names of letters, digits and _",
		`items = { article = { n = { type = "number", default = "x" } } }`:      "default: \"x\" is no number",
		`items = { article = { n = { type = "number", requird = true } } }`:     "unknown key \"requird\"",
		`items = { article = { n = { type = "number", default = print } } }`:    "default: a function is no number",
		`items = { article = { n = { type = "json", default = {} } } }`:         "spider.items.article.n: default: it is a table; a default is a string, a number, true or false",
		`items = { ["a b"] = { n = "number" } }`:                                "kinds of items have names of letters",
	} {
		files := luabindtest.Files{luabindtest.Main: "return { name = 'x', parse = function() end, " + pipelines + " }", "empty.lua": "return {}", "list.lua": "return { process_item = function(i) return i end }"}
		_, err := luabindtest.Load(files, luabind.Options{})
		if want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", pipelines, err, want)
		}
	}
}

func TestItemStream(t *testing.T) {
	t.Parallel()
	for pipelines, want := range map[string]int64{
		``:                0,
		`pipelines = {},`: 0,
		`pipelines = { { "redis", order = 1 } },`:                                 0,
		`pipelines = { { "redis", order = 1, type = "stream", maxlen = 5000 } },`: 5000,
	} {
		files := luabindtest.Files{luabindtest.Main: "return { name = 'x', " + pipelines + " parse = function() end }"}
		spider, err := luabindtest.Load(files, luabind.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := spider.ItemStream(); got != want {
			t.Errorf("%q: a stream of %d, want %d", pipelines, got, want)
		}
	}
}

// TestTooMuchDeclared is refused while it is read.
func TestTooMuchDeclared(t *testing.T) {
	t.Parallel()
	for make, want := range map[string]string{
		`for i = 1, 51 do s.pipelines = s.pipelines or {} s.pipelines[i] = { "sql", order = i, dsn = "x" } end`:                                 "spider.pipelines has more than 50 pipelines",
		`local t = {} for i = 1, 200 do t[i] = i end local u = {} for i = 1, 200 do u[i] = t end s.pipelines = { { "sql", order = 1, x = u } }`: "x: the pipelines have more than 10000 options in all",
		`s.items = {} for i = 1, 101 do s.items["k" .. i] = { n = "number" } end`:                                                               "spider.items declares more than 100 kinds",
		`s.items = { k = {} } for i = 1, 501 do s.items.k["f" .. i] = "number" end`:                                                             "spider.items.k declares more than 500 fields",
	} {
		_, err := luabindtest.Load(luabindtest.Files{luabindtest.Main: "local s = { name = 'x', parse = function() end }\n" + make + "\nreturn s"}, luabind.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", make, err, want)
		}
	}
}

func TestDeclaredItems(t *testing.T) {
	t.Parallel()
	const declared = `spider.items = { article = { url = "string! key", title = "string!", price = "number", n = "integer", ok = "boolean", seen = "time", tags = "json", lang = { type = "string", default = "en" } } }
function spider.process_item(item) if item.late then item.late = nil item.title = "late" end return item end`
	for name, c := range map[string]struct{ parse, want string }{
		"whole": {`emit(items.article { url = "u", title = "t", price = "1.5", n = "3", ok = "yes", seen = 0, tags = { "a" } })`,
			`item {"lang":"en","n":3,"ok":true,"price":1.5,"seen":"1970-01-01T00:00:00Z","tags":["a"],"title":"t","url":"u"}`},
		"time as text":      {`emit(items.article { url = "u", title = "t", seen = "2026-01-31 12:00" })`, `item {"lang":"en","seen":"2026-01-31T12:00:00Z","title":"t","url":"u"}`},
		"number as string":  {`emit(items.article { url = 1, title = 2 })`, `item {"lang":"en","title":"2","url":"1"}`},
		"null":              {`emit(items.article { url = "u", title = "t", price = require("json").null })`, `item {"lang":"en","price":null,"title":"t","url":"u"}`},
		"without":           {`emit { free = 1 }`, `item {"free":1}`},
		"19 digits":         {`emit(items.article { url = "u", title = "t", n = " 9223372036854775807" })`, `item {"lang":"en","n":"9223372036854775807","title":"t","url":"u"}`},
		"2^53 + 1":          {`emit(items.article { url = "u", title = "t", n = "-9007199254740993" })`, `item {"lang":"en","n":"-9007199254740993","title":"t","url":"u"}`},
		"2^53 - 1":          {`emit(items.article { url = "u", title = "t", n = "+9007199254740991" })`, `item {"lang":"en","n":9007199254740991,"title":"t","url":"u"}`},
		"missing":           {`emit(items.article { url = "u" })`, `failed {"url":"u"}: spiders/spider.lua`},
		"missing key":       {`emit(items.article { title = "u" })`, `failed {"title":"u"}: spiders/spider.lua`},
		"field set later":   {`local i = items.article { url = "u" } i.title = "t" emit(i)`, `item {"lang":"en","title":"t","url":"u"}`},
		"unknown set later": {`local i = items.article { url = "u", title = "t" } i.titel = "t" emit(i)`, `failed {"titel":"t","title":"t","url":"u"}: spiders/spider.lua`},
		"bad set later":     {`local i = items.article { url = "u", title = "t" } i.price = "cheap" emit(i)`, `failed {"price":"cheap","title":"t","url":"u"}: spiders/spider.lua`},
	} {
		out, err := spider(t, c.parse, declared).Parse("http://site.test/", "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := show(out); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\ngot  %s\nwant %s", name, got, c.want)
		}
	}
	for parse, want := range map[string]string{
		`emit(items.artcle { })`:                            `items.artcle: spider.items declares no such kind; did you mean "article"?`,
		`emit(items.article { titel = "x" })`:               `item article has no field "titel"; did you mean "title"?`,
		`emit(items.article { price = "cheap" })`:           `item article, field price: "cheap" is no number`,
		`emit(items.article { n = 1.5 })`:                   `field n: 1.5 is no whole number`,
		`emit(items.article { n = "9223372036854775808" })`: `field n: "9223372036854775808" is no whole number of 64 bits`,
		`emit(items.article { n = "1.5" })`:                 `field n: 1.5 is no whole number`,
		`emit(items.article { n = 9007199254740993 })`:      `field n: 9007199254740992 may have lost digits, as Lua's numbers do from 2^53 on; give it as a string`,
		`emit(items.article { ok = 7 })`:                    `field ok: a number is neither true nor false`,
		`emit(items.article { seen = "someday" })`:          `field seen: `,
		`emit(items.article { title = {} })`:                `field title: a table is no string`,
		`emit(items.article { "x" })`:                       `item article has no field "1"`,
	} {
		_, err := spider(t, parse, declared).Parse("http://site.test/", "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", parse, err, want)
		}
	}
	out, err := spider(t, `emit(items.article { url = "u", title = "t" }) emit(items.article { url = "v", title = "t", price = 1 })`, declared).Parse("http://site.test/", "")
	if err != nil || out.Stats["items/article"] != 2 || out.Stats["items/article/title"] != 2 || out.Stats["items/article/price"] != 1 {
		t.Errorf("fill counts %v, %v", out.Stats, err)
	}
	if out.About[1].Kind != "article" || !strings.Contains(out.About[1].Key, `url="v"`) {
		t.Errorf("about %+v", out.About)
	}
}
