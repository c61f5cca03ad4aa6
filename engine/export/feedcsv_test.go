package export

import (
	"encoding/csv"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCSVCells(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, json, plain, guarded string }{
		{"text", `"news"`, `news`, ``},
		{"comma", `"a,b"`, `"a,b"`, ``},
		{"quotes", `"say \"hi\""`, `"say ""hi"""`, ``},
		{"one quote", `"\""`, `""""`, ``},
		{"line ends stay as they are", `"a\nb\r\nc\rd"`, "\"a\nb\r\nc\rd\"", ``},
		{"NUL", `"a\u0000b"`, "\"a\x00b\"", ``},
		{"emoji", `"😀 \ud83d\ude00"`, `😀 😀`, ``},
		{"line separator", "\"a\u2028b\"", "a\u2028b", ``},
		{"blank ends", `" a "`, `" a "`, ``},
		{"tab first", `"\ta"`, "\"\ta\"", "'\ta"},
		{"end of data", `"\\."`, `"\."`, ``},
		{"empty", `""`, ``, ``},
		{"null", `null`, ``, ``},
		{"number", `12.50`, `12.50`, ``},
		{"negative number", `-5`, `-5`, ``},
		{"big number", `12345678901234567890`, `12345678901234567890`, ``},
		{"boolean", `true`, `true`, ``},
		{"list", `["a", "b"]`, `"[""a"",""b""]"`, ``},
		{"table", `{"a": 1}`, `"{""a"":1}"`, ``},
		{"formula", `"=HYPERLINK(\"http://x\")"`, `"=HYPERLINK(""http://x"")"`, `"'=HYPERLINK(""http://x"")"`},
		{"plus", `"+1"`, `+1`, `'+1`},
		{"19 digits", `"-9223372036854775807"`, `-9223372036854775807`, ""},
		{"minus", `"-1+1|cmd"`, `-1+1|cmd`, `'-1+1|cmd`},
		{"at", `"@SUM(A1)"`, `@SUM(A1)`, `'@SUM(A1)`},
		{"wide equals", `"＝1"`, `＝1`, `'＝1`},
		{"carriage return first", `"\r=1"`, "\"\r=1\"", "\"'\r=1\""},
		{"like SQL", `"'; DROP TABLE x; --"`, `'; DROP TABLE x; --`, ``},
	} {
		for _, guard := range []bool{false, true} {
			l := newCSVLayout(FeedConfig{Fields: []FeedField{{Name: "a"}, {Name: "b"}}, GuardFormulas: guard}, slog.New(slog.DiscardHandler))
			got, err := l.row(nil, Record{JSON: json.RawMessage(`{"a":` + tc.json + `,"b":1}`)})
			if err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
			want := tc.plain
			if guard && tc.guarded != "" {
				want = tc.guarded
			}
			if diff := cmp.Diff(want+",1\r\n", string(got)); diff != "" {
				t.Errorf("%s, guard %v (-want +got):\n%s", tc.name, guard, diff)
			}
			if rows, err := csv.NewReader(strings.NewReader(string(got))).ReadAll(); err != nil || len(rows) != 1 || len(rows[0]) != 2 {
				t.Errorf("%s: reads as %q, %v", tc.name, rows, err)
			}
		}
	}
}

