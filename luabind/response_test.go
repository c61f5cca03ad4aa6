package luabind

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// runPage runs a script that has the response of a page as its argument, and returns what the script returns as JSON.
func runPage(t testing.TB, r *engine.Response, script string) (string, error) {
	t.Helper()
	v := newTestVM()
	defer v.L.Close()
	fn, err := v.L.Load(strings.NewReader("local response = ...\n"+script), "spider.lua")
	if err != nil {
		t.Fatal(err)
	}
	v.L.Push(fn)
	v.L.Push(v.newResponse(r))
	if err := v.L.PCall(1, 1, nil); err != nil {
		return "", err
	}
	b, err := appendJSON(nil, "item", v.L.Get(-1))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), nil
}

func newTestVM() *vm { return &vm{L: lua.NewState()} }

const bindPage = `<!doctype html><html><head><title>News</title></head><body>
<h1>First</h1><h1>Second</h1>
<article><h2>A</h2><a href="/a.html#x">a</a></article>
<article><h2>B</h2><a href="/b.html">b</a><a href="http://else/c.pdf">c</a></article>
</body></html>`

func bindResponse() *engine.Response {
	return &engine.Response{
		URL:    "http://h/dir/p.html",
		Status: 200,
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}, "Set-Cookie": {"a=1", "b=2"}},
		Body:   []byte(bindPage),
		Request: &scheduler.Request{
			URL: "http://h/dir/p.html", Meta: json.RawMessage(`{"page":3}`), CbKwargs: json.RawMessage(`{"k":"v"}`),
		},
	}
}

func TestResponseInLua(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ script, want string }{
		{`return {response.url, response.status, response.encoding}`, `["http://h/dir/p.html",200,"utf-8"]`},
		{`return {#response.body, #response.text, response.text == response.body}`, `[` + itoa(len(bindPage)) + `,` + itoa(len(bindPage)) + `,true]`},
		{`return tostring(response)`, `"<200 http://h/dir/p.html>"`},
		{`return {response.headers["Content-Type"], response.headers["content-type"], response.headers.nope == nil}`,
			`["text/html; charset=utf-8","text/html; charset=utf-8",true]`},
		{`return response.headers:getall("set-cookie")`, `["a=1","b=2"]`},
		{`return response.headers`, `{"content-type":"text/html; charset=utf-8","set-cookie":"a=1"}`},
		{`return #response.headers:getall("nope")`, `0`},
		{`return {response.meta.page, response.cb_kwargs.k}`, `[3,"v"]`},
		{`response.meta.page = 4; return response.meta.page`, `4`},
		{`return rawequal(response.headers, response.headers)`, `true`},
		{`return response:css("title"):text()`, `"News"`},
		{`return response:css("h1"):text()`, `"First"`},
		{`return response:css("h1::text"):getall()`, `["First","Second"]`},
		{`return response:css("h1"):getall()`, `["<h1>First</h1>","<h1>Second</h1>"]`},
		{`return response:css("h1"):get()`, `"<h1>First</h1>"`},
		{`return {response:css("h3"):get("none"), response:css("h3"):get() == nil, response:css("h3"):text()}`, `["none",true,""]`},
		{`return {#response:css("a[href]"), #response:css("h3")}`, `[3,0]`},
		{`return {response:css("a"):attr("href"), response:css("a"):attr("id") == nil, response:css("h3"):attr("id") == nil}`,
			`["/a.html#x",true,true]`},
		{`local t = {} for card in response:css("article"):each() do
			t[#t+1] = card:css("h2::text"):get() .. response:urljoin(card:css("a::attr(href)"):get()) end return t`,
			`["Ahttp://h/a.html#x","Bhttp://h/b.html"]`},
		{`local t = {} for a in response:css("a"):each() do for b in response:css("h1::text"):each() do
			t[#t+1] = a:attr("href") .. b:get() end end return #t`, `6`},
		{`return response:css("article"):css("a::text"):getall()`, `["a","b","c"]`},
		{`return tostring(response:css("a"))`, `"<selection of 3>"`},
		{`return response:urljoin("../x?q#f")`, `"http://h/x?q#f"`},
		{`local u, err = response:urljoin("http://[") return {u == nil, #err > 0}`, `[true,true]`},
		{`return response:links()`, `["http://h/a.html","http://h/b.html","http://else/c.pdf"]`},
		{`return response:links{}`, `["http://h/a.html","http://h/b.html","http://else/c.pdf"]`},
		{`return response:links{ allow = [[\.html$]], same_host = true }`, `["http://h/a.html","http://h/b.html"]`},
		{`return response:links{ allow = {"a", "c"}, deny = {[[/a\.]]} }`, `["http://else/c.pdf"]`},
		{`return response:links{ restrict_css = "article:first-of-type", unique = false }`, `["http://h/a.html"]`},
		{`return type(getmetatable(response))`, `"string"`},
	} {
		got, err := runPage(t, bindResponse(), tt.script)
		if err != nil || got != tt.want {
			t.Errorf("%s\ngot  %s %v\nwant %s", tt.script, got, err, tt.want)
		}
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestResponseMistakesRaise(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`return response.statsu`:                        `a response has no "statsu"; did you mean "status"?`,
		`return response.cookeis`:                       `a response has no "cookeis"; did you mean "cookies"?`,
		`return response.css("a")`:                      `called with a colon`,
		`return response:urljoin(nil)`:                  `urljoin needs a string, got nil`,
		`return response:css()`:                         `css needs a CSS selector as a string, got nil`,
		`return response:css("a["):get()`:               `css selector "a["`,
		`return response:css("a::texx")`:                `unknown pseudo-element ::texx`,
		`return response:css("a"):txt()`:                `a selection has no "txt"; did you mean "text"?`,
		`return response:css("a").get()`:                `called with a colon`,
		`return response:css("a"):attr()`:               `attr needs the name of an attribute, got nil`,
		`return response:css("a"):css(1)`:               `css needs a CSS selector as a string, got number`,
		`response.url = "x"`:                            `a response cannot be changed (field "url")`,
		`response:css("a").x = 1`:                       `a selection cannot be changed (field "x")`,
		`return response:links{ alow = "x" }`:           `response:links has no option "alow"; did you mean "allow"?`,
		`return response:links{ "x" }`:                  `response:links has no option "1"`,
		`return response:links("x")`:                    `needs a table of options, got string`,
		`return response:links{ allow = "(" }`:          `links option allow: pattern "("`,
		`return response:links{ deny = 1 }`:             `links option deny needs a pattern or a list of patterns, got number`,
		`return response:links{ allow = { true } }`:     `got boolean`,
		`return response:links{ same_host = "yes" }`:    `links option same_host is true or false, not a string`,
		`return response:links{ restrict_css = "a>" }`:  `links option restrict_css: css selector "a>"`,
		`return response:links{ restrict_css = false }`: `restrict_css needs a CSS selector`,
		`return response:json()`:                        `response:json() of http://h/dir/p.html:`,
	} {
		_, err := runPage(t, bindResponse(), script)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "spider.lua:2:") {
			t.Errorf("%s\ngot  %v\nwant spider.lua:2: ... %s", script, err, want)
		}
	}
}

