package luabind_test

import (
	"fmt"
	"strings"
	"testing"

	"luacrawl/engine"
	"luacrawl/luabind"
	"luacrawl/luabind/luabindtest"
	"luacrawl/scheduler"
)

const withFiles = `{ "a", order = 50 }, { "files", order = 100, store = "d" }, { "b", order = 200 }, { "feed", order = 300, path = "x" }, { "redis", order = 400 }`

func showWaiting(out *engine.Output) string {
	b := showRoutes(out)
	for _, w := range out.Waiting {
		b += fmt.Sprintf("\nwaits in %v: item %d %s %q %s", w.Order, w.Number, w.Kind, w.URLs, w.Item)
	}
	return strings.TrimPrefix(b, "\n")
}

func TestItemsWaitForFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ parse, want string }{
		"a list":      {`emit { file_urls = { "HTTP://x.test/a b#c", "https://x.test/d" } }`, `waits in 100: item 0  ["http://x.test/a%20b" "https://x.test/d"] {"file_urls":["HTTP://x.test/a b#c","https://x.test/d"],"id":"test","path":"a1"}`},
		"one":         {`emit { n = 0, file_urls = {} } emit { file_urls = "http://x.test/" }`, `waits in 100: item 1  ["http://x.test/"]`},
		"none":        {`emit { n = 1 }`, `item {"id":"test","n":1,"path":"a1b1"}`},
		"only others": {`emit { file_urls = { "ftp://x.test/", "" } }`, `item {"file_urls":["ftp://x.test/",""],"files":[],"id":"test","path":"a1b1"}`},
		"a number":    {`emit { file_urls = { 1 } }`, `item.file_urls holds a number at 1; it is a list of URLs`},
		"a flag":      {`emit { file_urls = true }`, `item.file_urls is a boolean; it is a list of URLs`},
		"a table":     {`emit { file_urls = { x = "http://x.test/" } }`, `item.file_urls holds a string at x`},
		"dropped":     {`emit { drop = "a", file_urls = { "http://x.test/" } }`, `dropped by a`},
	} {
		out, err := piped(t, withFiles, c.parse).Parse("http://site.test/", "")
		if err != nil {
			t.Fatal(err)
		}
		if got := showWaiting(out); !strings.Contains(got, c.want) || len(out.Waiting) > 0 && strings.Contains(got, "sink 0: item "+fmt.Sprint(out.Waiting[0].Number)) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestFinishGoesOnAfterFiles(t *testing.T) {
	t.Parallel()
	const done = `"files":[{"checksum":"c","path":"p","status":"downloaded","url":"http://x.test/"}]`
	files := []engine.FileResult{{URL: "http://x.test/", Path: "p", Checksum: "c", Status: engine.FileDownloaded}}
	for name, c := range map[string]struct{ item, want string }{
		"on":      {`{"n":1,"path":"a1","tags":[]}`, `item {` + done + `,"id":"test","n":1,"path":"a1b1","tags":[]}` + "\n" + `sink 0: item 7 kept 0  {` + done},
		"dropped": {`{"drop":"b"}`, "dropped by b"},
		"raised":  {`{"raise":"b"}`, `failed {"raise":"b"}: b.lua:5: by b`},
	} {
		f := piped(t, withFiles, ``)
		out, err := f.Finish(t.Context(), &scheduler.Request{URL: "http://x.test/", Callback: scheduler.FilesCallback}, &engine.Waiting{ItemInfo: engine.ItemInfo{Number: 7, Origin: "o"}, Item: engine.Item(c.item), Order: 100, Files: files})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(showWaiting(out), "spiders/", ""); !strings.Contains(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
		for _, info := range out.About {
			if info.Origin != "o" {
				t.Errorf("%s: about %+v", name, info)
			}
		}
	}
	_, err := piped(t, withFiles, ``).Finish(t.Context(), &scheduler.Request{}, &engine.Waiting{Item: engine.Item(`{"n":1}`), Order: 101})
	if err == nil || !strings.Contains(err.Error(), "the spider has it no more") {
		t.Errorf("a pipeline that is gone: %v", err)
	}
}

func TestDeclaredItemsHaveFiles(t *testing.T) {
	t.Parallel()
	spider := func(fields string) *luabindtest.Fixture {
		return luabindtest.Spider(t, luabindtest.Files{luabindtest.Main: `local spider = { name = "x", items = { shot = { n = "integer! key", file_urls = "json"` + fields + ` } },
pipelines = { { "files", order = 1, store = "d" }, { "redis", order = 2 } } }
function spider.parse() emit(items.shot { n = 1, file_urls = { "http://x.test/" } }) end
return spider`})
	}
	out, err := spider(``).Parse("http://site.test/", "")
	if err != nil || len(out.Waiting) > 0 || !strings.Contains(showWaiting(out), `declare files = "json" in spider.items.shot`) {
		t.Errorf("undeclared: %s %v", showWaiting(out), err)
	}
	f := spider(`, files = "json!"`)
	if out, err = f.Parse("http://site.test/", ""); err != nil || len(out.Waiting) != 1 || out.Waiting[0].Kind != "shot" {
		t.Fatalf("%s %v", showWaiting(out), err)
	}
	out, err = f.Finish(t.Context(), &scheduler.Request{URL: "http://x.test/"}, &out.Waiting[0])
	if err != nil || len(out.Items) != 1 || out.About[0].Kind != "shot" || out.About[0].Key == "" || out.Stats["items/shot"] != 1 {
		t.Errorf("%s %+v %v", showWaiting(out), out.About, err)
	}
}

func TestBadFilesPipelines(t *testing.T) {
	t.Parallel()
	for pipelines, want := range map[string]string{
		`{ "files", order = 1 }`:                                                                           "spider.pipelines[1]: files: store is missing",
		`{ "files", order = 1, store = "d", maxsize = 1 }`:                                                 "files: maxsize: there is no such key",
		`{ "redis", order = 1 }, { "files", order = 2, store = "d" }`:                                      "files (order 2) must come before redis",
		`{ "feed", order = 1, path = "x" }, { "files", order = 2, store = "d" }`:                           "files (order 2) must come before feed",
		`{ "files", order = 1, store = "d" }, { "files", order = 1, store = "e" }, { "redis", order = 2 }`: "files and files have the same order 1",
		`{ "files", order = 1, store = "d" }, { "files", order = 2, store = "e" }, { "redis", order = 3 }`: "",
	} {
		_, err := luabindtest.Load(luabindtest.Files{luabindtest.Main: "return { name = 'x', parse = function() end, pipelines = { " + pipelines + " } }"}, luabind.Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\ngot  %v\nwant %s", pipelines, err, want)
		}
	}
}
