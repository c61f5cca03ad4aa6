package luabind_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/engine/database"
	"luacrawl/engine/database/dbtest"
	"luacrawl/luabind"
	"luacrawl/luabind/luabindtest"
	"luacrawl/scheduler"
)

// sqlDSN starts a database and gives its DSN.
func sqlDSN(t *testing.T, name string) string {
	t.Helper()
	switch name {
	case "mariadb":
		return dbtest.MariaDB(t).DSN("root", "", "news")
	case "postgres":
		return dbtest.Postgres(t).DSN("postgres", "", "postgres")
	}
	return "sqlite:" + filepath.Join(t.TempDir(), "news.db")
}

// sqlSpider is a spider whose functions by name run chunks, with db open on DSN.
func sqlSpider(t *testing.T, dsn string, o luabind.Options, chunks map[string]string) *luabindtest.Fixture {
	t.Helper()
	text := `local spider = { name = "test" } local sql, json = require("sql"), require("json") local db = sql.open("env:NEWS_DSN")
local function plain(v) if v == nil then return "nil" end if type(v) == "table" then return json.encode(v) end return tostring(v) end
local function all(...) local out = {} for i = 1, select("#", ...) do out[i] = plain((select(i, ...))) end emit { got = table.concat(out, " | ") } end
`
	for name, chunk := range chunks {
		text += fmt.Sprintf("function spider.%s(response) all((function() %s\nend)()) end\n", name, chunk)
	}
	o.Env = func(name string) (string, bool) { return dsn, name == "NEWS_DSN" }
	return luabindtest.SpiderWith(t, luabindtest.Files{luabindtest.Main: text + "\nreturn spider"}, o)
}

// sqlRun runs one function, whose error is the result too.
func sqlRun(t *testing.T, s *luabindtest.Fixture, name string) string {
	t.Helper()
	out, err := s.Callback(&scheduler.Request{URL: "http://site.test/", Callback: name}, "")
	return sqlResult(t, out, err)
}

func sqlResult(t *testing.T, out *engine.Output, err error) string {
	t.Helper()
	var e *engine.ScriptError
	if errors.As(err, &e) {
		return "raised: " + e.Message
	}
	if err != nil {
		return "error: " + err.Error()
	}
	var item struct{ Got string }
	if err := json.Unmarshal(out.Items[0], &item); err != nil {
		t.Fatal(err)
	}
	return item.Got
}

// sqlCase is a chunk and what it returns; a want that ends in ... is the start of it. Postgres numbers its parameters.
type sqlCase struct{ chunk, want string }

