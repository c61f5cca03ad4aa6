package luabind_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/luabind"
	"luacrawl/luabind/luabindtest"
	"luacrawl/scheduler"
)

// spider is a spider with the given body of parse(response, kwargs) and more functions.
func spider(t *testing.T, parse string, more ...string) *luabindtest.Fixture {
	t.Helper()
	text := "local spider = { name = 'test' }\nfunction spider.parse(response, kwargs)\n" + parse + "\nend\n" +
		"function spider.other() end\n" + strings.Join(more, "\n") + "\nreturn spider\n"
	return luabindtest.Spider(t, luabindtest.Files{luabindtest.Main: text})
}

// show writes an Output on few lines.
func show(out *engine.Output) string {
	var b strings.Builder
	for _, i := range out.Items {
		fmt.Fprintf(&b, "item %s\n", i)
	}
	for _, r := range out.Requests {
		fmt.Fprintf(&b, "%s %s %s%s%s\n", r.Method, r.URL, r.Callback, r.Meta, r.CbKwargs)
	}
	for _, d := range out.Dropped {
		fmt.Fprintf(&b, "dropped %s\n", d.Reason)
	}
	for _, f := range out.Failed {
		fmt.Fprintf(&b, "failed %s: %v\n", f.Item, f.Err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestEmit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ parse, want string }{
		"nothing":        {``, ``},
		"item":           {`emit { b = 1, a = "x&<>" }`, `item {"a":"x&<>","b":1}`},
		"items keep":     {`local i = {} for n = 1, 2 do i.n = n emit(i) end`, "item {\"n\":1}\nitem {\"n\":2}"},
		"request":        {`emit(request { url = "http://x.test/a" })`, ` http://x.test/a `},
		"list":           {`emit { request { url = "http://x.test/a" }, request { url = "http://x.test/b", callback = "other" } }`, " http://x.test/a \n http://x.test/b other"},
		"by function":    {`emit(request { url = "http://x.test/", callback = spider.other })`, ` http://x.test/ other`},
		"meta":           {`local r = request { url = "http://x.test/", meta = { a = 1 }, cb_kwargs = { p = 2 } } r.meta.b = r.cb_kwargs.p emit(r)`, ` http://x.test/ {"a":1,"b":2}{"p":2}`},
		"meta is copied": {`local m = { a = 1 } emit(request { url = "http://x.test/", meta = m }) m.a = 2`, ` http://x.test/ {"a":1}`},
		"emitted twice":  {`local r = request { url = "http://x.test/", meta = { a = 1 } } emit(r) r.meta.a = 2 emit(r)`, " http://x.test/ {\"a\":1}\n http://x.test/ {\"a\":2}"},
		"the page's own": {`emit(response.request)`, ` http://site.test/ {"page":7}`},
		"kwargs":         {`emit { page = kwargs.page or "none" }`, `item {"page":7}`},
		"in coroutine":   {`coroutine.wrap(function() emit { a = 1 } end)()`, `item {"a":1}`},
		"in pcall":       {`pcall(function() emit { a = 1 } error("x") end)`, `item {"a":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &scheduler.Request{URL: "http://site.test/", CbKwargs: json.RawMessage(`{"page":7}`)}
			out, err := spider(t, c.parse).Callback(r, "")
			if err != nil {
				t.Fatal(err)
			}
			if got := show(out); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if len(out.Revision) != 12 || (len(out.Requests) > 0 && out.Requests[0].Revision != out.Revision) {
				t.Errorf("revision %q", out.Revision)
			}
		})
	}
}

// TestMistakes pins the errors of callbacks; parse's first line is line 3 of the file.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for parse, want := range map[string]string{
		`emit {}`:               `3: emit: the table is empty; an item needs fields`,
		`emit(nil)`:             `3: emit takes a request, an item (a table with named fields) or a list of requests, got nil`,
		`emit { 1, 2 }`:         `3: emit: the table is a list of number; an item has named fields`,
		`emit { f = print }`:    `3: emit: item.f`,
		`emit { a = 0 / 0 }`:    `3: emit: item.a`,
		`drop("x")`:             `3: drop is for process_item`,
		`return { a = 1 }`:      `2: parse returned a table; emit(...) what it finds instead of returning it`,
		`error("boom")`:         `3: boom`,
		`error("boom", 0)`:      `3: boom`,
		`error(("x"):rep(1e6))`: `x... (1000022 bytes)`,
		`request { url = "http://x.test/" .. ("x"):rep(9000) }`: `3: request: url has 9014 bytes; a URL may have 8192`,
		`error(nil)`:          `3: an error without a message`,
		"local x\n x.y.z = 1": `4: attempt to index`,
		`emit(request { url = "http://x.test/", callback = "pars" })`:                               `3: callback "pars" is no function of the spider; did you mean "parse"?`,
		`emit(request { url = "http://x.test/", callback = "zzzzzzzz" })`:                           `3: callback "zzzzzzzz" is no function of the spider; it has ["other" "parse"]`,
		`emit(request { url = "http://x.test/", errback = "othr" })`:                                `3: errback "othr" is no function of the spider; did you mean "other"?`,
		`emit { request { url = "http://x.test/" }, { a = 1 } }`:                                    `3: emit: the list holds a table at 2; every value of the list must be a request`,
		`emit { request { url = "http://x.test/" }, a = 1 }`:                                        `3: emit: the list holds a number at a`,
		`request { url = "http://x.test/", callback = function() end }`:                             `3: request: callback is a function that is no field of the spider`,
		`request { url = "/x" }`:                                                                    `3: request: url "/x" is not an absolute http or https URL`,
		`request { url = "ftp://x.test/" }`:                                                         `is not an absolute http or https URL`,
		`request { callback = "parse" }`:                                                            `3: request: url is missing`,
		`request("http://x.test/")`:                                                                 `3: request takes a table`,
		`request { "http://x.test/" }`:                                                              `3: request takes named fields only, got the key 1`,
		`request { url = "http://x.test/", metod = "POST" }`:                                        `3: request: unknown field "metod"; did you mean "method"?`,
		`request { url = "http://x.test/", referer = "x" }`:                                         `data of your own belongs in meta`,
		`request { url = "http://x.test/", method = "A B" }`:                                        `3: request: method "A B" is not an HTTP method`,
		`request { url = "http://x.test/", headers = { a = "b\r\nc: d" } }`:                         `3: request: headers has "a": "b\r\nc: d", which cannot be sent as a header`,
		`request { url = "http://x.test/", cookies = { a = "b; c" } }`:                              `3: request: cookies has a cookie that is none: cookie "a": ";" in name or value`,
		`request { url = "http://x.test/", cookies = { { name = " ", value = "b" } } }`:             `3: request: cookies has a cookie that is none: a cookie without a name`,
		`request { url = "http://x.test/", cookies = { [""] = "b" } }`:                              `3: request: cookies has a cookie that is none: a cookie without a name`,
		`request { url = "http://x.test/", cookies = { { name = "", value = "b", path = "/" } } }`:  `3: request: cookies has a cookie that is none: a cookie without a name`,
		`request { url = "http://x.test/", cookies = "a=b" }`:                                       `3: request: cookies is a string; it must be a table of names and values, or a list`,
		`request { url = "http://x.test/", cookies = { a = true } }`:                                `3: request: cookies has a boolean for "a"; it must be a string`,
		`request { url = "http://x.test/", cookies = { { name = "a" } } }`:                          `3: request: cookies has at 1 of the list a cookie that needs name and value`,
		`request { url = "http://x.test/", cookies = { { name = "a", valeu = "1" } } }`:             `3: request: cookies has at 1 of the list a cookie that has the unknown field "valeu"; known are name, value, domain, path, secure`,
		`request { url = "http://x.test/", cookies = { { name = "a", value = "1", secure = 1 } } }`: `3: request: cookies has at 1 of the list a cookie that has a number as secure; it must be true or false`,
		`request { url = "http://x.test/", cookies = { { name = "a", value = "1" }, "b=2" } }`:      `3: request: cookies has a string at 2 of the list; it must be a table with name and value`,
		`request { url = "http://x.test/", body = {} }`:                                             `3: request: body is a table; it must be a string`,
		`request { url = "http://x.test/", priority = 1.5 }`:                                        `3: request: priority is 1.5; it must be a whole number`,
		`request { url = "http://x.test/", dont_filter = 1 }`:                                       `3: request: dont_filter is a number; it must be true or false`,
		`request { url = "http://x.test/", not_before = -1 }`:                                       `3: request: not_before is -1; it must be a time in Unix seconds`,
		`request { url = "http://x.test/", slot = 5 }`:                                              `3: request: slot is a number; it must be a string`,
		`request { url = "http://x.test/", slot = "http://y.test/" }`:                               `3: request: slot is none: "http://y.test/" is a URL: write the host alone, "y.test"`,
		`request { url = "http://x.test/" }.priority = 2`:                                           `3: a request cannot be changed; make another with request:replace { priority = ... }`,
		`local x = request { url = "http://x.test/" }.zzz`:                                          `3: a request has no field "zzz"`,
		`emit(request { url = "http://x.test/", meta = { 1 } })`:                                    `3: request http://x.test/: meta is a list; it must have names`,
		`emit(request { url = "http://x.test/", meta = { f = print } })`:                            `3: request http://x.test/: meta.f`,
		`require("computed" .. "name")`:                                                             `3: require: module "computedname" was not loaded with the spider`,
		`local function deep() return 1 + deep() end deep()`:                                        `3: lua callstack overflow`,
		`local function deep() local ok, e = pcall(deep) if not ok then error(e, 0) end end deep()`: `3: more than 100 protected calls or coroutines inside each other`,
		`local function deep() coroutine.wrap(deep)() end deep()`:                                   `3: more than 100 protected calls or coroutines inside each other`,
	} {
		t.Run(parse, func(t *testing.T) {
			t.Parallel()
			_, err := spider(t, parse).Parse("http://site.test/", "")
			var e *engine.ScriptError
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a *engine.ScriptError", err)
			}
			if e.Kind != "error" || e.File != "spiders/spider.lua" || !strings.Contains(e.Error(), want) {
				t.Errorf("got  %s %s\nwant %s", e.Kind, e, want)
			}
		})
	}
}

func TestProcessItem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ process, want string }{
		"changed":       {`item.b = 2 return item`, `item {"a":1,"b":2}`},
		"another":       {`return { c = item.a }`, `item {"c":1}`},
		"dropped":       {`drop("no title")`, `dropped no title`},
		"no reason":     {`drop()`, `dropped no reason given`},
		"drop in pcall": {`pcall(drop, "why") pcall(function() drop("why") end) return item`, `dropped why`},
		"drop in xpcall": {`xpcall(function() drop("why") end, function(e) return "handled" end) return item`,
			`dropped why`},
		"drop in coroutine": {`coroutine.resume(coroutine.create(function() drop("why") end)) return item`, `dropped why`},
		"drop in wrap":      {`coroutine.wrap(function() pcall(function() drop("why") end) end)() return item`, `dropped why`},
		"drop in handler":   {`xpcall(error, function() drop("why") end) return item`, `dropped why`},
		"drop in sort":      {`table.sort({ 3, 2, 1 }, function() drop("why") end) return item`, `dropped why`},
		"nothing":           {`item.b = 5`, `failed {"a":1}: spiders/spider.lua:6: process_item returned nothing; return the item, or drop("why")`},
		"a string":          {`return "x"`, `failed {"a":1}: spiders/spider.lua:6: process_item returned a string; return the item, or drop("why")`},
		"raises":            {"\nlocal x\nx.y = 1", `failed {"a":1}: spiders/spider.lua:9: attempt to index`},
		"not JSON":          {`item.f = print return item`, `failed {"a":1}: spiders/spider.lua:6: process_item: item.f`},
		"emits request":     {`emit(request { url = "http://x.test/" }) return item`, "item {\"a\":1}\n http://x.test/ "},
		"raises after":      {`emit(request { url = "http://x.test/" }) error("x", 0)`, `failed {"a":1}: spiders/spider.lua:7: x`},
		"emits item":        {`emit { b = 1 } return item`, `failed {"a":1}: spiders/spider.lua:7: emit: process_item cannot emit another item`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := spider(t, `emit { a = 1 }`, "function spider.process_item(item)\n"+c.process+"\nend")
			out, err := s.Parse("http://site.test/", "")
			if err != nil {
				t.Fatal(err)
			}
			if got := show(out); !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestErrback(t *testing.T) {
	t.Parallel()
	s := spider(t, "", `function spider.failed(f)
  emit { url = f.request.url, reason = f.reason, message = f.message, page = f.response ~= nil, depth = f.request.depth }
end`)
	f := &engine.Failure{Request: &scheduler.Request{URL: "http://x.test/", Errback: "failed", Depth: 3}, Reason: "timeout", Message: "too slow"}
	out, err := s.Errback(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := show(out), `item {"depth":3,"message":"too slow","page":false,"reason":"timeout","url":"http://x.test/"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCallbackTimeout(t *testing.T) {
	t.Parallel()
	for _, parse := range []string{
		`while true do end`,
		`while true do pcall(function() while true do end end) end`,
		`coroutine.wrap(function() while true do end end)()`,
		`local function f() pcall(f) return f() end f()`,
		`while true do xpcall(function() while true do end end, function() while true do end end) end`,
	} {
		t.Run(parse, func(t *testing.T) {
			t.Parallel()
			s := spider(t, "if kwargs.quick then emit { fine = true } return end\n"+parse)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			page := luabindtest.Response(&scheduler.Request{URL: "http://x.test/"}, "")
			_, err := s.Spider.Parse(ctx, page)
			var e *engine.ScriptError
			if !errors.As(err, &e) || e.Kind != "timeout" || e.Line != 4 || !strings.Contains(e.Message, "callback_timeout") {
				t.Errorf("got %#v", err)
			}
			out, err := s.Callback(&scheduler.Request{URL: "http://x.test/", CbKwargs: []byte(`{"quick":true}`)}, "")
			if err != nil || len(out.Items) != 1 {
				t.Errorf("the call after a timeout: %v, %v", out, err)
			}
		})
	}
}

// TestCancelIsNoMistake: a shutdown is not the script's fault.
func TestCancelIsNoMistake(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	s := spider(t, `while true do end`)
	_, err := s.Spider.Parse(ctx, luabindtest.Response(&scheduler.Request{URL: "http://x.test/"}, ""))
	var e *engine.ScriptError
	if !errors.Is(err, context.Canceled) || errors.As(err, &e) {
		t.Errorf("got %#v", err)
	}
	if _, err := s.Spider.Parse(ctx, luabindtest.Response(&scheduler.Request{URL: "http://x.test/"}, "")); !errors.Is(err, context.Canceled) {
		t.Errorf("a call after the end: %v", err)
	}
}

func TestManyGoroutines(t *testing.T) {
	t.Parallel()
	s := spider(t, `local n = 0 for i = 1, 50 do n = n + i end emit { n = n, page = kwargs.page }`)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				r := &scheduler.Request{URL: "http://x.test/", CbKwargs: fmt.Appendf(nil, `{"page":%d}`, i)}
				out, err := s.Callback(r, "")
				if want := fmt.Sprintf(`{"n":1275,"page":%d}`, i); err != nil || string(out.Items[0]) != want {
					t.Errorf("got %v, %v, want %s", out, err, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestUnknownCallback(t *testing.T) {
	t.Parallel()
	s := spider(t, "", "function spider.process_item(i) return i end")
	for name, want := range map[string]bool{"parse": true, "other": true, "process_item": false, "name": false, "nope": false} {
		if got, _ := s.HasCallback(t.Context(), name, ""); got != want {
			t.Errorf("HasCallback(%q) is %v", name, got)
		}
	}
	_, err := s.Callback(&scheduler.Request{URL: "http://x.test/", Callback: "othr"}, "")
	if err == nil || !strings.Contains(err.Error(), `callback "othr" is no function of the spider; did you mean "other"?`) {
		t.Errorf("got %v", err)
	}
}

func TestDefinition(t *testing.T) {
	t.Parallel()
	s := luabindtest.SpiderWith(t, luabindtest.Files{luabindtest.Main: `
local spider = { name = "a-b_c.d", allowed_domains = { "X.Test", "y.test" }, start_urls = { "http://x.test/" },
  settings = { download_delay = 0.5, user_agent = "x", robotstxt_obey = false, handle_httpstatus_list = { 404, 500 } },
  args = { base = "http://default.test/", depth = 3 } }
function spider.parse() emit { base = spider.args.base, depth = spider.args.depth, more = spider.args.more } end
return spider`}, luabind.Options{Args: map[string]string{"base": "http://given.test/", "more": "yes"}})
	if got := fmt.Sprintf("%s %s %s %v", s.Name(), s.AllowedDomains(), s.StartURLs(), s.Settings()); got != "a-b_c.d [x.test y.test] [http://x.test/] map[download_delay:0.5 handle_httpstatus_list:[404 500] robotstxt_obey:false user_agent:x]" {
		t.Errorf("got %s", got)
	}
	out, err := s.Parse("http://x.test/", "")
	if err != nil || string(out.Items[0]) != `{"base":"http://given.test/","depth":3,"more":"yes"}` {
		t.Errorf("args: %v, %v", out, err)
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	s := luabindtest.SpiderWith(t, luabindtest.Files{luabindtest.Main: `local spider = { name = "a" }
function spider.parse()
  log("hello", { n = 1 })
  log.warn("careful") log.debug("d") log.error("e", { t = { 1, 2 } })
  print("a", 5, nil)
end
return spider`}, luabind.Options{Logger: logger})
	if _, err := s.Parse("http://x.test/", ""); err != nil {
		t.Fatal(err)
	}
	want := `level=INFO msg=hello at=spiders/spider.lua:3 n=1
level=WARN msg=careful at=spiders/spider.lua:4
level=DEBUG msg=d at=spiders/spider.lua:4
level=ERROR msg=e at=spiders/spider.lua:4 t=[1,2]
level=INFO msg="a\t5\tnil" at=spiders/spider.lua:5
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
