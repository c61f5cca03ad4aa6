package sqlsink_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"luacrawl/engine/database"
	"luacrawl/engine/database/dbtest"
	"luacrawl/engine/export"
	"luacrawl/engine/export/sqlsink"
)

// backend is a database under test.
type backend struct {
	t      *testing.T
	name   string
	dsn    string
	db     *sql.DB        // of the test itself
	server *dbtest.Server // nil for SQLite
	tables *atomic.Int64
}

// each runs a test on each database, with a server of its own.
func each(t *testing.T, test func(b *backend)) {
	t.Helper()
	for _, name := range []string{"mariadb", "postgres", "sqlite"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newBackend(t, name))
		})
	}
}

func newBackend(t *testing.T, name string) *backend {
	t.Helper()
	b := &backend{t: t, name: name, tables: new(atomic.Int64)}
	switch name {
	case "mariadb":
		b.server = dbtest.MariaDB(t)
		b.dsn = b.server.DSN("root", "", "news")
	case "postgres":
		b.server = dbtest.Postgres(t)
		b.dsn = b.server.DSN("postgres", "secret-word", "postgres")
	case "sqlite":
		b.dsn = "sqlite:" + filepath.Join(t.TempDir(), "news.db")
	}
	db, err := b.source(b.dsn).Open(false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	b.db = db
	return b
}

// with is the backend for a subtest.
func (b *backend) with(t *testing.T) *backend {
	c := *b
	c.t = t
	return &c
}

func (b *backend) source(dsn string) *database.Source {
	b.t.Helper()
	s, err := database.Parse(dsn, database.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// table is a name that no other test uses.
func (b *backend) table() string { return fmt.Sprintf("t%d", b.tables.Add(1)) }

// exec runs statements for the test.
func (b *backend) exec(statements ...string) {
	b.t.Helper()
	for _, s := range statements {
		if _, err := b.db.ExecContext(b.t.Context(), s); err != nil {
			b.t.Fatalf("%s: %v", s, err)
		}
	}
}

// pick is the text for this database; the last of a pair counts for all others.
func (b *backend) pick(mariadb, postgres, sqlite string) string {
	return map[string]string{"mariadb": mariadb, "postgres": postgres, "sqlite": sqlite}[b.name]
}

func (b *backend) quote(name string) string {
	b.t.Helper()
	q, err := b.source(b.dsn).Dialect().Quote(name)
	if err != nil {
		b.t.Fatal(err)
	}
	return q
}

// rows are those of a query, each joined by "|", sorted.
func (b *backend) rows(query string) []string {
	b.t.Helper()
	pools := database.NewPools()
	defer pools.Close()
	r, err := pools.Query(b.t.Context(), b.source(b.dsn), database.Limit{Rows: 1e6, Bytes: 1 << 30}, query)
	if err != nil {
		b.t.Fatalf("%s: %v", query, err)
	}
	var out []string
	for _, values := range r.Values {
		var texts []string
		for _, v := range values {
			texts = append(texts, fmt.Sprint(v))
		}
		out = append(out, strings.Join(texts, "|"))
	}
	slices.Sort(out)
	return out
}

func (b *backend) want(query string, want ...string) {
	b.t.Helper()
	if got := b.rows(query); !slices.Equal(got, want) {
		b.t.Errorf("%s:\ngot  %q\nwant %q", query, got, want)
	}
}

// sink makes a sink on the backend; it is closed with the test.
func (b *backend) sink(cfg sqlsink.Config, schema *export.Schema) *sqlsink.Sink {
	b.t.Helper()
	if cfg.Source == nil {
		cfg.Source = b.source(b.dsn)
	}
	s, err := sqlsink.New(cfg, schema)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// opened is sink that is open.
func (b *backend) opened(cfg sqlsink.Config, schema *export.Schema) *sqlsink.Sink {
	b.t.Helper()
	s := b.sink(cfg, schema)
	if err := s.Open(b.t.Context()); err != nil {
		b.t.Fatalf("open: %v", err)
	}
	return s
}

// write writes records and gives the refusals as "index: error".
func (b *backend) write(s *sqlsink.Sink, records ...export.Record) []string {
	b.t.Helper()
	refused, err := s.Write(b.t.Context(), records)
	if err != nil {
		b.t.Fatalf("write: %v", err)
	}
	var out []string
	for _, r := range refused {
		out = append(out, fmt.Sprintf("%d: %v", r.Index, r.Err))
	}
	slices.Sort(out)
	return out
}

// openError is the error of Open.
func (b *backend) openError(cfg sqlsink.Config, schema *export.Schema) string {
	b.t.Helper()
	err := b.sink(cfg, schema).Open(b.t.Context())
	if err == nil {
		b.t.Fatal("open: no error")
	}
	return err.Error()
}

// id is the n-th item_id, as long as a real one.
func id(n int) string { return fmt.Sprintf("%040x", n) }

// article is a record of the declaration article.
func article(n int, fields map[string]any) export.Record {
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return export.Record{ID: id(n), Spider: "news", Kind: "article", JSON: b}
}

func schema(fields ...export.Field) *export.Schema {
	return &export.Schema{Name: "article", Fields: fields}
}

// title is the simplest declaration.
var title = schema(export.Field{Name: "title", Type: export.String})

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q does not say %q", text, p)
		}
	}
}

// eventually repeats a step until it succeeds.
func eventually(t *testing.T, step func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := step()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("still: %v", err)
		case <-tick.C:
		}
	}
}
