package sqlsink_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"luacrawl/engine/export"
	"luacrawl/engine/export/sqlsink"
)

// TestServerAway starts without the database, loses it in the middle, and goes on once it is back.
func TestServerAway(t *testing.T) {
	t.Parallel()
	each(t, func(b *backend) {
		if b.server == nil {
			return // TestSQLiteFile
		}
		b.server.Kill()
		s := b.sink(sqlsink.Config{Table: "news"}, title)
		err := s.Open(b.t.Context())
		if err == nil || strings.Contains(err.Error(), "secret-word") {
			b.t.Fatalf("open without a server: %v", err)
		}
		if _, err := s.Write(b.t.Context(), []export.Record{article(1, nil)}); err == nil {
			b.t.Fatal("a write without a server succeeds")
		}
		b.server.Restart()
		if err := s.Open(b.t.Context()); err != nil {
			b.t.Fatalf("open: %v", err)
		}
		b.write(s, article(1, nil))
		b.server.Kill()
		if refused, err := s.Write(b.t.Context(), []export.Record{article(2, nil)}); err == nil || len(refused) > 0 {
			b.t.Fatalf("gone in the middle: %v, %v", refused, err)
		}
		b.server.Restart()
		b.write(s, article(1, nil), article(2, nil)) // without another Open
		b.want("SELECT COUNT(*) FROM news", "2")
	})
}

// TestWrongPassword shows the password nowhere.
func TestWrongPassword(t *testing.T) {
	t.Parallel()
	b := newBackend(t, "mariadb")
	b.exec("CREATE USER reader IDENTIFIED BY 'right-password'")
	for _, dsn := range []string{
		b.server.DSN("reader", "wrong-password", "news"), b.server.DSN("root", "wrong-password", "news"), b.server.DSN("reader", "right-password", "news"),
		b.server.DSN("root", "", "no_such_database"), "mysql://root:wrong-password@127.0.0.1:1/news", "postgres://root:wrong-password@127.0.0.1:1/news",
	} {
		s := b.sink(sqlsink.Config{Source: b.source(dsn), Table: "news"}, title)
		err := s.Open(b.t.Context())
		if err == nil || strings.Contains(err.Error(), "-password") || strings.Contains(s.Name(), "-password") {
			t.Errorf("%s: %v", s.Name(), err)
		}
	}
}

// TestFull fills a table up: the sink is down, and goes on when there is room.
func TestFull(t *testing.T) {
	t.Parallel()
	each(t, func(b *backend) {
		table := b.table()
		dsn := b.dsn
		switch b.name {
		case "mariadb": // a table in memory, of 16 KB
			b.exec("SET SESSION max_heap_table_size = 16384", "CREATE TABLE "+table+" (item_id varchar(64) PRIMARY KEY, title varchar(500)) ENGINE=MEMORY MAX_ROWS=20")
		case "postgres": // says what it says when the disk is full
			b.exec("CREATE TABLE "+table+" (item_id text PRIMARY KEY, title text)",
				`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
					IF (SELECT COUNT(*) FROM `+table+`) > 20 THEN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END IF; RETURN NEW; END $$`,
				"CREATE TRIGGER f BEFORE INSERT ON "+table+" FOR EACH ROW EXECUTE FUNCTION full_disk()")
		case "sqlite":
			dsn += "?_pragma=max_page_count(12)"
		}
		s := b.opened(sqlsink.Config{Table: table, Source: b.source(dsn)}, title)
		var err error
		for i := 0; i < 1000 && err == nil; i++ {
			var refused []export.Refusal
			refused, err = s.Write(b.t.Context(), []export.Record{article(i, map[string]any{"title": strings.Repeat("x", 500)})})
			if len(refused) > 0 {
				b.t.Fatalf("refused: %v", refused[0].Err)
			}
		}
		if err == nil {
			b.t.Fatal("it never fills up")
		}
		contains(b.t, strings.ReplaceAll(err.Error(), "No space left", "full"), "full")
		b.exec("DELETE FROM " + table)
		b.write(s, article(1, map[string]any{"title": "x"}))
	})
}

