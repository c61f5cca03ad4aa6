package luabindtest_test

import (
	"errors"
	"fmt"
	"testing"

	"luacrawl/engine"
	"luacrawl/luabind/luabindtest"
)

func TestRun(t *testing.T) {
	t.Parallel()
	got := luabindtest.Run(t, `return 1, "a", nil, true, { 1, 2 }, { a = { b = 1 } }, {}`)
	if s := fmt.Sprint(got); s != "[1 a <nil> true [1 2] map[a:map[b:1]] map[]]" {
		t.Errorf("got %s", s)
	}
	if got := luabindtest.Run(t, ``); len(got) != 0 {
		t.Errorf("a chunk without return gives %v", got)
	}
}

func TestTryGivesTheChunksLines(t *testing.T) {
	t.Parallel()
	_, err := luabindtest.Try(t, "local x = 1\nerror('boom')")
	var e *engine.ScriptError
	if !errors.As(err, &e) || e.Line != 2 || e.Message != "boom" {
		t.Errorf("got %v", err)
	}
}

func TestRunPage(t *testing.T) {
	t.Parallel()
	got, err := luabindtest.RunPage(t, "http://site.test/", "<h1>News</h1>", `emit { a = 1 } return response.url, response:css("h1::text"):get()`)
	if err != nil || fmt.Sprint(got) != "[http://site.test/ News]" {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestSpider runs the spider of the design document.
func TestSpider(t *testing.T) {
	t.Parallel()
	s := luabindtest.Spider(t, luabindtest.Files{luabindtest.Main: `
local clean = require("lib.clean")
local spider = { name = "hotnews", allowed_domains = { "news.example" } }
function spider.make_request_from_data(data)
  return request { url = data, callback = "parse", dont_filter = true }
end
function spider.parse(response)
  for card in response:css("article"):each() do
    emit { title = clean(card:css("h2::text"):get()), url = response:urljoin(card:css("a::attr(href)"):get()) }
  end
  for _, href in ipairs(response:css("a.next::attr(href)"):getall()) do
    emit(response:follow(href, "parse"))
  end
  emit(response:follow_all({}, "parse"))
end
function spider.process_item(item)
  if item.title == "" then drop("no title") end
  return item
end
return spider`, "lib/clean.lua": `return function(s) return s and require("text").squeeze(s) or "" end`})
	seeds, err := s.Seed("http://news.example/")
	if err != nil || len(seeds.Requests) != 1 {
		t.Fatalf("seed: %v, %v", seeds, err)
	}
	out, err := s.Callback(seeds.Requests[0], `<article><h2> One  two </h2><a href="/1">x</a></article><article><a href="/2">y</a></article><a class=next href="?p=2">more</a>`)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Items) != 1 || string(out.Items[0]) != `{"title":"One two","url":"http://news.example/1"}` {
		t.Errorf("items %s", out.Items)
	}
	if len(out.Dropped) != 1 || out.Dropped[0].Reason != "no title" {
		t.Errorf("dropped %v", out.Dropped)
	}
	if len(out.Requests) != 1 || out.Requests[0].URL != "http://news.example/?p=2" || out.Requests[0].Callback != "parse" {
		t.Errorf("requests %v", out.Requests)
	}
}
