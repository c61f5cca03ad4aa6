package export

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTwoFeedsToOneFileAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "items.jsonl")
	wantBoth := func(err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), `"first"`) || !strings.Contains(err.Error(), `"second"`) {
			t.Errorf("got %v, want both named", err)
		}
	}
	one := FeedConfig{Name: "first", URI: path}
	two := FeedConfig{Name: "second", URI: filepath.Join(dir, "x", "..", "items.jsonl"), Format: "csv"}
	wantBoth(CheckFeeds([]FeedConfig{one, {URI: path + ".gz"}, two}))
	wantBoth(CheckFeeds([]FeedConfig{{Name: "first", URI: "-"}, {Name: "second", URI: "-", Format: "csv"}}))
	wantBoth(CheckFeeds([]FeedConfig{{Name: "first", URI: "%(spider)s.csv", Spider: "a"}, {Name: "second", URI: "a.csv"}}))
	if err := CheckFeeds([]FeedConfig{one, {URI: path + ".gz"}, {URI: "-"}, {URI: "s3://b/%(part)d"}}); err != nil {
		t.Error(err)
	}

	sink := openFeed(t, one)
	write(t, sink, records(0, 1))
	other, err := NewFeed(two)
	if err != nil {
		t.Fatal(err)
	}
	wantBoth(other.Open(t.Context()))
	write(t, sink, records(1, 2))
	closeFeed(t, sink)
	wantNumbers(t, path, 0, 2)
}

// TestTwoPatternsForOneFile has feeds whose patterns differ and whose files do not.
func TestTwoPatternsForOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sink := openFeed(t, FeedConfig{Name: "first", URI: filepath.Join(dir, "%(part)d.jsonl")})
	write(t, sink, records(0, 1))
	other := openFeed(t, FeedConfig{Name: "second", URI: filepath.Join(dir, "1.jsonl")})
	_, err := other.Write(t.Context(), records(5, 6))
	if err == nil || !strings.Contains(err.Error(), `1.jsonl.part is there, and this feed did not begin it: another feed writes to it`) {
		t.Errorf("got %v", err)
	}
	closeFeed(t, other)
	closeFeed(t, sink)
	wantNumbers(t, filepath.Join(dir, "1.jsonl"), 0, 1)
}

func TestPlacesThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ uri, want string }{
		{put("file", "") + "/out/items.jsonl", "make the folder for"},
		{put("foreign.jsonl", "{}\n"), "foreign.jsonl is there, and this feed did not write it"},
		{dir, "is no plain file (d"},
		{fifo, "is no plain file (p"},
		{os.DevNull, "is no plain file (D"},
	} {
		sink, err := NewFeed(FeedConfig{URI: tc.uri})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Open(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.uri, err, tc.want)
		}
		if _, err := sink.Write(t.Context(), records(0, 1)); err == nil {
			t.Errorf("%s: a feed that is not open takes items", tc.uri)
		}
	}
	if got := read(t, filepath.Join(dir, "foreign.jsonl")); got != "{}\n" {
		t.Errorf("the file of somebody else is now %q", got)
	}
}

func TestAFileThatChangedIsNotTouched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := FeedConfig{URI: filepath.Join(dir, "items.jsonl"), Crawl: "one"}
	sink := openFeed(t, c)
	write(t, sink, records(0, 9))
	crash(t, sink)
	cutBy(t, c.URI+".part", 200) // the journal's last chunk is the whole file, so that it counts as not written
	sink = openFeed(t, c)
	write(t, sink, records(0, 9))
	write(t, sink, records(9, 12))
	crash(t, sink)
	if err := os.Truncate(c.URI+".part", 10); err != nil {
		t.Fatal(err)
	}
	sink, _ = NewFeed(c)
	if err := sink.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "something else has changed it") {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(c.URI + ".part"); err != nil {
		t.Fatal(err)
	}
	sink = openFeed(t, c)
	write(t, sink, records(20, 22))
	closeFeed(t, sink)
	wantNumbers(t, c.URI, 20, 22)
}

