// Package luabindtest tests Lua modules and spiders in a few lines, through what a crawl uses: a loaded spider.
//
//	got := luabindtest.Run(t, `return require("text").squeeze(" a  b ")`)
//	out, err := luabindtest.Spider(t, files).Parse("http://site.test/", "<h1>News</h1>")
package luabindtest

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"testing"
	"testing/fstest"
	"time"

	"luacrawl/engine"
	"luacrawl/luabind"
	"luacrawl/scheduler"
)

// Main is the name of the spider's own file among the files of Load and Spider.
const Main = "spider.lua"

// timeout bounds each call of a test: what hangs fails, what a busy machine makes slow does not.
const timeout = time.Minute

// Files are the texts of a spider's files by their names; the spider's own is Main.
type Files map[string]string

// FS is Files as a file system.
func (f Files) FS() fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range f {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// Load loads a spider whose files lie in "spiders/", as errors show them.
func Load(f Files, o luabind.Options) (*luabind.Spider, error) {
	return luabind.Load(f.FS(), Main, "spiders/", o)
}

// Fixture is a loaded spider under test.
type Fixture struct {
	*luabind.Spider
	t testing.TB
}

// Spider loads a spider, which ends with the test; a load that fails ends the test.
func Spider(t testing.TB, f Files) *Fixture { return SpiderWith(t, f, luabind.Options{}) }

// SpiderWith is Spider with options.
func SpiderWith(t testing.TB, f Files, o luabind.Options) *Fixture {
	t.Helper()
	return SpiderFS(t, f.FS(), o)
}

// SpiderFS is SpiderWith of a file system, whose files a test may edit.
func SpiderFS(t testing.TB, fsys fs.FS, o luabind.Options) *Fixture {
	t.Helper()
	s, err := luabind.Load(fsys, Main, "spiders/", o)
	if err != nil {
		t.Fatalf("the spider does not load: %v", err)
	}
	t.Cleanup(s.Close)
	return &Fixture{s, t}
}

// Parse calls the function parse with a page.
func (f *Fixture) Parse(url, body string) (*engine.Output, error) {
	return f.Callback(&scheduler.Request{URL: url}, body)
}

// Callback calls the callback of a request with a page.
func (f *Fixture) Callback(r *scheduler.Request, body string) (*engine.Output, error) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), timeout)
	defer cancel()
	page := Response(r, body)
	defer page.Release()
	return f.Spider.Parse(ctx, page)
}

// Seed makes requests of a seed.
func (f *Fixture) Seed(seed string) (*engine.Output, error) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), timeout)
	defer cancel()
	return f.MakeRequests(ctx, []byte(seed))
}

// Response is an HTML page that was fetched for a request.
func Response(r *scheduler.Request, body string) *engine.Response {
	header := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	return &engine.Response{URL: r.URL, Status: http.StatusOK, Header: header, Body: []byte(body), Request: r}
}

// Run runs a chunk of Lua in a spider's sandbox and gives the values that it returns: nil, bool, float64, string, []any or
// map[string]any; functions and userdata as tostring has them. An error ends the test.
func Run(t testing.TB, chunk string) []any {
	t.Helper()
	values, err := Try(t, chunk)
	if err != nil {
		t.Fatalf("%s\nraised: %v", chunk, err)
	}
	return values
}

// Try is Run that gives the error, a *engine.ScriptError with file "spiders/spider.lua" and the chunk's lines.
func Try(t testing.TB, chunk string) ([]any, error) {
	t.Helper()
	return RunPage(t, "http://site.test/", "", chunk)
}

// RunPage is Try with a page: the chunk sees it as response, and what it emits is forgotten.
func RunPage(t testing.TB, url, body, chunk string) ([]any, error) {
	t.Helper()
	f := Spider(t, Files{Main: before + chunk + after})
	out, err := f.Parse(url, body)
	if err != nil {
		return nil, err
	}
	var last struct{ Values []any }
	if err := json.Unmarshal(out.Items[len(out.Items)-1], &last); err != nil {
		t.Fatalf("values of the chunk: %v", err)
	}
	return last.Values, nil
}

// before stands on the chunk's first line, so that lines in errors are the chunk's.
const before = `local spider = { name = "test" } local function chunk(response) `

const after = `
end
local json = require("json")
local function plain(value)
  local kind = type(value)
  if value == nil then return json.null end
  if kind == "function" or kind == "thread" or (kind == "userdata" and value ~= json.null) then return tostring(value) end
  return value
end
local function pack(...)
  local values = json.array()
  for i = 1, select("#", ...) do values[i] = plain((select(i, ...))) end
  return values
end
function spider.parse(response) emit { values = pack(chunk(response)) } end
return spider
`
