package luabind

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

const taskSpider = `
local spider = { name = "t" }
local n = 0
every("10m", function() emit { task = "ten" } end)
every(90, function() emit(request { url = "http://a.example/" }) end)
every("10m", function() return 1 end)
function spider.parse() end
function spider.on_finished() emit { task = "end" } end
return spider`

func TestTasks(t *testing.T) {
	t.Parallel()
	s, err := Load(filesystem(map[string]string{"a.lua": taskSpider}), "a.lua", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := []scheduler.Task{{Name: "on_finished"}, {Name: "every:10m0s#1", Every: 10 * time.Minute}, {Name: "every:1m30s#1", Every: 90 * time.Second}, {Name: "every:10m0s#2", Every: 10 * time.Minute}}
	if diff := cmp.Diff(want, s.Tasks()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"on_finished": `{"task":"end"}`, "every:10m0s#1": `{"task":"ten"}`} {
		out, err := s.RunTask(t.Context(), name, []byte("run"))
		if err != nil || len(out.Items) != 1 || string(out.Items[0]) != want {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	if out, err := s.RunTask(t.Context(), "every:1m30s#1", []byte("run")); err != nil || len(out.Requests) != 1 || out.Requests[0].Callback != "" && out.Requests[0].Callback != "parse" {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := s.RunTask(t.Context(), "every:1h0m0s#1", []byte("run")); err != nil || len(out.Items)+len(out.Requests) > 0 {
		t.Errorf("a task that is gone: %+v, %v", out, err)
	}
	if _, err := s.RunTask(t.Context(), "every:10m0s#2", []byte("run")); err == nil || !strings.Contains(err.Error(), "a task returned a number") {
		t.Errorf("got %v", err)
	}
}

// TestItemIDOfATask: a pipeline's module gets the ID that the engine gives the item, another one in each run.
func TestItemIDOfATask(t *testing.T) {
	t.Parallel()
	s, err := Load(filesystem(map[string]string{
		"a.lua": "local s = { name = 't', pipelines = { { 'p', order = 1 }, { 'redis', order = 2 } } }\nfunction s.parse() end\nfunction s.on_finished() emit { n = 1 } end\nreturn s",
		"p.lua": "return { process_item = function(item, spider, id) item.id = id return item end }",
	}), "a.lua", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, run := range []string{"run 1", "run 2"} {
		out, err := s.RunTask(t.Context(), "on_finished", []byte(run))
		if err != nil || len(out.Items) != 1 {
			t.Fatalf("%+v, %v", out, err)
		}
		if id := engine.ItemID("t", nil, []byte(run), engine.ItemInfo{}); !strings.Contains(string(out.Items[0]), id) {
			t.Errorf("%s: the module was given another ID than %s: %s", run, id, out.Items[0])
		}
	}
}

func TestBadTasks(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		`every("10", f)`:                       `"10" is no period; give seconds, or a text as in every("10m", fn)`,
		`every({}, f)`:                         "the period is a table",
		`every(0, f)`:                          "a period is 1s to 8784h",
		`every(0/0, f)`:                        "a period is 1s to 8784h",
		`every(1e300, f)`:                      "a period is 1s to 8784h",
		`every("-5m", f)`:                      "a period is 1s to 8784h",
		`every("1m")`:                          "function expected",
		`every("1m", print)`:                   "a function of the spider's own is needed",
		`for i = 1, 101 do every(i, f) end`:    "more than 100 tasks",
		`spider.on_finished = 1`:               "spider.on_finished is a number; it must be a function",
		`spider.on_finishd = 1`:                `did you mean "on_finished"`,
		`spider.start_urls = {} every(1, nil)`: "function expected",
	} {
		source := "local spider = { name = 't', parse = function() end }\nlocal function f() end\n" + code + "\nreturn spider"
		if _, err := Load(filesystem(map[string]string{"a.lua": source}), "a.lua", "", Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestEveryOnlyWhileTheFileLoads(t *testing.T) {
	t.Parallel()
	s, err := Load(filesystem(map[string]string{"a.lua": "local s = { name = 't' }\nfunction s.parse() every(60, s.parse) end\nreturn s"}), "a.lua", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Parse(t.Context(), pageOf("")); err == nil || !strings.Contains(err.Error(), "call it while the file loads") {
		t.Errorf("got %v", err)
	}
}
