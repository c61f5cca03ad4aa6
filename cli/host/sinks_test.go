package host

import (
	"strings"
	"testing"

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
