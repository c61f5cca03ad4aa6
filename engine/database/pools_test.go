package database_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"luacrawl/engine/database"
	"luacrawl/engine/database/dbtest"
)

func parse(t *testing.T, dsn string) *database.Source {
	t.Helper()
	s, err := database.Parse(dsn, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPoolsAreBounded uses more databases than a process may have open: idle ones make room, those in use do not.
func TestPoolsAreBounded(t *testing.T) {
	t.Parallel()
	p := database.NewPools()
	defer p.Close()
	dir := t.TempDir()
	source := func(i int) *database.Source {
		return parse(t, "sqlite:"+filepath.Join(dir, fmt.Sprint(i, ".db")))
	}
	for i := range 40 {
		if _, err := p.Exec(t.Context(), source(i), "CREATE TABLE t (n int)"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Exec(t.Context(), source(0), "INSERT INTO t VALUES (1)"); err != nil {
		t.Errorf("a database whose pool made room: %v", err)
	}
	var running []*database.Tx
	for i := range 16 {
		tx, err := p.Begin(t.Context(), source(i))
		if err != nil {
			t.Fatal(err)
		}
		running = append(running, tx)
	}
	if _, err := p.Exec(t.Context(), source(16), "SELECT 1"); !errors.Is(err, database.ErrTooMany) || !strings.Contains(err.Error(), "16 are the limit") {
		t.Errorf("the 17th: %v", err)
	}
	running[0].Rollback()
	running[0].Rollback()
	if _, err := p.Exec(t.Context(), source(16), "SELECT 1"); err != nil {
		t.Error(err)
	}
	for _, tx := range running[1:] {
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
	}
}

// TestTLS connects with the server's certificate trusted, and not without.
func TestTLS(t *testing.T) {
	t.Parallel()
	cert, key := dbtest.Certificate(t)
	maria := dbtest.MariaDB(t, "--ssl-cert="+cert, "--ssl-key="+key, "--require-secure-transport=ON")
	postgres := dbtest.Postgres(t, "-c", "ssl=on", "-c", "ssl_cert_file="+cert, "-c", "ssl_key_file="+key)
	other, _ := dbtest.Certificate(t)
	for dsn, query := range map[string]string{
		maria.DSN("root", "", "news") + "?tls_ca=" + cert:                                                                        "SHOW STATUS LIKE 'Ssl_cipher'",
		strings.ReplaceAll(postgres.DSN("postgres", "", "postgres"), "sslmode=disable", "sslmode=verify-full&sslrootcert="+cert): "SELECT 'cipher', cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
	} {
		p := database.NewPools()
		defer p.Close()
		limit := database.Limit{Rows: 1, Bytes: 1000}
		rows, err := p.Query(t.Context(), parse(t, dsn), limit, query)
		if err != nil || len(rows.Values) != 1 || rows.Values[0][1] == "" {
			t.Errorf("%s: %v, %v", dsn, rows, err)
		}
		_, err = p.Query(t.Context(), parse(t, strings.ReplaceAll(dsn, cert, other)), limit, query)
		if err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("another certificate: %v", err)
		}
	}
	p := database.NewPools()
	defer p.Close()
	if _, err := p.Exec(t.Context(), parse(t, maria.DSN("root", "", "news")), "DO 1"); err == nil {
		t.Error("MariaDB takes a connection without TLS")
	}
}
