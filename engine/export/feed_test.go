package export

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// record is item n of a crawl.
func record(n int) Record {
	return Record{ID: fmt.Sprintf("id-%d", n), Spider: "news", JSON: json.RawMessage(fmt.Sprintf(`{"n":%d,"title":"item, \"%d\" 😀"}`, n, n))}
}

func records(from, to int) (list []Record) {
	for n := from; n < to; n++ {
		list = append(list, record(n))
	}
	return list
}

// openFeed makes and opens a feed, as a process that starts does.
func openFeed(t *testing.T, c FeedConfig) Sink {
	t.Helper()
	sink, err := NewFeed(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return sink
}

func write(t *testing.T, sink Sink, list []Record) {
	t.Helper()
	refused, err := sink.Write(t.Context(), list)
	if err != nil || len(refused) > 0 {
		t.Fatalf("refused %v, error %v", refused, err)
	}
}

func closeFeed(t *testing.T, sink Sink) {
	t.Helper()
	if err := sink.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// crash leaves a feed as kill -9 would: nothing is finished, the lock is free.
func crash(t *testing.T, sink Sink) {
	t.Helper()
	if err := sink.(*fileFeed).release(); err != nil {
		t.Fatal(err)
	}
}

// files are the visible files of a folder.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	return names
}

// plain reads a file and undoes its compression, to the end and no further.
func plain(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	name := strings.TrimSuffix(path, ".part")
	switch filepath.Ext(name) {
	case ".gz":
		if r, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	case ".zst":
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// numbers reads the items' n out of a whole file, in their order; every line must parse.
func numbers(path string) (found []int, err error) {
	text, err := plain(path)
	if err != nil {
		return nil, err
	}
	type item struct{ N int }
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".zst")
	switch filepath.Ext(name) {
	case ".json":
		var items []item
		if err := json.Unmarshal(text, &items); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, it := range items {
			found = append(found, it.N)
		}
	case ".csv":
		rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
		if err != nil || !slices.Equal(rows[0], []string{"n", "title"}) || !strings.HasSuffix(string(text), "\r\n") {
			return nil, fmt.Errorf("%s: header %v: %w", path, rows[:min(1, len(rows))], err)
		}
		for _, row := range rows[1:] {
			var n int
			if _, err := fmt.Sscan(row[0], &n); err != nil || row[1] != fmt.Sprintf(`item, "%d" 😀`, n) {
				return nil, fmt.Errorf("%s: row %q: %w", path, row, err)
			}
			found = append(found, n)
		}
	default:
		for line := range strings.Lines(string(text)) {
			var it item
			if err := json.Unmarshal([]byte(line), &it); err != nil || !strings.HasSuffix(line, "\n") {
				return nil, fmt.Errorf("%s: line %q: %w", path, line, err)
			}
			found = append(found, it.N)
		}
	}
	return found, nil
}

func wantNumbers(t *testing.T, path string, from, to int) {
	t.Helper()
	got, err := numbers(path)
	if err != nil {
		t.Fatal(err)
	}
	var want []int
	for n := from; n < to; n++ {
		want = append(want, n)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// everyShape runs a test with each format and compression.
func everyShape(t *testing.T, test func(t *testing.T, ending string)) {
	for _, format := range []string{"jsonl", "json", "csv"} {
		for _, pack := range []string{"", ".gz", ".zst"} {
			t.Run(format+pack, func(t *testing.T) {
				t.Parallel()
				test(t, format+pack)
			})
		}
	}
}

func TestFeedIsWholeUnderItsNameAfterClose(t *testing.T) {
	t.Parallel()
	everyShape(t, func(t *testing.T, ending string) {
		dir := t.TempDir()
		path := filepath.Join(dir, "out", "items."+ending)
		sink := openFeed(t, FeedConfig{URI: path})
		write(t, sink, records(0, 10))
		write(t, sink, records(10, 11))
		if diff := cmp.Diff([]string{"items." + ending + ".part"}, files(t, filepath.Dir(path))); diff != "" {
			t.Errorf("while it is written: %s", diff)
		}
		closeFeed(t, sink)
		if diff := cmp.Diff([]string{"items." + ending}, files(t, filepath.Dir(path))); diff != "" {
			t.Errorf("once it is whole: %s", diff)
		}
		wantNumbers(t, path, 0, 11)
	})
}

func TestFeedGoesOnInItsOwnFile(t *testing.T) {
	t.Parallel()
	everyShape(t, func(t *testing.T, ending string) {
		path := filepath.Join(t.TempDir(), "items."+ending)
		for i := range 6 {
			sink := openFeed(t, FeedConfig{URI: path, Crawl: "one"})
			if i > 0 {
				write(t, sink, records(0, i*10)) // again
			}
			write(t, sink, records(i*10, i*10+10))
			if i%2 == 0 {
				crash(t, sink)
			} else {
				closeFeed(t, sink)
			}
		}
		wantNumbers(t, path, 0, 60)
	})
}

// TestFeedCutsOffWhatACrashTore puts every kind of torn end behind a feed.
func TestFeedCutsOffWhatACrashTore(t *testing.T) {
	t.Parallel()
	everyShape(t, func(t *testing.T, ending string) {
		for name, tear := range map[string]func(t *testing.T, part, journal string){
			"bytes that no journal knows": func(t *testing.T, part, _ string) { appendTo(t, part, strings.Repeat(`{"n":99,"ti`, 500)) },
			"a torn journal entry and bytes": func(t *testing.T, part, journal string) {
				appendTo(t, part, `{"n":99}`+"\n")
				appendTo(t, journal, "\x50\x00\x00\x00\x01\x00\x00\x00abcd{")
			},
			"a chunk cut short":  func(t *testing.T, part, _ string) { cutBy(t, part, 3) },
			"a chunk of zeros":   func(t *testing.T, part, _ string) { zeroEnd(t, part, 5) },
			"a chunk not begun":  func(t *testing.T, part, _ string) { cutBy(t, part, -1) },
			"a torn last record": func(t *testing.T, _, journal string) { cutBy(t, journal, 2) },
		} {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				c := FeedConfig{URI: filepath.Join(dir, "items."+ending), Crawl: "one"}
				sink := openFeed(t, c)
				write(t, sink, records(0, 10))
				before, _ := os.Stat(c.URI + ".part")
				write(t, sink, records(10, 20))
				crash(t, sink)
				journals, _ := filepath.Glob(filepath.Join(dir, ".*.journal"))
				if name == "a chunk not begun" {
					if err := os.Truncate(c.URI+".part", before.Size()); err != nil {
						t.Fatal(err)
					}
				} else {
					tear(t, c.URI+".part", journals[0])
				}
				sink = openFeed(t, c)
				write(t, sink, records(0, 30))
				closeFeed(t, sink)
				wantNumbers(t, c.URI, 0, 30)
			})
		}
	})
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func cutBy(t *testing.T, path string, n int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-n); err != nil {
		t.Fatal(err)
	}
}

func zeroEnd(t *testing.T, path string, n int64) {
	t.Helper()
	cutBy(t, path, n)
	cutBy(t, path, -n)
}

// TestCrashAsAFileIsBegun checks both sides of the moment between the journal's word of a new file and the file.
func TestCrashAsAFileIsBegun(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"items.jsonl", "items-%(part)d.jsonl"} {
		for _, made := range []bool{false, true} {
			dir := t.TempDir()
			c := FeedConfig{URI: filepath.Join(dir, name), Crawl: "one"}
			begin := func() {
				sink := openFeed(t, c)
				if err := sink.(*fileFeed).start(); err != nil {
					t.Fatal(err)
				}
				crash(t, sink)
				if part, _ := filepath.Glob(filepath.Join(dir, "*.part")); !made {
					if err := os.Remove(part[0]); err != nil {
						t.Fatal(err)
					}
				}
			}
			begin()
			closeFeed(t, openFeed(t, c))
			if left := files(t, dir); len(left) > 0 {
				t.Errorf("%s, made %v: left are %v", name, made, left)
			}
			begin()
			sink := openFeed(t, c)
			write(t, sink, records(0, 3))
			closeFeed(t, sink)
			wantOnce(t, dir, 3)
		}
	}
}
