package host

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"luacrawl/engine/export"
)

func TestFeedsOfPushedSpidersAreConfined(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key, value, want string
	}{
		{"path", "items/%(host)s.jsonl", ""},
		{"uri", "a..b/..c.csv", ""},
		{"uri", "-", ""},
		{"uri", "s3://news/items-%(part)d.jsonl", ""},
		{"endpoint", "", ""},
		{"path", "/etc/cron.d/x", `path: "/etc/cron.d/x" leads out of the worker's folder`},
		{"uri", "a/../../x.csv", `uri: "a/../../x.csv" leads out`},
		{"uri", "..", `uri: ".." leads out`},
		{"endpoint", "https://elsewhere.test", "endpoint: a pushed spider does not say"},
	} {
		err := confined(map[string]any{c.key: c.value})
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %q: got %v, want %q", c.key, c.value, err, c.want)
		}
	}
}

func TestSchemaOfATable(t *testing.T) {
	t.Parallel()
	one, two := map[string]export.Schema{"a": {Name: "a"}}, map[string]export.Schema{"a": {Name: "a"}, "b": {Name: "b"}}
	for _, c := range []struct {
		items   string
		schemas map[string]export.Schema
		want    string // "" for none
	}{{"", one, "a"}, {"", two, ""}, {"b", two, "b"}, {"", nil, ""}} {
		got, err := schemaFor(c.items, c.schemas)
		if err != nil || (got == nil) != (c.want == "") || got != nil && got.Name != c.want {
			t.Errorf("%q of %v: %v, %v", c.items, c.schemas, got, err)
		}
	}
	if _, err := schemaFor("c", two); err == nil || !strings.Contains(err.Error(), `spider.items declares no "c"`) {
		t.Errorf("got %v", err)
	}
}

// TestFeedOfAnotherCrawl: a second crawl with the same file does not begin, and can once the first has ended.
func TestFeedOfAnotherCrawl(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	path := filepath.Join(t.TempDir(), "items.jsonl")
	open := func(name string) (*Crawl, error) {
		text := "return { name = '" + name + "', parse = function() end, pipelines = { { 'redis', order = 1 }, { 'feed', order = 2, path = '" + path + "' } } }"
		source := Source{FS: fstest.MapFS{"a.lua": {Data: []byte(text)}}, Main: "a.lua"}
		v := voice(&lockedBuffer{}, "")
		spider, _, err := source.Load(v)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(spider.Close)
		return Open(t.Context(), CrawlOptions{Client: f.client, Spider: spider, Source: source, Voice: v, Worker: name + ":1"})
	}
	first, err := open("one")
	if err != nil {
		t.Fatal(err)
	}
	_, err = open("two")
	var mistaken *MistakeError
	if !errors.As(err, &mistaken) || !strings.Contains(err.Error(), "a.lua: spider.pipelines: ") || !strings.Contains(err.Error(), "write to the same file; give each its own path") {
		t.Errorf("got %v", err)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, err := open("two")
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestPushedFeedOutside does not begin.
func TestPushedSpiderWritesNowhereElse(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	outside := t.TempDir()
	only := func(name string) (string, bool) { return "s3cret", name == "AWS_ACCESS_KEY_ID" } // as --env AWS_ACCESS_KEY_ID
	for pipelines, want := range map[string]string{
		"{ 'redis', order = 1 }, { 'feed', order = 2, path = '" + filepath.Join(outside, "items.jsonl") + "' }": "a.lua: spider.pipelines, feed of order 2: path: ",
		"{ 'files', order = 1, store = '" + outside + "' }, { 'redis', order = 2 }":                             "a.lua: spider.pipelines, files of order 1: store: ",
		"{ 'files', order = 1, store = '../x' }, { 'redis', order = 2 }":                                        "a.lua: spider.pipelines, files of order 1: store: ",
		"{ 'files', order = 1, store = 's3://pages/x', endpoint = 'http://a.test' }, { 'redis', order = 2 }":    "a.lua: spider.pipelines, files of order 1: endpoint: a pushed spider does not say",
		"{ 'files', order = 1, store = 's3://pages/x' }, { 'redis', order = 2 }":                                `a.lua: spider.pipelines, files of order 1: store "s3://pages/x": of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only one is set`,
	} {
		source := Source{Revision: revision("one", "a.lua", "return { name = 'one', parse = function() end, pipelines = { "+pipelines+" } }"), Outside: Outside{Env: only}}
		v := voice(&lockedBuffer{}, "")
		spider, _, err := source.Load(v)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(spider.Close)
		_, err = Open(t.Context(), CrawlOptions{Client: f.client, Spider: spider, Source: source, Voice: v, Worker: "one:1"})
		var mistaken *MistakeError
		if !errors.As(err, &mistaken) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