func TestCSVHeader(t *testing.T) {
	t.Parallel()
	schemas := []Schema{
		{Name: "article", Fields: []Field{{Name: "url"}, {Name: "title"}}},
		{Name: "author", Fields: []Field{{Name: "title"}, {Name: "born"}}},
	}
	items := []Record{
		{ID: "1", Kind: "article", JSON: json.RawMessage(`{"extra":1,"title":"=T","url":"U"}`)},
		{ID: "2", Kind: "author", JSON: json.RawMessage(`{"born":null,"title":"A"}`)},
		{ID: "3", JSON: json.RawMessage(`{"z":1}`)},
	}
	for _, tc := range []struct {
		name   string
		config FeedConfig
		want   string
	}{
		{"of the first items", FeedConfig{}, "extra,title,url,born,z\r\n1,=T,U,,\r\n,A,,,\r\n,,,,1\r\n"},
		{"of the declarations", FeedConfig{Schemas: schemas}, "url,title,born\r\nU,=T,\r\n,A,\r\n,,\r\n"},
		{"of one declaration", FeedConfig{Schemas: schemas, Kinds: []string{"author"}}, "title,born\r\nA,\r\n"},
		{"of the feed, renamed", FeedConfig{Schemas: schemas, Fields: []FeedField{{"url", "link"}, {"title", "=title"}}, Kinds: []string{"article"}}, "link,=title\r\nU,=T\r\n"},
		{"guarded", FeedConfig{Fields: []FeedField{{"title", "=title"}}, Kinds: []string{"article"}, GuardFormulas: true}, "'=title\r\n'=T\r\n"},
		{"of one column", FeedConfig{Fields: []FeedField{{Name: "born"}}}, "born\r\n\"\"\r\n\"\"\r\n\"\"\r\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.config.URI = filepath.Join(t.TempDir(), "items.csv")
			sink := openFeed(t, tc.config)
			write(t, sink, items)
			closeFeed(t, sink)
			if diff := cmp.Diff(tc.want, read(t, tc.config.URI)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCSVKeepsItsHeader checks that a header that nothing declares stays after a restart, and in the next file.
func TestCSVKeepsItsHeader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var log strings.Builder
	c := FeedConfig{URI: filepath.Join(dir, "%(part)d.csv"), RotateCount: 2, Crawl: "one", Log: slog.New(slog.NewTextHandler(&log, nil))}
	sink := openFeed(t, c)
	write(t, sink, []Record{{ID: "1", JSON: json.RawMessage(`{"b":1,"c":2}`)}})
	crash(t, sink)
	sink = openFeed(t, c)
	for _, id := range []string{"2", "3"} {
		write(t, sink, []Record{{ID: id, JSON: json.RawMessage(`{"a":9,"b":3}`)}})
	}
	closeFeed(t, sink)
	sink = openFeed(t, c)
	write(t, sink, []Record{{ID: "4", JSON: json.RawMessage(`{"a":9,"b":4}`)}})
	closeFeed(t, sink)
	got := read(t, filepath.Join(dir, "1.csv")) + read(t, filepath.Join(dir, "2.csv")) + read(t, filepath.Join(dir, "3.csv"))
	if diff := cmp.Diff("b,c\r\n1,2\r\n3,\r\nb,c\r\n3,\r\nb,c\r\n4,\r\n", got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := strings.Count(log.String(), "field=a"); n != 2 {
		t.Errorf("two runs said %d times that a field has no column:\n%s", n, log.String())
	}
}

func TestItemsThatNoFileCanHoldAreRefused(t *testing.T) {
	t.Parallel()
	everyShape(t, func(t *testing.T, ending string) {
		path := filepath.Join(t.TempDir(), "items."+ending)
		sink := openFeed(t, FeedConfig{URI: path})
		list := records(0, 3)
		list[1].JSON = json.RawMessage(`{"n":1,"title":`)
		refused, err := sink.Write(t.Context(), list)
		if err != nil || len(refused) != 1 || refused[0].Index != 1 || !strings.Contains(refused[0].Err.Error(), "not valid JSON") {
			t.Errorf("refused %v, error %v", refused, err)
		}
		write(t, sink, records(1, 2))
		closeFeed(t, sink)
		got, err := numbers(path)
		if diff := cmp.Diff([]int{0, 2, 1}, got); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	})
}

func TestJSONFieldsAreChosenOrderedRenamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "items.jsonl")
	sink := openFeed(t, FeedConfig{URI: path, Fields: []FeedField{{"url", "lin\"k"}, {Name: "id"}, {Name: "none"}}})
	write(t, sink, []Record{
		{ID: "1", JSON: json.RawMessage("{\"a\":1,\n\"id\":12345678901234567890,\"url\":\"a&b<c\"}")},
		{ID: "2", JSON: json.RawMessage(`{"a":1}`)},
	})
	closeFeed(t, sink)
	if diff := cmp.Diff("{\"lin\\\"k\":\"a&b<c\",\"id\":12345678901234567890}\n{}\n", read(t, path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJSONLinesStayLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "items.jsonl")
	sink := openFeed(t, FeedConfig{URI: path})
	write(t, sink, []Record{{ID: "1", JSON: json.RawMessage("{\n \"a\": \"\\u0000 \\n 😀\"\n}")}})
	closeFeed(t, sink)
	if diff := cmp.Diff("{\"a\":\"\\u0000 \\n 😀\"}\n", read(t, path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
