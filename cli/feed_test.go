package cli_test

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// TestKilledWhileFilesAreWritten: a run is killed again and again while it writes feeds. After the last one every line parses and every page is in each
// feed, once.
func TestKilledWhileFilesAreWritten(t *testing.T) {
	t.Parallel()
	const pages, kills = 1200, 12
	redis := redistest.Start(t, redistest.Options{})
	site := newGraphSite(t, &graphSite{pages: pages, links: 4, delay: 50 * time.Millisecond})
	f := startFleet(t, 0, "filed.lua", "--redis", redis.URL(), "--seed", site.url("127.0.0.1", 0))
	f.dir = t.TempDir()
	f.grow(1)
	for i := range kills {
		waitList(t, redis, "graph:items", (i+1)*pages/(kills+2))
		<-time.After(rand.N(50 * time.Millisecond)) // at any point of a write
		f.killOne()
	}
	f.wait(3 * time.Minute)
	wantItemsOnce(t, redis, pages)
	for name, read := range map[string]func(r io.Reader) ([]string, error){"pages.jsonl": jsonURLs, "pages.csv": csvURLs, "parts/*.jsonl.gz": packedURLs} {
		files, err := filepath.Glob(filepath.Join(f.dir, name))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s: %v\n%s", name, err, f.workers[0].output)
		}
		var urls []string
		for _, file := range files {
			urls = append(urls, urlsOf(t, file, read)...)
		}
		slices.Sort(urls)
		if different := len(slices.Compact(slices.Clone(urls))); len(urls) != pages || different != pages {
			t.Errorf("%s: %d lines, %d of them different, want %d", name, len(urls), different, pages)
		}
		t.Logf("%s: %d files, %d lines after %d kills", name, len(files), len(urls), kills)
	}
	if left, _ := filepath.Glob(filepath.Join(f.dir, "*", "*.part")); len(left) > 0 {
		t.Errorf("not finished: %v", left)
	}
}

func urlsOf(t *testing.T, path string, read func(io.Reader) ([]string, error)) []string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	urls, err := read(file)
	if err != nil {
		t.Fatalf("%s does not parse: %v", path, err)
	}
	return urls
}

func jsonURLs(r io.Reader) (urls []string, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var page struct{ URL string }
		if err := json.Unmarshal(lines.Bytes(), &page); err != nil {
			return nil, err
		}
		urls = append(urls, page.URL)
	}
	return urls, lines.Err()
}

func packedURLs(r io.Reader) ([]string, error) {
	unpacked, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	return jsonURLs(unpacked)
}

func csvURLs(r io.Reader) (urls []string, err error) {
	rows, err := csv.NewReader(r).ReadAll() // each with as many fields as the header
	if err != nil {
		return nil, err
	}
	for _, row := range rows[1:] {
		urls = append(urls, row[0])
	}
	return urls, nil
}