// TestLocked holds the row, or the file, from another connection.
func TestLocked(t *testing.T) {
	t.Parallel()
	each(t, func(b *backend) {
		dsn := b.dsn + b.pick("?innodb_lock_wait_timeout=1", "&lock_timeout=500", "?_busy_timeout=200")
		table := b.table()
		s := b.opened(sqlsink.Config{Table: table, Source: b.source(dsn)}, title)
		b.write(s, article(1, map[string]any{"title": "old"}))
		tx, err := b.db.BeginTx(b.t.Context(), nil)
		if err != nil {
			b.t.Fatal(err)
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(b.t.Context(), "UPDATE "+table+" SET title = 'mine'"); err != nil {
			b.t.Fatal(err)
		}
		refused, err := s.Write(b.t.Context(), []export.Record{article(1, map[string]any{"title": "new"})})
		if err == nil || len(refused) > 0 {
			b.t.Fatalf("locked: %v, %v", refused, err)
		}
		contains(b.t, strings.ToLower(err.Error()), "lock")
		if err := tx.Rollback(); err != nil {
			b.t.Fatal(err)
		}
		b.write(s, article(1, map[string]any{"title": "new"}))
		b.want("SELECT title FROM "+table, "new")
	})
}

// TestSlow makes a fast database slow: a statement of as many rows as before would not end in time, so they become fewer.
func TestSlow(t *testing.T) {
	t.Parallel()
	each(t, func(b *backend) {
		if b.server == nil {
			return // SQLite cannot sleep
		}
		table := b.table()
		s := b.opened(sqlsink.Config{Table: table, Timeout: 4 * time.Second}, title)
		var records []export.Record
		for i := range 300 {
			records = append(records, article(i, nil))
		}
		b.write(s, records...)
		if b.name == "mariadb" {
			b.exec("CREATE TRIGGER slow BEFORE INSERT ON " + table + " FOR EACH ROW SET @s = SLEEP(0.1)")
		} else {
			b.exec("CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.1); RETURN NEW; END $$",
				"CREATE TRIGGER slow BEFORE INSERT ON "+table+" FOR EACH ROW EXECUTE FUNCTION slow()")
		}
		for i := range records {
			records[i].ID = id(1000 + i)
		}
		eventually(b.t, func() error {
			refused, err := s.Write(b.t.Context(), records[:80])
			if len(refused) > 0 {
				b.t.Fatalf("refused: %v", refused[0].Err)
			}
			return err
		})
		b.want("SELECT COUNT(*) FROM "+table, "380")
	})
}

// TestNoAnswer ends a statement whose time is over, and asks for fewer rows then.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	b := newBackend(t, "postgres")
	s := b.opened(sqlsink.Config{Table: "news", Timeout: time.Second}, title)
	b.exec("CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$",
		"CREATE TRIGGER slow BEFORE INSERT ON news FOR EACH ROW EXECUTE FUNCTION slow()")
	_, err := s.Write(t.Context(), []export.Record{article(1, nil)})
	if err == nil {
		t.Fatal("no error")
	}
	contains(t, err.Error(), "no answer within 1s")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Write(ctx, []export.Record{article(1, nil)}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	b.exec("DROP TRIGGER slow ON news")
	b.write(s, article(1, nil))
}

// TestSQLiteFile is what happens to files: no folder, no database, taken away in the middle.
func TestSQLiteFile(t *testing.T) {
	t.Parallel()
	b := newBackend(t, "sqlite")
	dir := t.TempDir()
	contains(t, b.openError(sqlsink.Config{Source: b.source("sqlite:" + filepath.Join(dir, "none", "x.db"))}, title), "folder", "is not there", "create it")
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, b.openError(sqlsink.Config{Source: b.source("sqlite:" + text)}, title), "not a database")

	path := filepath.Join(dir, "odd # % ? name.db")
	cfg := sqlsink.Config{Source: b.source("file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path))}
	s := b.opened(cfg, title)
	b.write(s, article(1, nil))
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if refused, err := s.Write(t.Context(), []export.Record{article(2, nil)}); err == nil || len(refused) > 0 {
		t.Fatalf("file taken away: %v, %v", refused, err)
	}
	if err := os.Rename(path+".old", path); err != nil {
		t.Fatal(err)
	}
	b.write(s, article(1, nil), article(2, nil))
	db, err := cfg.Source.Open(false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM items").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// TestTooLarge is an item beyond what the server takes in a packet.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	b := newBackend(t, "mariadb")
	b.exec("SET GLOBAL max_allowed_packet = 1048576")
	s := b.opened(sqlsink.Config{Table: "news"}, title)
	refused := b.write(s, article(1, nil), article(2, map[string]any{"title": strings.Repeat("x", 2<<20)}), article(3, map[string]any{"title": strings.Repeat("x", 900_000)}))
	if len(refused) != 1 || !strings.HasPrefix(refused[0], "1: ") {
		t.Errorf("refused: %.200q", refused)
	}
	b.want("SELECT item_id FROM news", id(1), id(3))
}

// TestStrictWhateverTheServer refuses what a lax server would cut.
func TestStrictWhateverTheServer(t *testing.T) {
	t.Parallel()
	b := newBackend(t, "mariadb")
	b.exec("SET GLOBAL sql_mode = ''", "CREATE TABLE news (item_id varchar(64) PRIMARY KEY, comments tinyint)")
	s := b.opened(sqlsink.Config{Table: "news"}, schema(export.Field{Name: "comments", Type: export.Integer}))
	if refused := b.write(s, article(1, map[string]any{"comments": 300}), article(2, map[string]any{"comments": 3})); len(refused) != 1 {
		t.Errorf("refused: %q", refused)
	}
	b.exec("CREATE TABLE old (item_id varchar(64) PRIMARY KEY, title varchar(100)) CHARACTER SET utf8mb3")
	s = b.opened(sqlsink.Config{Table: "old"}, title)
	refused := b.write(s, article(1, map[string]any{"title": "😀"}), article(2, map[string]any{"title": "漢"}))
	if len(refused) != 1 {
		t.Fatalf("refused: %q", refused)
	}
	contains(t, refused[0], "0: ", "utf8mb4")
}

// TestWorkersMakeTheTableAtOnce opens many sinks on a table that is not there.
func TestWorkersMakeTheTableAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(b *backend) {
		const workers = 8
		errs := make(chan error, workers)
		for i := range workers {
			s := b.sink(sqlsink.Config{Table: "news"}, everyType)
			go func() {
				err := s.Open(b.t.Context())
				if err == nil {
					_, err = s.Write(b.t.Context(), []export.Record{article(i, map[string]any{"title": "x"}), article(1000, map[string]any{"title": fmt.Sprint(i)})})
				}
				errs <- err
			}()
		}
		for range workers {
			if err := <-errs; err != nil {
				b.t.Error(err)
			}
		}
		b.want("SELECT COUNT(*) FROM news", fmt.Sprint(workers+1))
	})
}
