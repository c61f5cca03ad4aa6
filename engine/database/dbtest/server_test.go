package dbtest_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"luacrawl/engine/database"
	"luacrawl/engine/database/dbtest"
)

func TestServersKeepTheirDataWhenKilled(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func() (*dbtest.Server, string){
		"mariadb": func() (*dbtest.Server, string) {
			s := dbtest.MariaDB(t)
			return s, s.DSN("root", "", "news")
		},
		"postgres": func() (*dbtest.Server, string) {
			s := dbtest.Postgres(t)
			return s, s.DSN("postgres", "", "postgres")
		},
	} {
		s, dsn := start()
		source, err := database.Parse(dsn, database.Options{})
		if err != nil {
			t.Fatal(err)
		}
		db, err := source.Open(false)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, statement := range []string{"CREATE TABLE t (n int)", "INSERT INTO t VALUES (7)"} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for _, child := range dbtest.Children(s) { // one that does not notice by itself that the server has ended
			child.Signal(syscall.SIGSTOP)
		}
		s.Kill()
		if err := db.PingContext(t.Context()); err == nil {
			t.Errorf("%s: a killed server answers", name)
		}
		s.Restart()
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT n FROM t").Scan(&n); err != nil || n != 7 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}

// verdict records how a test would have ended.
type verdict struct {
	testing.TB
	word string
}

func (v *verdict) Helper()      {}
func (v *verdict) Skip(...any)  { v.word = "skip"; runtime.Goexit() }
func (v *verdict) Fatal(...any) { v.word = "fatal"; runtime.Goexit() }

func TestWithoutTheServer(t *testing.T) {
	t.Parallel()
	for ci, want := range map[string]string{"": "skip", "true": "fatal"} {
		v := &verdict{TB: t}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			dbtest.Need(v, ci)
		}()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("it hangs")
		}
		if v.word != want {
			t.Errorf("CI=%q: %q, want %q", ci, v.word, want)
		}
	}
}
