package cli_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"luacrawl/engine/database"
	"luacrawl/engine/database/dbtest"
	"luacrawl/examples/hotnews-mysql/feed"
	"luacrawl/scheduler/redistest"
)

const hotnewsMySQL = "../examples/hotnews-mysql/hotnews.lua"

// TestTutorialOnTwoProcesses is examples/hotnews-mysql: seeds by redis-cli, two processes, one stopped on the way. MySQL and hotnews:items
// hold the same articles, each once; so they do when the database is killed and comes back.
func TestTutorialOnTwoProcesses(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"run", "worker"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			const stories, categories = 200, 6 // 8 of each 200 are advertisements
			site := httptest.NewServer(feed.Handler(stories))
			t.Cleanup(site.Close)
			redis, mariadb := redistest.Start(t, redistest.Options{}), dbtest.MariaDB(t)
			dsn := mariadb.DSN("root", "", "news")
			start := func() *process {
				args := []string{"worker", "--env", "HOTNEWS_DSN"}
				if command == "run" {
					args = []string{"run", abs(hotnewsMySQL)}
				}
				return startEnvironment(t, "luacrawl", t.TempDir(), []string{"HOTNEWS_DSN=" + dsn}, append(args, "--redis", redis.URL(), "--set", "download_delay=0.02")...)
			}
			first, second := start(), start()
			if command == "worker" {
				push := startLuacrawl(t, "", "push", abs(hotnewsMySQL), "--redis", redis.URL())
				push.wantExit(t, 30*time.Second, 0)
			}
			seedByHand(t, redis, site.URL)
			waitList(t, redis, "hotnews:items", 100)
			first.interrupt(t)
			if n := listLength(t, redis, "hotnews:items"); n >= stories*categories*9/10 {
				t.Fatalf("%d items: the crawl was over before one was stopped", n)
			}
			if command == "worker" {
				mariadb.Restart() // killed: what is not there is asked again
			}
			const want = (stories - stories/25) * categories
			waitList(t, redis, "hotnews:items", want)
			second.interrupt(t)
			wantSameArticles(t, redis, openDatabase(t, dsn), want)
			if dead := redis.Strings("LRANGE", "hotnews:dead", "0", "-1"); len(dead) > 0 {
				t.Errorf("dead letters: %v", dead)
			}
		})
	}
}

// seedByHand runs seed.sh, which uses redis-cli.
func seedByHand(t *testing.T, redis *redistest.Server, base string) {
	t.Helper()
	cmd := exec.Command("sh", abs("../examples/hotnews-mysql/seed.sh"), base)
	cmd.Env = append(os.Environ(), "REDIS="+redis.URL())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("seed.sh: %v: %s", err, out)
	}
}

// waitList waits for values in a list.
func waitList(t *testing.T, redis *redistest.Server, key string, n int) {
	t.Helper()
	eventually(t, 3*time.Minute, fmt.Sprintf("%d values in %s", n, key), func() bool { return listLength(t, redis, key) >= n })
}

func listLength(t *testing.T, redis *redistest.Server, key string) int {
	t.Helper()
	n, err := strconv.Atoi(redis.Strings("LLEN", key)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// openDatabase is a connection of the test's own.
func openDatabase(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	source, err := database.Parse(dsn, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := source.Open(false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// column is what a query gives, sorted.
func column(t *testing.T, db *sql.DB, query string) (values []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(values)
	return values
}

// wantSameArticles compares the table with the list, field by field.
func wantSameArticles(t *testing.T, redis *redistest.Server, db *sql.DB, want int) {
	t.Helper()
	var stored []string
	for _, raw := range redis.Strings("LRANGE", "hotnews:items", "0", "-1") {
		var a struct {
			URL      string    `json:"source_url"`
			Title    string    `json:"title"`
			Abstract string    `json:"abstract"`
			Source   string    `json:"source"`
			Comments int       `json:"comments_count"`
			Time     time.Time `json:"behot_time"`
		}
		if err := json.Unmarshal([]byte(raw), &a); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		stored = append(stored, fmt.Sprintf("%s|%s|%s|%s|%d|%s", a.URL, a.Title, a.Abstract, a.Source, a.Comments, a.Time.UTC().Format("2006-01-02 15:04:05")))
	}
	slices.Sort(stored)
	rows := column(t, db, "SELECT CONCAT(source_url,'|',title,'|',abstract,'|',source,'|',comments_count,'|',DATE_FORMAT(behot_time, '%Y-%m-%d %H:%i:%s')) FROM articles")
	if len(rows) != want || len(slices.Compact(slices.Clone(rows))) != want || !slices.Equal(rows, stored) {
		t.Errorf("%d rows in the table, %d of them different, %d items in Redis, want the same %d; first %q and %q", len(rows), len(slices.Compact(slices.Clone(rows))), len(stored), want, rows[0], stored[0])
	}
	t.Logf("%d rows and %d items, the same", len(rows), len(stored))
}