var sqlCases = []sqlCase{
	{`return db:exec("INSERT INTO t (id, title) VALUES (?, ?)", 1, "it's 😀 \\ \"x\"").affected`, "1"},
	{`return db:query_one("SELECT id, title FROM t WHERE id = ?", 1)`, `{"id":1,"title":"it's 😀 \\ \"x\""}`},
	{`return db:query("SELECT id FROM t WHERE id = ?", 7), db:query_one("SELECT id FROM t WHERE id = ?", 7)`, "[] | nil"},
	{`db:exec("INSERT INTO t (id, title, n) VALUES (?, ?, ?)", 2, nil, json.null) local r = db:query_one("SELECT title, n FROM t WHERE id = ?", 2) return r.title, r.n, r`, "nil | nil | {}"},
	{`db:exec("INSERT INTO t (id, n) VALUES (?, ?)", 3, "9007199254740993") local r = db:query_one("SELECT n FROM t WHERE id = ?", 3) return r.n, type(r.n)`, "9007199254740993 | string"},
	{`db:exec("INSERT INTO t (id, n, f) VALUES (?, ?, ?)", 4, 2^53, 1.5) local r = db:query_one("SELECT n, f FROM t WHERE id = ?", 4) return r.n == 2^53, type(r.n), r.f`, "true | number | 1.5"},
	{`return #db:query("SELECT id FROM t WHERE title = ? OR id < ?", "'; DROP TABLE t; --", 4)`, "3"},
	{`return db:query_one("SELECT id FROM t ORDER BY id").id`, "1"},
	{`local r, err = db:exec("INSERT INTO t (id) VALUES (?)", 1) return r, err ~= nil and err:find("@") == nil and (err:lower():find("duplicate") or err:lower():find("unique")) ~= nil`, "nil | true"},
	{`local r, err = db:query("SELECT * FROM no_such_table") return r, type(err)`, "nil | string"},
	{`return db:query("SELEKT 1")`, "raised: sql: ..."},
	{`return db:query("SELECT id FROM t WHERE id = ?")`, "raised: sql: ..."},
	{`return db:query("SELECT id FROM t WHERE id = ?", {})`, "raised: query: parameter 1 is a table..."},
	{`return db:query("SELECT id FROM t WHERE id = ?", print)`, "raised: query: parameter 1 is a function..."},
	{`return db:query("SELECT id FROM t WHERE id = ?", 0/0)`, "raised: query: parameter 1 is ..."},
	{`return db:query()`, "raised: query needs a statement as a string, got nil"},
	{`return db.query("SELECT 1")`, "raised: query is called with a colon..."},
	{`return db:querry("SELECT 1")`, `raised: a database has no "querry"; did you mean "query"?`},
	{`db.x = 1`, "raised: a database cannot be changed..."},
	{`return tostring(db)`, "<database>"},
	{`return db:transaction(function(tx) tx:exec("INSERT INTO t (id) VALUES (?)", 10) tx:exec("INSERT INTO t (id) VALUES (?)", 11) end), #db:query("SELECT id FROM t WHERE id >= 10")`, "true | 2"},
	{`return db:transaction(function(tx) tx:exec("INSERT INTO t (id) VALUES (?)", 20) return tx:query_one("SELECT COUNT(*) AS n FROM t WHERE id >= ?", 20).n, "x" end)`, "1 | x"},
	{`local ok, err = pcall(db.transaction, db, function(tx) tx:exec("INSERT INTO t (id) VALUES (?)", 30) error("boom", 0) end) return ok, err, #db:query("SELECT id FROM t WHERE id = 30")`, "false | boom | 0"},
	{`local ok = db:transaction(function(tx) tx:exec("INSERT INTO t (id) VALUES (?)", 30) return false end) return ok, #db:query("SELECT id FROM t WHERE id = 30")`, "false | 0"},
	{`local ok, err = db:transaction(function(tx) tx:exec("INSERT INTO t (id) VALUES (?)", 30) return nil, "no" end) return ok, err, #db:query("SELECT id FROM t WHERE id = 30")`, "nil | no | 0"},
	{`local ok, err = db:transaction(function(tx) tx:exec("INSERT INTO t (id) VALUES (?)", 30) tx:exec("INSERT INTO t (id) VALUES (?)", 1) end) return ok, err:find("rolled back") ~= nil, #db:query("SELECT id FROM t WHERE id = 30")`, "nil | true | 0"},
	{`local kept db:transaction(function(tx) kept = tx end) return kept:exec("DELETE FROM t")`, "raised: the transaction has ended..."},
	{`return db:transaction(function(tx) db:exec("DELETE FROM t") end)`, "raised: db:exec inside of a transaction..."},
	{`return db:transaction(function(tx) db:transaction(print) end)`, "raised: a transaction inside of a transaction..."},
	{`return db:transaction("x")`, "raised: transaction needs a function..."},
	{`db:transaction(function(tx) tx:exec("DELETE FROM t") drop("why") end)`, "raised: drop..."},
	{`return #db:query("SELECT id FROM t") > 3`, "true"},
}

func TestSQL(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mariadb", "postgres", "sqlite"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tail := ""
			if name == "mariadb" {
				tail = " CHARACTER SET utf8mb4"
			}
			chunks := map[string]string{"make": `return db:exec("CREATE TABLE t (id int PRIMARY KEY, title text, n bigint, f double precision)` + tail + `") ~= nil`}
			for i, c := range sqlCases {
				chunk := c.chunk
				if name == "postgres" {
					chunk = numbered(chunk)
				}
				chunks[fmt.Sprint("f", i)] = chunk
			}
			s := sqlSpider(t, sqlDSN(t, name), luabind.Options{}, chunks)
			if got := sqlRun(t, s, "make"); got != "true" {
				t.Fatal(got)
			}
			for i, c := range sqlCases {
				got := sqlRun(t, s, fmt.Sprint("f", i))
				if start, cut := strings.CutSuffix(c.want, "..."); got != c.want && !(cut && strings.HasPrefix(got, start)) {
					t.Errorf("%s\ngot  %s\nwant %s", c.chunk, got, c.want)
				}
			}
		})
	}
}

// numbered writes the parameters of a chunk's statements as $1, $2.
func numbered(chunk string) string {
	var out strings.Builder
	n := 0
	for i := 0; i < len(chunk); i++ {
		switch {
		case chunk[i] == '?' && chunk[i-1] != '"':
			n++
			fmt.Fprint(&out, "$", n)
			continue
		case chunk[i] == '"':
			n = 0
		}
		out.WriteByte(chunk[i])
	}
	return out.String()
}

