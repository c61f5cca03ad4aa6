package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"luacrawl/engine/database/dbtest"
	"luacrawl/scheduler/redistest"
)

// storedPages is how large a crawl into a database is: the long form is LUACRAWL_SOAK's.
func storedPages() int {
	if os.Getenv("LUACRAWL_SOAK") != "" {
		return 20_000
	}
	return 2_000
}

// store is a database that a fleet writes into.
type store struct {
	dsn     string
	restart func() // kills it and starts it again; nil for a file
}

func newStore(t *testing.T, name string) store {
	t.Helper()
	switch name {
	case "mariadb":
		s := dbtest.MariaDB(t)
		return store{s.DSN("root", "", "news"), s.Restart}
	case "postgres":
		s := dbtest.Postgres(t)
		return store{s.DSN("postgres", "", "postgres"), s.Restart}
	}
	return store{"sqlite:" + filepath.Join(t.TempDir(), "pages.db"), nil} // of several processes on one host
}

// TestKilledWorkersStoreEachPageOnce: workers are killed all the while and the database twice; its table, and Redis, hold each page once.
func TestKilledWorkersStoreEachPageOnce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mariadb", "postgres", "sqlite"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages, start := storedPages(), time.Now()
			s, redis := newStore(t, name), redistest.Start(t, redistest.Options{})
			site := newGraphSite(t, &graphSite{pages: pages, links: 4, delay: 100 * time.Millisecond})
			f := startFleet(t, 0, "stored.lua", "--redis", redis.URL(), "--seed", site.url("127.0.0.1", 0))
			f.environ = []string{"STORE_DSN=" + s.dsn}
			f.grow(3)
			kills := f.killUntil(redis, pages*17/20, s.restart, pages/4, pages/2)
			f.wait(5 * time.Minute)
			wantItemsOnce(t, redis, pages)
			wantNothingLeft(t, redis)
			urls := column(t, openDatabase(t, s.dsn), "SELECT url FROM pages")
			if different := len(slices.Compact(slices.Clone(urls))); len(urls) != pages || different != pages {
				t.Errorf("the table has %d rows, %d of them different, want %d", len(urls), different, pages)
			}
			fetched := 0
			for _, n := range site.fetches() {
				fetched += n
			}
			t.Logf("%d pages, %d fetches, %d workers killed: %d rows, %d items in Redis, %v", pages, fetched, kills, len(urls), listLength(t, redis, "graph:items"), time.Since(start).Round(time.Second))
		})
	}
}

// killUntil kills a worker every so often until Redis has so many items, and calls restart when it has as many as each of at.
func (f *fleet) killUntil(redis *redistest.Server, items int, restart func(), at ...int) (kills int) {
	f.t.Helper()
	tick := time.NewTicker(400 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Minute)
	for {
		n := listLength(f.t, redis, "graph:items")
		if len(at) > 0 && n >= at[0] {
			if at = at[1:]; restart != nil {
				restart()
			}
		}
		if n >= items {
			return kills
		}
		select {
		case <-tick.C:
			f.killOne()
			kills++
		case <-deadline:
			f.t.Fatalf("%d of %d items after %d kills\n%s", n, items, kills, f.workers[0].output)
		}
	}
}
