package export

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseFeed(t *testing.T) {
	t.Parallel()
	got, err := ParseFeed(map[string]any{
		"uri": "out/%(spider)s-%(part)04d.csv.gz", "name": "prices", "format": "csv", "compress": "gzip", "items": []any{"article", ""}, "rotate_size": "64MB",
		"rotate_count": float64(1000), "rotate_every": "90s", "guard_formulas": true, "overwrite": true,
		"fields": []any{"title", map[string]any{"name": "url", "as": "link"}, []any{"a", "b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := FeedConfig{
		URI: "out/%(spider)s-%(part)04d.csv.gz", Name: "prices", Format: "csv", Compress: "gzip", Kinds: []string{"article", ""}, RotateSize: 64 << 20, RotateCount: 1000,
		RotateEvery: 90 * time.Second, GuardFormulas: true, Overwrite: true, Fields: []FeedField{{Name: "title"}, {"url", "link"}, {"a", "b"}},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(FeedConfig{}, "Env", "Now")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err = ParseFeed(map[string]any{"path": "x.json.zst", "fields": map[string]any{"b": "B", "a": "A"}, "items": "article"})
	if err != nil {
		t.Fatal(err)
	}
	if c := got.withDefaults(); c.Format != "json" || c.Compress != "zstd" || c.Fields[0] != (FeedField{"a", "A"}) {
		t.Errorf("got %+v", c)
	}
}

func TestParseFeedNamesTheKey(t *testing.T) {
	t.Parallel()
	type table = map[string]any
	for _, tc := range []struct {
		table table
		want  string
	}{
		{table{}, "uri: missing"},
		{table{"uri": 5.0}, "uri: want text"},
		{table{"uri": "a\nb"}, "uri: want text without control characters"},
		{table{"uri": "x", "path": "x"}, "uri and path are the same"},
		{table{"uri": "x.csv", "fomat": "csv"}, `feed "x.csv": unknown key "fomat"; known are compress`},
		{table{"uri": "x", "format": "xml"}, `format: want jsonl, json or csv, got "xml"`},
		{table{"uri": "x", "compress": "bz2"}, `compress: want gzip, zstd or none`},
		{table{"uri": "x", "overwrite": "yes"}, "overwrite: want true or false"},
		{table{"uri": "x", "guard_formulas": true}, "guard_formulas: is for csv only"},
		{table{"uri": "x%(part)d", "rotate_size": "5 parsecs"}, "rotate_size: want a number of bytes"},
		{table{"uri": "x%(part)d", "rotate_size": -1.0}, "rotate_size: want a number of bytes"},
		{table{"uri": "x%(part)d", "rotate_count": 1.5}, "rotate_count: want a number of items"},
		{table{"uri": "x%(part)d", "rotate_every": true}, "rotate_every: want seconds"},
		{table{"uri": "x%(part)d", "rotate_every": "1e999s"}, "rotate_every: want seconds"},
		{table{"uri": "x.csv", "rotate_count": 5.0}, "need %(part)d in their name, as in items-%(part)d.csv"},
		{table{"uri": "x", "fields": "title"}, "fields: want a list of names"},
		{table{"uri": "x", "fields": []any{}}, "fields: want a list of names"},
		{table{"uri": "x", "fields": []any{"a", 5.0}}, "fields: entry 2: want a name"},
		{table{"uri": "x", "fields": []any{"a", table{"name": "b", "to": "c"}}}, "fields: entry 2"},
		{table{"uri": "x", "fields": []any{"a", []any{"b", "a"}}}, `fields: "a" is there twice`},
		{table{"uri": "x", "fields": table{"a": 5.0}}, `fields: want the new name of "a"`},
		{table{"uri": "x", "items": []any{5.0}}, "items: want a list of kinds"},
		{table{"uri": "x%(prt)d"}, "uri: unknown placeholder %(prt)d"},
		{table{"uri": "100%.csv"}, `uri: "%.csv" is no placeholder`},
		{table{"uri": "%(part)s"}, "write it as %(part)d"},
		{table{"uri": "%(part)099d"}, "at most 20 digits"},
		{table{"uri": "out/"}, "is a folder"},
		{table{"uri": "-", "rotate_count": 5.0}, "standard output cannot be rotated"},
		{table{"uri": "ftp://host/x"}, "want a path, s3://bucket/key or -, not ftp://"},
		{table{"uri": "s3://bucket"}, "want s3://bucket/key"},
		{table{"uri": "s3://bucket/items.jsonl"}, "their key needs %(part)d"},
		{table{"uri": "s3://id:s3cret@bucket/%(part)d"}, "credentials"},
		{table{"uri": "s3://pages/%(part)d", "endpoint": "http://u:s3cret@h"}, "endpoint: want http(s)://host:port"},
	} {
		_, err := ParseFeed(tc.table)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v: got %v, want %s", tc.table, err, tc.want)
		}
	}
}

func FuzzFeedPath(f *testing.F) {
	for _, s := range []string{"a%(spider)s-%(part)03d", "%%%(time)s", "%(host)s%", "%(part)0d", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		path, err := parseFeedPath(s)
		if err != nil {
			return
		}
		again, err := parseFeedPath(path.String())
		if err != nil || cmp.Diff(path.render(time.Unix(0, 0), 7), again.render(time.Unix(0, 0), 7)) != "" {
			t.Errorf("%q is written as %q: %v", s, path.String(), err)
		}
	})
}

func TestFeedPath(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("x", 3600))
	for _, tc := range []struct{ template, want, dir string }{
		{"items.jsonl", "items.jsonl", "."},
		{"out/%(spider)s/%(host)s-%(time)s.%(part)d", "out/ne_ws/__-2026-01-02T02-04-05.7", "out/ne_ws"},
		{"%(time)s/x%(part)03d.csv", "2026-01-02T02-04-05/x007.csv", "."},
		{"a%%b/100%%", "a%b/100%", "a%b"},
		{"/x/%(part)d", "/x/7", "/x"},
	} {
		path, err := parseFeedPath(tc.template)
		if err != nil {
			t.Fatal(err)
		}
		path = path.fix("ne/ws", "..")
		if got := path.render(begun, 7); got != tc.want || path.dir() != tc.dir {
			t.Errorf("%s: %s in %s, want %s in %s", tc.template, got, path.dir(), tc.want, tc.dir)
		}
	}
}