func TestSQLOpen(t *testing.T) {
	t.Parallel()
	for chunk, want := range map[string]string{
		`return sql.open()`:                                                     "raised: sql.open needs a dsn as a string...",
		`return sql.open("mysql://u:the-secret@h")`:                             "raised: sql.open: the dsn names no database...",
		`return sql.open("mysql://u:the-se/cret@h/x")`:                          "raised: sql.open: the dsn cannot be read...",
		`return sql.open("oracle://h/x")`:                                       "raised: sql.open: the dsn does not say which database it is...",
		`return sql.open("sqlite:/etc/x.db")`:                                   "raised: sql.open: a dsn in a script may only name a SQLite file below...",
		`return sql.open("sqlite:../x.db")`:                                     "raised: sql.open: a dsn in a script may only name a SQLite file below...",
		`return sql.open("sqlite:x.db?_pragma=journal_mode(off)")`:              "raised: sql.open: a dsn in a script may not have the option...",
		`return sql.open("postgres://u@h/x?passfile=/etc/p")`:                   "raised: sql.open: a dsn in a script may not have the option passfile...",
		`return sql.open("u@unix(/run/x)/db")`:                                  "raised: sql.open: a dsn in a script may name no file...",
		`return sql.open("$HOME"):query("SELECT 1")`:                            "raised: sql.open: the environment variable HOME is not set, or may not be read here...",
		`return tostring(sql.open("env:NO_SUCH"))`:                              "<database>",
		`return sql.open("mysql://root:the-secret@127.0.0.1:1/x"):exec("DO 1")`: "nil | mysql 127.0.0.1:1/x: ...",
	} {
		s := sqlSpider(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), luabind.Options{}, map[string]string{"parse": chunk})
		got := sqlRun(t, s, "parse")
		if start, cut := strings.CutSuffix(want, "..."); got != want && !(cut && strings.HasPrefix(got, start)) || strings.Contains(got, "the-se") {
			t.Errorf("%s\ngot  %s\nwant %s", chunk, got, want)
		}
	}
}

// TestSQLAtLoad connects to nothing while a file loads.
func TestSQLAtLoad(t *testing.T) {
	t.Parallel()
	_, err := luabindtest.Load(luabindtest.Files{luabindtest.Main: `local db = require("sql").open("$X") db:exec("DELETE FROM t") return { name = "x", parse = print }`}, luabind.Options{})
	if err == nil || !strings.Contains(err.Error(), "db:exec at the top level of a file") {
		t.Errorf("got %v", err)
	}
	s, err := luabindtest.Load(luabindtest.Files{luabindtest.Main: `local db = require("sql").open("$X") return { name = "x", parse = function() end }`}, luabind.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// TestSQLTimeout ends a query with the call.
func TestSQLTimeout(t *testing.T) {
	t.Parallel()
	for name, chunk := range map[string]string{
		"mariadb":  `db:query("SELECT SLEEP(600)") emit { got = "it went on" }`,
		"postgres": `pcall(db.query, db, "SELECT pg_sleep(600)") emit { got = "it went on" }`,
		"sqlite":   `db:transaction(function(tx) tx:query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n") end) emit { got = "it went on" }`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sqlSpider(t, sqlDSN(t, name), luabind.Options{}, map[string]string{"parse": chunk, "after": `return db:query_one("SELECT 1 AS one").one`})
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			page := luabindtest.Response(&scheduler.Request{URL: "http://site.test/"}, "")
			defer page.Release()
			out, err := s.Spider.Parse(ctx, page)
			var e *engine.ScriptError
			if !errors.As(err, &e) || e.Kind != "timeout" {
				t.Errorf("%v, %v", out, err)
			}
			if got := sqlRun(t, s, "after"); got != "1" {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}

// TestSQLBounds refuses results that are too large.
func TestSQLBounds(t *testing.T) {
	t.Parallel()
	const rows = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i%s FROM n`
	s := sqlSpider(t, sqlDSN(t, "sqlite"), luabind.Options{}, map[string]string{
		"most":  fmt.Sprintf("return #db:query([["+rows+"]])", 10_000, ""),
		"many":  fmt.Sprintf("return db:query([["+rows+"]])", 10_001, ""),
		"large": fmt.Sprintf("return db:query([["+rows+"]])", 100, ", hex(zeroblob(100000))"),
		"one":   fmt.Sprintf("return db:query_one([["+rows+"]])", 1_000_000, ""),
		"other": `local r, err = db:exec("ATTACH DATABASE 'other.db' AS o") return r, err:find("authorized") ~= nil`,
		"copy":  `local r, err = db:exec("VACUUM INTO 'copy.db'") return r, err`,
	})
	for name, want := range map[string]string{"most": "10000", "many": "more than 10000 rows", "large": "more than 16 MB", "one": `{"i":1}`, "other": "nil | true", "copy": "authorization denied"} {
		if got := sqlRun(t, s, name); !strings.Contains(got, want) {
			t.Errorf("%s: %.200s, want %s", name, got, want)
		}
	}
}

// TestSQLPoolsAreShared counts the connections of many calls at once, and of a second generation.
func TestSQLPoolsAreShared(t *testing.T) {
	t.Parallel()
	pools := database.NewPools()
	defer pools.Close()
	s := sqlSpider(t, sqlDSN(t, "postgres"), luabind.Options{Databases: pools}, map[string]string{
		"work":  `local r, err = db:query("SELECT pg_sleep(0.05)") return r and 1 or err`,
		"count": `return db:query_one("SELECT COUNT(*) AS n FROM pg_stat_activity WHERE application_name = 'luacrawl'").n <= 8`,
	})
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			if got := sqlRun(t, s, "work"); got != "1" {
				t.Error(got)
			}
		})
	}
	if got := sqlRun(t, s, "count"); got != "true" {
		t.Error(got)
	}
	all.Wait()
	pools.Close()
	if got := sqlRun(t, s, "work"); !strings.Contains(got, "the crawl is ending") {
		t.Errorf("after Close: %s", got)
	}
}