func TestANewCrawl(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, uri string
		overwrite bool
		crash     bool
		want      map[string][2]int
	}{
		{"adds to its file", "items.json.gz", false, false, map[string][2]int{"items.json.gz": {0, 20}}},
		{"adds to a file that a crash left", "items.json", false, true, map[string][2]int{"items.json": {0, 20}}},
		{"replaces the file", "items.csv", true, false, map[string][2]int{"items.csv": {10, 20}}},
		{"replaces a file that a crash left", "items.csv.zst", true, true, map[string][2]int{"items.csv.zst": {10, 20}}},
		{"begins a part", "items-%(part)d.json", false, true, map[string][2]int{"items-1.json": {0, 10}, "items-2.json": {10, 20}}},
		{"replaces the parts", "items-%(part)d.json", true, false, map[string][2]int{"items-1.json": {10, 20}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := FeedConfig{URI: filepath.Join(dir, tc.uri), Overwrite: tc.overwrite, Crawl: "one"}
			sink := openFeed(t, c)
			write(t, sink, records(0, 10))
			if tc.crash {
				crash(t, sink)
			} else {
				closeFeed(t, sink)
			}
			c.Crawl = "two"
			sink = openFeed(t, c)
			list := records(10, 20)
			for i := range list {
				list[i].ID = record(i).ID // the pages of before, with other items
			}
			write(t, sink, list)
			closeFeed(t, sink)
			for name, numbers := range tc.want {
				wantNumbers(t, filepath.Join(dir, name), numbers[0], numbers[1])
			}
			if n := len(files(t, dir)); n != len(tc.want) {
				t.Errorf("files: %v", files(t, dir))
			}
		})
	}
}

func TestAnotherShapeNeedsAnotherFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := FeedConfig{URI: filepath.Join(dir, "items"), Crawl: "one", Format: "csv", Fields: []FeedField{{Name: "n"}, {Name: "title"}}}
	sink := openFeed(t, c)
	write(t, sink, records(0, 5))
	closeFeed(t, sink)
	c.Fields = c.Fields[:1]
	sink, _ = NewFeed(c)
	want := `was written as csv ["n" "title"], and is to go on as csv ["n"]`
	if err := sink.Open(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	c.Format, c.Compress, c.Fields, c.URI = "json", "gzip", nil, filepath.Join(dir, "%(part)d")
	sink = openFeed(t, c)
	write(t, sink, records(0, 5))
	crash(t, sink)
	c.Format, c.Compress = "jsonl", "zstd"
	sink = openFeed(t, c)
	write(t, sink, records(0, 9))
	closeFeed(t, sink)
	for from, to := range map[string]string{"1": "a.json.gz", "2": "b.jsonl.zst"} {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	wantNumbers(t, filepath.Join(dir, "a.json.gz"), 0, 5)
	wantNumbers(t, filepath.Join(dir, "b.jsonl.zst"), 5, 9)
}

func TestRotation(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	everyShape(t, func(t *testing.T, ending string) {
		dir := t.TempDir()
		sink := openFeed(t, FeedConfig{URI: filepath.Join(dir, "%(part)d."+ending), RotateCount: 10})
		write(t, sink, records(0, 25))
		write(t, sink, records(25, 26))
		if diff := cmp.Diff([]string{"1." + ending, "2." + ending, "3." + ending + ".part"}, files(t, dir)); diff != "" {
			t.Error(diff)
		}
		write(t, sink, records(26, 30))
		closeFeed(t, sink)
		for i := range 3 {
			wantNumbers(t, filepath.Join(dir, string(rune('1'+i))+"."+ending), i*10, i*10+10)
		}
	})
	t.Run("size", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		sink := openFeed(t, FeedConfig{URI: filepath.Join(dir, "%(part)02d.jsonl"), RotateSize: 1000})
		write(t, sink, records(0, 300))
		big := record(300)
		big.JSON = append(append([]byte(`{"n":300,"title":"`), strings.Repeat("x", 2000)...), `"}`...)
		write(t, sink, []Record{big, record(301)})
		closeFeed(t, sink)
		var all []byte
		for _, name := range files(t, dir) {
			text := read(t, filepath.Join(dir, name))
			if len(text) > 1000 && strings.Count(text, "\n") > 1 || len(text) < 900 && !strings.Contains(text, "301") && !strings.Contains(text, "299") {
				t.Errorf("%s has %d bytes", name, len(text))
			}
			all = append(all, text...)
		}
		if n := bytes.Count(all, []byte("\n")); n != 302 {
			t.Errorf("%d lines", n)
		}
	})
	t.Run("size of compressed", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		sink := openFeed(t, FeedConfig{URI: filepath.Join(dir, "%(part)d.jsonl.gz"), RotateSize: 50 << 10})
		write(t, sink, records(0, 40000))
		closeFeed(t, sink)
		if names := files(t, dir); len(names) < 3 {
			t.Errorf("files: %v", names)
		}
		for _, name := range files(t, dir) {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() > (50+256)<<10 {
				t.Errorf("%s has %d bytes, %v", name, info.Size(), err)
			}
		}
		wantOnce(t, dir, 40000)
	})
	t.Run("time", func(t *testing.T) {
		dir := t.TempDir()
		sink := openFeed(t, FeedConfig{URI: filepath.Join(dir, "%(time)s-%(part)d.jsonl"), RotateEvery: time.Minute, Now: clock})
		write(t, sink, records(0, 5))
		now = now.Add(59 * time.Second)
		write(t, sink, nil)
		write(t, sink, records(5, 6))
		now = now.Add(time.Second)
		write(t, sink, nil) // nothing comes, and the file is ended all the same
		if diff := cmp.Diff([]string{"2026-01-01T00-00-00-1.jsonl"}, files(t, dir)); diff != "" {
			t.Error(diff)
		}
		write(t, sink, records(6, 7))
		closeFeed(t, sink)
		wantNumbers(t, filepath.Join(dir, "2026-01-01T00-00-00-1.jsonl"), 0, 6)
		wantNumbers(t, filepath.Join(dir, "2026-01-01T00-01-00-2.jsonl"), 6, 7)
	})
}

func TestPartsOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "1.jsonl"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sink := openFeed(t, FeedConfig{URI: filepath.Join(dir, "%(part)d.jsonl")})
	write(t, sink, records(0, 1))
	closeFeed(t, sink)
	wantNumbers(t, filepath.Join(dir, "2.jsonl"), 0, 1)
	if got := read(t, filepath.Join(dir, "1.jsonl")); got != "{}\n" {
		t.Errorf("got %q", got)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "items.jsonl")
	sink := openFeed(t, FeedConfig{URI: path, Kinds: []string{"a", ""}})
	list := records(0, 4)
	list[2].Kind, list[3].Kind = "b", "a"
	write(t, sink, append(list, record(1)))
	closeFeed(t, sink)
	if got, err := numbers(path); err != nil || !cmp.Equal(got, []int{0, 1, 3}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestTheWindowForgetsTheOldest(t *testing.T) {
	t.Parallel()
	s := newSeen(3)
	for _, id := range []string{"a", "b", "a", "c", "d"} {
		s.add(keyOf(id))
	}
	if s.has(keyOf("a")) || !s.has(keyOf("b")) || !s.has(keyOf("d")) || len(s.known) != 3 {
		t.Errorf("known: %v", s.known)
	}
	if diff := cmp.Diff([]idKey{keyOf("b"), keyOf("c"), keyOf("d")}, s.all()); diff != "" {
		t.Error(diff)
	}
}

// halting fails each second write, after some bytes.
type halting struct {
	bytes.Buffer
	turn int
}

func (h *halting) Write(b []byte) (int, error) {
	if h.turn++; h.turn%2 == 1 {
		n, _ := h.Buffer.Write(b[:len(b)/2])
		return n, errors.New("pipe is closed")
	}
	return h.Buffer.Write(b)
}

func TestStdout(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{"json", "csv.gz", "jsonl.zst"} {
		format, pack, _ := strings.Cut(ending, ".")
		var out halting
		sink := openFeed(t, FeedConfig{URI: "-", Format: format, Compress: map[string]string{"gz": "gzip", "zst": "zstd"}[pack], Stdout: &out})
		for n := 0; n < 30; n += 10 {
			if _, err := sink.Write(t.Context(), records(n, n+10)); err == nil || !strings.Contains(err.Error(), "pipe is closed") {
				t.Fatalf("got %v", err)
			}
			write(t, sink, records(n, n+10))
		}
		if err := sink.Close(t.Context()); err == nil {
			t.Fatal("the end did not get through, and nobody said so")
		}
		closeFeed(t, sink)
		path := filepath.Join(t.TempDir(), "items."+ending)
		if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		wantNumbers(t, path, 0, 30)
	}
}

// TestOtherProgramsReadCompressedFiles asks gzip, which every system of ours has, about a file with a crash in the middle.
func TestOtherProgramsReadCompressedFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "items.jsonl.gz")
	for n := 0; n < 30; n += 10 {
		sink := openFeed(t, FeedConfig{URI: path, Crawl: "one"})
		write(t, sink, records(n, n+10))
		if n < 20 {
			crash(t, sink)
		} else {
			closeFeed(t, sink)
		}
	}
	out, err := exec.Command("gzip", "-dc", path).Output()
	if err != nil || bytes.Count(out, []byte("\n")) != 30 {
		t.Errorf("%v: %s", err, out)
	}
}
