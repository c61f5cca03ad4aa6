package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"luacrawl/engine/database/dbtest"
	"luacrawl/scheduler/redistest"
)

// TestSlowDatabase: a table takes a second an insert. The file before it keeps up until the buffer is full; then a page is fetched for each that the
// table has taken, and memory stays flat.
func TestSlowDatabase(t *testing.T) {
	t.Parallel()
	const places = 4 + 40 // concurrent_requests and sink_buffer of slow.lua
	mariadb, redis := dbtest.MariaDB(t), redistest.Start(t, redistest.Options{})
	dsn := mariadb.DSN("root", "", "news")
	db := openDatabase(t, dsn)
	for _, statement := range []string{
		"CREATE TABLE pages (item_id varchar(64) PRIMARY KEY, url text, text longtext)",
		"CREATE TRIGGER slow BEFORE INSERT ON pages FOR EACH ROW SET @s = SLEEP(1)",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	site := newGraphSite(t, &graphSite{pages: 3000, links: 60})
	f := startFleet(t, 0, "slow.lua", "--redis", redis.URL(), "--seed", site.url("127.0.0.1", 0))
	dir := t.TempDir()
	p := startEnvironment(t, "luacrawl-measured", dir, []string{"STORE_DSN=" + dsn}, "run", f.spider, "--redis", redis.URL(), "--seed", site.url("127.0.0.1", 0))
	lines := func() int {
		files, _ := filepath.Glob(filepath.Join(dir, "pages.jsonl*"))
		n := 0
		for _, file := range files {
			text, _ := os.ReadFile(file)
			n += bytes.Count(text, []byte("\n"))
		}
		return n
	}
	eventually(t, time.Minute, "the buffer is full", func() bool { return len(site.fetches()) >= places+listLength(t, redis, "graph:items") })
	start := time.Now()
	var first, last int // heap
	for i := range 8 {
		taken := listLength(t, redis, "graph:items") // asked before the others, which go on
		heap, _ := p.holds(t)
		rows := column(t, db, "SELECT COUNT(*) FROM pages")[0]
		fetched, filed := len(site.fetches()), lines()
		t.Logf("after %5.1f s: heap %5d KB, fetched %3d, in the file %3d, in the table %3s, in redis %3d", time.Since(start).Seconds(), heap>>10, fetched, filed, rows, taken)
		done := listLength(t, redis, "graph:items")
		if fetched > done+places || fetched < taken+places-4 {
			t.Errorf("%d pages are fetched with %d to %d done and places for %d", fetched, taken, done, places)
		}
		if i == 1 {
			first = heap
		}
		last = heap
		want := taken + 2
		eventually(t, time.Minute, "the table takes more", func() bool { return listLength(t, redis, "graph:items") >= want })
	}
	eventually(t, time.Minute, "the file keeps up", func() bool { return lines() >= listLength(t, redis, "graph:items")+places-4 })
	if rows := listLength(t, redis, "graph:items"); rows > 60 {
		t.Errorf("%d rows already: the table is not slow", rows)
	}
	if last > first+first/4 {
		t.Errorf("the heap grew from %d to %d KB", first>>10, last>>10)
	}
}
