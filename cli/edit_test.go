package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// editable is a spider whose items carry the versions of its two files.
type editable struct {
	t      *testing.T
	folder string
	redis  *redistest.Server
	links  string // options of response:links
}

func newEditable(t *testing.T) *editable {
	t.Helper()
	return newEditableOf(t, "")
}

// newEditableOf is newEditable that follows the links which the options of response:links say.
func newEditableOf(t *testing.T, links string) *editable {
	t.Helper()
	e := &editable{t: t, folder: t.TempDir(), redis: redistest.Start(t, redistest.Options{}), links: links}
	e.spider("1")
	e.module("1")
	return e
}

const editableSpider = `local page = require "page"
local spider = { name = "graph", settings = { %s } }
function spider.parse(response)
  emit { url = response.url, spider = "%s", module = page.version }
  emit(response:follow_all(response:links(%s), "parse"))
end
return spider
`

// save replaces a file as most editors do: written beside, renamed over.
func (e *editable) save(name, text string) {
	e.t.Helper()
	path := filepath.Join(e.folder, name)
	if err := os.WriteFile(path+".tmp", []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editable) spider(version string, settings ...string) {
	e.t.Helper()
	settings = append([]string{"concurrent_requests_per_domain = 64"}, settings...)
	e.save("graph.lua", fmt.Sprintf(editableSpider, strings.Join(settings, ", "), version, e.links))
}

func (e *editable) module(version string) {
	e.t.Helper()
	e.save("page.lua", fmt.Sprintf("return { version = %q }\n", version))
}

// run starts a crawl with the spider.
func (e *editable) run(command string, args ...string) *process {
	e.t.Helper()
	return startCommand(e.t, command, e.folder, append([]string{"run", "graph.lua", "--redis", e.redis.URL()}, args...)...)
}

// last is the newest item.
func (e *editable) last() (item struct{ Spider, Module, Revision string }) {
	e.t.Helper()
	for _, raw := range e.redis.Strings("LRANGE", "graph:items", "-1", "-1") {
		if err := json.Unmarshal([]byte(raw), &item); err != nil {
			e.t.Fatal(err)
		}
	}
	return item
}

// endless serves pages that always have new links, until they are more than enough.
func endless(t *testing.T, delay time.Duration) *graphSite {
	return newGraphSite(t, &graphSite{pages: 1 << 20, delay: delay})
}

func (p *process) interrupt(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.wantExit(t, 20*time.Second, 130)
}

// says waits for a text in the output.
func (p *process) says(t *testing.T, text string) {
	t.Helper()
	eventually(t, 10*time.Second, fmt.Sprintf("%q in the output", text), func() bool { return strings.Contains(p.output.String(), text) })
}

// TestEditsTakeEffect: items follow an edit of the spider, and of a module that it requires, within a second.
func TestEditsTakeEffect(t *testing.T) {
	t.Parallel()
	e := newEditable(t)
	site := endless(t, 20*time.Millisecond)
	run := e.run("luacrawl", "--seed", site.url("127.0.0.1", 0))
	eventually(t, 10*time.Second, "the first items", func() bool { return e.last().Spider == "1" })
	edits := 0
	for _, step := range []struct {
		what string
		edit func(version string)
		seen func(version string) bool
	}{
		{"an edit of the spider", func(v string) { e.spider(v) }, func(v string) bool { return e.last().Spider == v }},
		{"an edit of the module", e.module, func(v string) bool { return e.last().Module == v }},
	} {
		best := time.Hour
		for range 3 { // a machine that runs other tests too may be slow once
			edits++
			version, start := fmt.Sprint("v", edits), time.Now()
			step.edit(version)
			eventually(t, 10*time.Second, step.what+" is seen in an item", func() bool { return step.seen(version) })
			best = min(best, time.Since(start))
		}
		t.Logf("%s: after %v", step.what, best.Round(time.Millisecond))
		if best > time.Second {
			t.Errorf("%s is seen after %v", step.what, best)
		}
	}
	run.interrupt(t)
	out := run.output.String()
	if n := strings.Count(out, "\nreloaded, revision "); n != edits {
		t.Errorf("%d reloads are told of %d edits:\n%s", n, edits, out)
	}
	if !strings.Contains(out, " -> ") || !strings.Contains(out, "\n  revision ") {
		t.Errorf("the summary does not name the revisions:\n%s", out)
	}
	if dead := e.redis.Strings("LRANGE", "graph:dead", "0", "-1"); len(dead) > 0 {
		t.Errorf("dead letters: %v", dead)
	}
}

// TestBrokenEditsDoNotStopACrawl: each is said with its place, and items of the last good revision go on until it is mended.
func TestBrokenEditsDoNotStopACrawl(t *testing.T) {
	t.Parallel()
	e := newEditable(t)
	site := endless(t, 20*time.Millisecond)
	run := e.run("luacrawl", "--seed", site.url("127.0.0.1", 0))
	eventually(t, 10*time.Second, "the first items", func() bool { return e.last().Spider == "1" })
	goesOn := func() {
		t.Helper()
		before := len(site.fetches())
		eventually(t, 10*time.Second, "the crawl goes on", func() bool { return len(site.fetches()) > before+20 })
		if got := e.last(); got.Spider != "1" || got.Module != "1" {
			t.Errorf("an item of %+v", got)
		}
	}
	for _, step := range []struct {
		edit func()
		says string
	}{
		{func() { e.save("graph.lua", "local spider = {}\nfunction spider.parse(\n") }, "graph.lua:2: syntax error"},
		{func() { e.spider("1"); e.save("page.lua", "\nerror('boom')") }, "page.lua:2: boom"},
		{func() { e.module("1"); e.spider("9", "partition = 'domain'") }, `setting partition was the default and is now "domain"`},
		{func() { e.spider("9", "retry_tims = 5") }, `did you mean "retry_times"`},
		{func() { e.spider("9", "start_urls_key = 'other'") }, `setting start_urls_key was the default and is now "other"`},
		{func() { e.save("graph.lua", "return { name = 'other', parse = function() end }") }, `the spider's name was "graph" and is now "other"`},
	} {
		step.edit()
		run.says(t, step.says)
		goesOn()
	}
	e.spider("1")
	run.says(t, "mended, revision ")
	goesOn()
	e.spider("2")
	eventually(t, 10*time.Second, "a good edit after broken ones", func() bool { return e.last().Spider == "2" })
	run.interrupt(t)
	out := run.output.String()
	if n := strings.Count(out, "\nreloaded, revision "); n != 1 {
		t.Errorf("%d reloads are told, want 1:\n%s", n, out)
	}
}

// TestSettingsOfAnEdit: some are in effect at once, the others are named.
func TestSettingsOfAnEdit(t *testing.T) {
	t.Parallel()
	e := newEditable(t)
	site := endless(t, 20*time.Millisecond)
	run := e.run("luacrawl", "--seed", site.url("127.0.0.1", 0), "--set", "retry_times=1", "--set", "download_delay=0.01")
	eventually(t, 10*time.Second, "the first items", func() bool { return e.last().Spider == "1" })
	e.spider("2", "log_level = 'debug'", "user_agent = 'other'", "retry_times = 7", "download_delay = 5", "item_meta = true")
	run.says(t, "in effect from now on: item_meta, log_level\n")
	run.says(t, "in effect from the next start on: user_agent\n")
	run.says(t, "level=DEBUG")
	eventually(t, 10*time.Second, "an item with its revision", func() bool { return e.last().Revision != "" })
	e.spider("3", "log_level = 'debug'", "user_agent = 'other'", "item_meta = true")
	eventually(t, 10*time.Second, "the next edit", func() bool { return e.last().Spider == "3" })
	run.interrupt(t)
	if n := strings.Count(run.output.String(), "in effect from"); n != 2 {
		t.Errorf("told %d times:\n%s", n, run.output)
	}
}
