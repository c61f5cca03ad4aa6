package luabind_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"luacrawl/engine/database"
	"luacrawl/engine/database/dbtest"
	"luacrawl/luabind"
)

// sqlFailures are statements that fail, by name.
var sqlFailures = map[string]string{
	"duplicate": `db:exec("INSERT INTO t (id, n) VALUES (1, 1)")`,
	"null":      `db:exec("INSERT INTO t (id, n) VALUES (2, NULL)")`,
	"child":     `db:exec("INSERT INTO child (id) VALUES (7)")`,
	"unknown":   `db:query_one("SELECT * FROM no_such_table")`,
	"many":      `db:query("SELECT a.d FROM ten a, ten b, ten c, ten d, ten e")`,
	"within":    `db:transaction(function(tx) tx:exec("INSERT INTO t (id, n) VALUES (1, 1)") end)`,
	"passed":    `db:transaction(function(tx) return tx:query("SELECT * FROM no_such_table") end)`,
}

// sqlServer is a database of a test, and what its failures are: kind and code.
type sqlServer struct {
	dsn, closed    string         // nobody gets into closed
	lock, conflict string         // a statement that locks, and one that does not wait for it
	server         *dbtest.Server // nil for a file
	codes          map[string]string
}

func newSQLServer(t *testing.T, name string) sqlServer {
	t.Helper()
	const lock, conflict = "SELECT n FROM t WHERE id = 1 FOR UPDATE", `db:query("SELECT n FROM t WHERE id = 1 FOR UPDATE NOWAIT")`
	switch name {
	case "mariadb":
		s := dbtest.MariaDB(t)
		return sqlServer{s.DSN("root", "", "news"), s.DSN("nobody", "", "news"), lock, conflict, s, map[string]string{
			"duplicate": "duplicate 1062", "null": "refused 1048", "child": "refused 1452", "unknown": "failed 1146", "many": "failed nil",
			"within": "duplicate 1062", "passed": "failed 1146", "conflict": "busy 1205", "closed": "unavailable 1045",
		}}
	case "postgres":
		s := dbtest.Postgres(t)
		return sqlServer{s.DSN("postgres", "", "postgres"), s.DSN("postgres", "", "nowhere"), lock, conflict, s, map[string]string{
			"duplicate": "duplicate 23505", "null": "refused 23502", "child": "refused 23503", "unknown": "failed 42P01", "many": "failed nil",
			"within": "duplicate 23505", "passed": "failed 42P01", "conflict": "busy 55P03", "closed": "unavailable 3D000",
		}}
	}
	dir := t.TempDir()
	return sqlServer{"sqlite:" + filepath.Join(dir, "news.db") + "?_busy_timeout=1&_foreign_keys=1", "sqlite:" + dir,
		"UPDATE t SET n = 2", `db:exec("UPDATE t SET n = 3")`, nil, map[string]string{
			"duplicate": "duplicate 1555", "null": "refused 1299", "child": "refused 787", "unknown": "failed 1", "many": "failed nil",
			"within": "duplicate 1555", "passed": "failed 1", "conflict": "busy 5", "closed": "unavailable 14",
		}}
}

// TestSQLFailures tells the failures of databases apart by what follows nil and the text.
func TestSQLFailures(t *testing.T) {
	t.Parallel()
	const told = "return (function(r, why, ...) return type(r), type(why), table.concat({ tostring((...)), tostring((select(2, ...))) }, ' ') end)(%s)"
	for _, name := range []string{"mariadb", "postgres", "sqlite"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := newSQLServer(t, name)
			chunks := map[string]string{
				"t":        `return db:exec("CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL)")`,
				"child_of": `return db:exec("CREATE TABLE child (id int, FOREIGN KEY (id) REFERENCES t (id))")`,
				"ten":      `return db:exec("CREATE TABLE ten (d int)"), db:exec("INSERT INTO ten VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")`,
				"row":      `return db:exec("INSERT INTO t (id, n) VALUES (1, 1)").affected`,
				"conflict": fmt.Sprintf(told, on.conflict),
			}
			for failure, statement := range sqlFailures {
				chunks[failure] = fmt.Sprintf(told, statement)
			}
			s := sqlSpider(t, on.dsn, luabind.Options{}, chunks)
			for _, made := range []string{"t", "child_of", "ten", "row"} {
				if got := sqlRun(t, s, made); len(got) > 7 && got[:7] == "raised:" {
					t.Fatal(got)
				}
			}
			want := func(failure, codes, got string) {
				t.Helper()
				if got != "nil | string | "+codes {
					t.Errorf("%s: got %s, want %s", failure, got, codes)
				}
			}
			for failure := range sqlFailures {
				want(failure, on.codes[failure], sqlRun(t, s, failure))
			}
			unlock := sqlLock(t, on)
			want("conflict", on.codes["conflict"], sqlRun(t, s, "conflict"))
			unlock()
			closed := map[string]string{"parse": fmt.Sprintf(told, `db:query("SELECT 1")`)}
			want("closed", on.codes["closed"], sqlRun(t, sqlSpider(t, on.closed, luabind.Options{}, closed), "parse"))
			if on.server != nil {
				on.server.Kill()
				want("killed", "unavailable nil", sqlRun(t, s, "unknown"))
			}
		})
	}
}

// sqlLock holds a lock in a transaction of its own until it is told to let go.
func sqlLock(t *testing.T, on sqlServer) (unlock func()) {
	t.Helper()
	source, err := database.Parse(on.dsn, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pools := database.NewPools()
	t.Cleanup(func() { pools.Close() })
	tx, err := pools.Begin(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Query(t.Context(), database.Limit{Rows: 1, Bytes: 100}, on.lock); err != nil {
		t.Fatal(err)
	}
	return tx.Rollback
}