func TestResponseJSON(t *testing.T) {
	t.Parallel()
	r := &engine.Response{URL: "http://h/", Body: []byte("\xef\xbb\xbf{\"id\": 1234567890123456789, \"list\": []}")}
	got, err := runPage(t, r, `return response:json()`)
	if want := `{"id":"1234567890123456789","list":[]}`; err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestResponseWithoutRequest(t *testing.T) {
	t.Parallel()
	got, err := runPage(t, &engine.Response{}, `return {response.url, response.meta == nil, #response:css("a"), response.encoding}`)
	if err != nil || got != `["",true,0,"utf-8"]` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestResponseUsedTooLate(t *testing.T) {
	t.Parallel()
	const late = "response used after its callback returned"
	for _, use := range []string{
		`kept.url`, `kept.text`, `kept:css("a")`, `kept:links{}`, `kept:urljoin("x")`, `kept:follow("x")`, `kept:json()`, `tostring(kept)`,
		`sel:get()`, `sel:text()`, `#sel`, `sel:css("b")`, `each()`, `sel:each()`,
	} {
		v := newTestVM()
		defer v.L.Close()
		r := bindResponse()
		v.L.SetGlobal("kept", v.newResponse(r))
		if err := v.L.DoString(`sel = kept:css("a"); each = sel:each(); text = kept.text; hs = kept.headers; local _ = kept.url`); err != nil {
			t.Fatal(err)
		}
		clear(r.Body)
		r.Release()
		if err := v.L.DoString("return " + use); err == nil || !strings.Contains(err.Error(), late) {
			t.Errorf("%s: error is %v", use, err)
		}
		if err := v.L.DoString(`assert(text:find("First")); assert(hs["Content-Type"]); assert(#hs:getall("set-cookie") == 2)`); err != nil {
			t.Errorf("what was taken before is gone: %v", err)
		}
	}
}

func TestFieldsAndMethodsAreNotMadeAnew(t *testing.T) {
	v := newTestVM()
	defer v.L.Close()
	v.L.SetGlobal("response", v.newResponse(bindResponse()))
	allocs := func(script string) float64 {
		fn, err := v.L.LoadString(script)
		if err != nil {
			t.Fatal(err)
		}
		run := func() { v.L.Push(fn); v.L.Call(0, 0) }
		run()
		return testing.AllocsPerRun(200, run)
	}
	for _, name := range []string{"url", "text", "headers", "css", "links"} {
		use := "local _ = response." + name + "\n"
		// One for each is gopher-lua's own: it makes a Lua string of the name.
		if once, more := allocs(use), allocs(strings.Repeat(use, 11)); more-once > 10 {
			t.Errorf("%v allocations to read %s ten times", more-once, name)
		}
	}
}

// BenchmarkBenchSpider does what the spider of the comparison does with a page.
func BenchmarkBenchSpider(b *testing.B) {
	v := newTestVM()
	defer v.L.Close()
	fn, err := v.L.LoadString(`local response = ...
		local t, h, n = response:css("title"):text(), response:css("h1"):text(), #response:css("a[href]")
		return response:links { allow = { [[\.html$]] }, same_host = true }`)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		v.L.Push(fn)
		v.L.Push(v.newResponse(bindResponse()))
		v.L.Call(1, 0)
	}
}
