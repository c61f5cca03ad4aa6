package luabind_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"luacrawl/engine"
	"luacrawl/luabind"
	"luacrawl/luabind/luabindtest"
	"luacrawl/scheduler"
)

// version is a spider that emits which version it is, with more lines at its end.
func version(v string, more ...string) string {
	return "local m = require 'm'\nlocal spider = { name = 'test' }\nfunction spider.parse() emit { v = '" + v + "', m = m.v } end\n" +
		strings.Join(more, "\n") + "\nreturn spider\n"
}

func write(fsys fstest.MapFS, name, text string) { fsys[name] = &fstest.MapFile{Data: []byte(text)} }

// loaded is a spider whose files a test edits.
func loaded(t *testing.T, files luabindtest.Files) (fstest.MapFS, *luabindtest.Fixture) {
	t.Helper()
	fsys := files.FS()
	return fsys, luabindtest.SpiderFS(t, fsys, luabind.Options{})
}

func wantItem(t *testing.T, s *luabindtest.Fixture, want string) {
	t.Helper()
	out, err := s.Parse("http://site.test/", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(out.Items[0]); got != want {
		t.Errorf("item %s, want %s", got, want)
	}
}

// TestReloadOfDeclarations: the columns of sinks are those of the start.
func TestReloadOfDeclarations(t *testing.T) {
	t.Parallel()
	text := func(pipelines, fields string) string {
		return "return { name = 'test', parse = function() end, pipelines = { " + pipelines + " }, items = { article = { " + fields + " } } }"
	}
	const redis, feed = `{ "redis", order = 1 }`, `{ "redis", order = 1 }, { "feed", order = 2, path = "x" }`
	for name, c := range map[string]struct {
		pipelines, before, after string
		refused                  bool
	}{
		"a new field":           {feed, `a = "string!"`, `a = "string!", b = "number"`, true},
		"another type":          {feed, `a = "string!"`, `a = "string"`, true},
		"another default":       {feed, `a = "string"`, `a = { type = "string", default = "x" }`, false},
		"another order":         {feed, `a = "string", b = "number"`, `b = "number", a = "string"`, false},
		"a new field, no sinks": {redis, `a = "string!"`, `a = "string!", b = "number"`, false},
	} {
		fsys, s := loaded(t, luabindtest.Files{luabindtest.Main: text(c.pipelines, c.before)})
		write(fsys, luabindtest.Main, text(c.pipelines, c.after))
		_, err := s.Reload(nil)
		var changed *luabind.PipelinesChangedError
		if errors.As(err, &changed) != c.refused || (err != nil) != c.refused || c.refused && !strings.Contains(err.Error(), "spider.items declares other items than at the start") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReloadOfRedis: what Redis keeps items in is what it was at the start.
func TestReloadOfRedis(t *testing.T) {
	t.Parallel()
	text := func(options string) string {
		return "return { name = 'test', parse = function() end, pipelines = { { 'redis', order = 1" + options + " } } }"
	}
	const stream = `, type = "stream", maxlen = `
	for _, c := range []struct {
		before, after string
		refused       bool
	}{
		{"", stream + "10", true}, {stream + "10", "", true}, {stream + "10", stream + "20", true}, {stream + "10", stream + "10.0", false}, {"", `, type = "list"`, false},
	} {
		fsys, s := loaded(t, luabindtest.Files{luabindtest.Main: text(c.before)})
		write(fsys, luabindtest.Main, text(c.after))
		_, err := s.Reload(nil)
		var changed *luabind.PipelinesChangedError
		if errors.As(err, &changed) != c.refused || (err != nil) != c.refused {
			t.Errorf("from %q to %q: %v", c.before, c.after, err)
		}
	}
}

func TestReload(t *testing.T) {
	t.Parallel()
	fsys, s := loaded(t, luabindtest.Files{luabindtest.Main: version("1"), "m.lua": "return { v = 'a' }"})
	first := s.Revision()
	wantItem(t, s, `{"m":"a","v":"1"}`)
	reload := func(changed bool) {
		t.Helper()
		before := s.Revision()
		done, err := s.Reload(nil)
		if err != nil || done.Changed() != changed || done.Before != before || done.After != s.Revision() {
			t.Fatalf("reloaded %+v, %v, running %s", done, err, s.Revision())
		}
	}
	reload(false)
	write(fsys, luabindtest.Main, version("2", "function spider.more() end"))
	reload(true)
	wantItem(t, s, `{"m":"a","v":"2"}`)
	if has, revision := s.HasCallback(t.Context(), "more", ""); !has || revision != s.Revision() {
		t.Errorf("the new callback: %v in %s", has, revision)
	}
	write(fsys, "m.lua", "return { v = 'b' }")
	reload(true)
	wantItem(t, s, `{"m":"b","v":"2"}`)
	write(fsys, luabindtest.Main, version("1"))
	write(fsys, "m.lua", "return { v = 'a' }")
	reload(true)
	if s.Revision() != first {
		t.Errorf("the same files have revision %s, want %s", s.Revision(), first)
	}
}

// TestReloadOfABrokenEdit changes nothing, whatever is wrong, and a mended one is taken.
func TestReloadOfABrokenEdit(t *testing.T) {
	t.Parallel()
	refuse := func(map[string]any) error { return errors.New("refused") }
	for name, c := range map[string]struct {
		file, text, want string
		accept           func(map[string]any) error
	}{
		"syntax":        {luabindtest.Main, "local x = \n", "spiders/spider.lua:1: syntax error", nil},
		"of a module":   {"m.lua", "\n\nreturn }", "spiders/m.lua:3: syntax error", nil},
		"raises":        {"m.lua", "\nerror('boom')", "spiders/m.lua:2: boom", nil},
		"empty":         {luabindtest.Main, "", "the file returns nothing", nil},
		"other name":    {luabindtest.Main, "return { name = 'other', parse = function() end }", `the spider's name was "test" and is now "other"`, nil},
		"unknown field": {luabindtest.Main, "return { name = 'test', stat_urls = {} }", `did you mean "start_urls"?`, nil},
		"lost module":   {luabindtest.Main, "require 'gone'", `spiders/spider.lua:1: require: there is no module "gone"`, nil},
		"not accepted":  {luabindtest.Main, version("2"), "refused", refuse},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys, s := loaded(t, luabindtest.Files{luabindtest.Main: version("1"), "m.lua": "return { v = 'a' }"})
			before, good := s.Revision(), string(fsys[c.file].Data)
			write(fsys, c.file, c.text)
			done, err := s.Reload(c.accept)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if done.Changed() || s.Revision() != before {
				t.Errorf("revision %s runs, want %s", s.Revision(), before)
			}
			wantItem(t, s, `{"m":"a","v":"1"}`)
			write(fsys, c.file, good+"\n-- mended")
			if done, err := s.Reload(nil); err != nil || !done.Changed() {
				t.Errorf("mended: %+v, %v", done, err)
			}
		})
	}
}

// signal is a stream that tells when something is written.
type signal chan struct{}

func (s signal) Write(b []byte) (int, error) {
	s <- struct{}{}
	return len(b), nil
}

// TestCallsEndOnTheirGeneration: a call that runs during a reload does not see it, and the next one does.
func TestCallsEndOnTheirGeneration(t *testing.T) {
	t.Parallel()
	const slow = `
function spider.parse(response)
  emit { at = "start", v = v }
  log("running")
  local stop = os.clock() + 0.3
  while os.clock() < stop do end
  emit { at = "end", v = v }
end
return spider`
	started := make(signal, 1)
	fsys := luabindtest.Files{luabindtest.Main: "local v = 1 local spider = { name = 'test' }" + slow}.FS()
	s := luabindtest.SpiderFS(t, fsys, luabind.Options{Logger: slog.New(slog.NewTextHandler(started, nil))})
	before := s.Revision()
	ended := make(chan *engine.Output)
	go func() {
		out, err := s.Parse("http://site.test/", "")
		if err != nil {
			t.Error(err)
		}
		ended <- out
	}()
	<-started
	write(fsys, luabindtest.Main, "local v = 2 local spider = { name = 'test' }"+slow)
	if _, err := s.Reload(nil); err != nil {
		t.Fatal(err)
	}
	out := <-ended
	if got := show(out); got != "item {\"at\":\"start\",\"v\":1}\nitem {\"at\":\"end\",\"v\":1}" || out.Revision != before {
		t.Errorf("revision %s emitted\n%s", out.Revision, got)
	}
	out, err := s.Parse("http://site.test/", "")
	if err != nil || string(out.Items[0]) != `{"at":"start","v":2}` {
		t.Errorf("the next call: %+v, %v", out, err)
	}
}

// TestReloadUnderLoad: calls never fail while edits come, good ones and broken ones.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	files := luabindtest.Files{luabindtest.Main: version("0"), "m.lua": "return { v = '0' }"}
	fsys := files.FS()
	s := luabindtest.SpiderFS(t, fsys, luabind.Options{})
	var stop atomic.Bool
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			for !stop.Load() {
				out, err := s.Parse("http://site.test/", "")
				if err != nil {
					t.Error(err)
					return
				}
				if len(out.Items) != 1 || out.Revision == "" {
					t.Errorf("got %+v", out)
				}
			}
		})
	}
	for i := range 60 {
		text := version(fmt.Sprint(i))
		if i%5 == 4 {
			text = "return {{"
		}
		write(fsys, luabindtest.Main, text)
		_, err := s.Reload(nil)
		if broken := i%5 == 4; (err != nil) != broken {
			t.Errorf("edit %d: %v", i, err)
		}
	}
	stop.Store(true)
	calls.Wait()
}

// TestUnknownCallbackSaysWhichRevision: what the engine needs to hand the request to a worker that knows it.
func TestUnknownCallbackSaysWhichRevision(t *testing.T) {
	t.Parallel()
	s := spider(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, callback := s.Callback(&scheduler.Request{URL: "http://site.test/", Callback: "gone"}, "")
	_, errback := s.Errback(ctx, &engine.Failure{Request: &scheduler.Request{URL: "http://site.test/", Errback: "gone"}})
	for _, err := range []error{callback, errback} {
		var unknown *engine.UnknownCallbackError
		if !errors.As(err, &unknown) || unknown.Callback != "gone" || unknown.Revision != s.Revision() {
			t.Errorf("got %#v", err)
		}
	}
}
