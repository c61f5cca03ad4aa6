package luabind_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"luacrawl/luabind/luabindtest"
	"luacrawl/scheduler"
)

const followPage = `<title>x</title><nav><a href="/a.html">a</a><a href="b.html#f">b</a><a href="mailto:x@y">m</a><a>none</a></nav>
<p><a href="/a.html">again</a></p>`

// followed runs the body of a parse function and returns what it emitted: callback, URL, meta of each request.
func followed(t *testing.T, body string) ([]string, error) {
	t.Helper()
	spider := luabindtest.Spider(t, luabindtest.Files{luabindtest.Main: `
local spider = { name = "s" }
function spider.parse(response)
` + body + `
end
function spider.other(response) end
return spider`})
	out, err := spider.Parse("http://h/d/p.html", followPage)
	if err != nil {
		return nil, err
	}
	var got []string
	for _, r := range out.Requests {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Callback, r.URL, r.Meta)))
	}
	return got, nil
}

func TestFollow(t *testing.T) {
	t.Parallel()
	const a, b = "http://h/a.html", "http://h/d/b.html#f"
	for _, tt := range []struct {
		body string
		want []string
	}{
		{`emit(response:follow("/a.html"))`, []string{a}},
		{`emit(response:follow("/a.html", "other"))`, []string{"other " + a}},
		{`emit(response:follow("/a.html", spider.other))`, []string{"other " + a}},
		{`emit(response:follow("b.html#f", { callback = "other", meta = { n = 1 } }))`, []string{"other " + b + ` {"n":1}`}},
		{`emit(response:follow(response:css("a"), "other"))`, []string{"other " + a}},
		{`emit(response:follow(response:css("a::attr(href)"), "other"))`, []string{"other " + a}},
		{`for l in response:css("nav a[href*='.html']"):each() do emit(response:follow(l)) end`, []string{a, b}},
		{`local r, err = response:follow("mailto:x@y") assert(r == nil and err:find("mailto:x@y", 1, true))`, nil},
		{`local r, err = response:follow("http://[") assert(r == nil and err:find("http://[", 1, true))`, nil},
		{`emit(response:follow_all({ "/a.html", "b.html#f", "javascript:1" }, "other"))`, []string{"other " + a, "other " + b}},
		{`emit(response:follow_all(response:css("nav a")))`, []string{a, b}},
		{`emit(response:follow_all(response:css("nav a::attr(href)"), { callback = spider.other, meta = { k = "v" } }))`,
			[]string{"other " + a + ` {"k":"v"}`, "other " + b + ` {"k":"v"}`}},
		{`local links = {} for l in response:css("nav a[href]"):each() do links[#links+1] = l end emit(response:follow_all(links))`,
			[]string{a, b}},
		{`emit(response:follow_all(response:links{}, "other"))`, []string{"other " + a, "other http://h/d/b.html"}},
		{`local l = response:links{} l[1], l[2] = l[2], "/c" emit(response:follow_all(l))`, []string{"http://h/d/b.html", "http://h/c"}},
		{`emit(response:follow_all({}))`, nil},
		{`emit(response:follow_all(response:css("table a")))`, nil},
		{`local all = response:follow_all(response:links{}, { meta = { n = 1 } }) all[1].meta.n = 2 emit(all)`,
			[]string{a + ` {"n":2}`, `http://h/d/b.html {"n":1}`}},
		{`response.meta.tries = 1 emit(response.request:replace { dont_filter = true })`, []string{`http://h/d/p.html {"tries":1}`}},
	} {
		got, err := followed(t, tt.body)
		if err != nil || strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s\ngot  %q %v\nwant %q", tt.body, got, err, tt.want)
		}
	}
}

func TestFollowMistakesRaise(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`response:follow(nil)`:                                "follow needs a link as a string or a selection, got nil",
		`response:follow(response:css("table"))`:              "the selection has no link (0 matches",
		`response:follow(response:css("nav"))`:                "the selection has no link (1 matches",
		`response:follow("/x", 1)`:                            "follow: callback is a number",
		`response:follow("/x", function() end)`:               "is no field of the spider",
		`response:follow("/x", { calback = "other" })`:        `did you mean "callback"?`,
		`response:follow("/x", { url = "/y" })`:               "not in a field url",
		`response:follow_all("a.next")`:                       "follow_all needs a list of links or a selection, got string",
		`response:follow_all(nil)`:                            "follow_all needs a list of links or a selection, got nil",
		`response:follow_all({ 1 })`:                          "follow needs a link as a string or a selection, got number",
		`response:follow_all({}, { meta = { f = print } })`:   "follow_all: meta",
		`emit(response:follow_all({ "/x" }, "othr"))`:         `callback "othr"`,
		`response.follow("/x")`:                               "called with a colon",
		`response:follow_all({ response:css("nav") }, "p")`:   "the selection has no link",
		`spider.r = response; error(response:follow("/x").x)`: `no field "x"`,
	} {
		_, err := followed(t, body)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "spiders/spider.lua:4:") {
			t.Errorf("%s\ngot  %v\nwant spiders/spider.lua:4: ... %s", body, err, want)
		}
	}
}

func TestKeptResponseRaises(t *testing.T) {
	t.Parallel()
	spider := luabindtest.Spider(t, luabindtest.Files{luabindtest.Main: `
local kept
local spider = { name = "s" }
function spider.parse(response)
  if kept then emit { url = kept.url } end
  kept = response
end
return spider`})
	if _, err := spider.Callback(&scheduler.Request{URL: "http://h/1"}, ""); err != nil {
		t.Fatal(err)
	}
	_, err := spider.Callback(&scheduler.Request{URL: "http://h/2"}, "")
	if err == nil || !strings.Contains(err.Error(), "response used after its callback returned") {
		t.Errorf("error is %v", err)
	}
}

// A request's proxy lies in its meta, where seeds and Scrapy's users have it; the table that was given as meta is left alone.
func TestRequestProxy(t *testing.T) {
	t.Parallel()
	const a = "http://h/a.html"
	for _, tt := range []struct {
		body string
		want []string
	}{
		{`emit(response:follow("/a.html", { proxy = "http://p:3128" }))`, []string{a + ` {"proxy":"http://p:3128"}`}},
		{`emit(request { url = "http://h/a.html", proxy = false })`, []string{a + ` {"proxy":false}`}},
		{`local m = { n = 1 }
		  emit(request { url = "http://h/a.html", meta = m, proxy = "socks5://p" })
		  emit(request { url = "http://h/a.html", meta = m })`, []string{a + ` {"n":1,"proxy":"socks5://p"}`, a + ` {"n":1}`}},
		{`local r = request { url = "http://h/a.html", meta = { n = 1 }, proxy = "http://p:1" }
		  assert(r.proxy == "http://p:1")
		  emit(r:replace { proxy = "http://q:2" })
		  emit(r)`, []string{a + ` {"n":1,"proxy":"http://q:2"}`, a + ` {"n":1,"proxy":"http://p:1"}`}},
	} {
		got, err := followed(t, tt.body)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, %v; want %v", tt.body, got, err, tt.want)
		}
	}
	for body, want := range map[string]string{
		`request { url = "http://h/", proxy = "me:s3cret@p" }`: "request: proxy is none: want a proxy's URL",
		`request { url = "http://h/", proxy = true }`:          "request: proxy is a boolean; it must be a proxy's URL, or false for no proxy",
		`request { url = "http://h/", proxy = 1 }`:             "request: proxy is a number",
	} {
		if _, err := followed(t, body); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
