package database_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"luacrawl/engine/database"
)

const secret = "s3cret-word"

func env(name string) (string, bool) {
	v, ok := map[string]string{
		"GOOD": " mysql://u:" + secret + "@h/news \n", "EMPTY": " ", "AGAIN": "env:GOOD", "FILE": "sqlite:/var/x.db",
	}[name]
	return v, ok
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dsn, driver string
		confined    bool
		want        string // the label, or "error: " and its start
	}{
		{"mysql://u:" + secret + "@db.example:3307/news?tls=true&timeout=3s", "", true, "mysql db.example:3307/news"},
		{"mariadb://u:" + secret + "@db.example/news", "mysql", false, "mysql db.example:3306/news"},
		{"mysql://u:a%2Fb%40" + secret + "@[::1]/news", "mariadb", false, "mysql [::1]:3306/news"},
		{"u:" + secret + "@tcp(h:3306)/news", "", true, "mysql h:3306/news"},
		{"u:" + secret + "@unix(/run/mysqld.sock)/news", "mysql", false, "mysql /run/mysqld.sock/news"},
		{"postgres://u:" + secret + "@h/news", "", true, "postgres h:5432/news"},
		{"postgresql://u:" + secret + "@h:1/news?sslmode=disable", "postgres", false, "postgres h:1/news"},
		{"host=h user=u password=" + secret + " dbname=news", "", false, "postgres h:5432/news"},
		{"sqlite:news.db", "", true, "sqlite news.db"},
		{"sqlite3:///var/lib/news.db?_foreign_keys=1", "", false, "sqlite /var/lib/news.db"},
		{"file:a%20b.db?mode=ro", "sqlite", true, "sqlite a b.db"},
		{"news.db", "sqlite", true, "sqlite news.db"},
		{"env:GOOD", "", true, "mysql h:3306/news"},
		{"$GOOD", "mysql", true, "mysql h:3306/news"},
		{"$FILE", "", true, "sqlite /var/x.db"}, // an operator's

		{"", "", false, "error: the dsn is empty"},
		{"env:NONE", "", false, "error: the environment variable NONE is not set"},
		{"env:EMPTY", "", false, "error: the environment variable EMPTY is empty"},
		{"env:AGAIN", "", false, "error: the environment variable AGAIN names another"},
		{"GOOD", "", false, "error: the dsn does not say which database it is"},
		{"oracle://u:" + secret + "@h/x", "", false, "error: the dsn does not say which database it is"},
		{"mysql://u:" + secret + "@h/x", "oracle", false, `error: driver "oracle" is not known; it is one of mysql`},
		{"mysql://u:" + secret + "@h/x", "sqlite", false, "error: the dsn is one of mysql, and the driver is sqlite"},
		{"mysql://u:" + secret + "@h/", "", false, "error: the dsn names no database"},
		{"mysql://u:" + secret + "/x@h/x", "", false, "error: the dsn cannot be read"},
		{"mysql://u:" + secret + "@h/x?timeout=soon", "", false, "error: the dsn has an option behind ?"},
		{"mysql://u:" + secret + "@h/x?tls_ca=/no/such/file", "", false, "error: tls_ca of the dsn:"},
		{"mysql://u:" + secret + "@h/x?tls_ca=/etc/hostname", "", true, "error: a dsn in a script may name no file"},
		{"u:" + secret + "@unix(/run/x)/news", "", true, "error: a dsn in a script may name no file"},
		{"postgres://u:" + secret + "#x@h/x", "", true, "error: the dsn cannot be read"},
		{"postgres://u:" + secret + "@h:port/x", "", false, "error: the dsn cannot be read"},
		{"postgres://u@h/x?service=x", "", true, "error: a dsn in a script may not have the option service"},
		{"postgres://h/x", "", true, "error: the dsn cannot be read"},
		{"host=h user=u password=" + secret, "", true, "error: the dsn cannot be read"},
		{"sqlite:", "", false, "error: the dsn names no SQLite file"},
		{"sqlite::memory:", "", false, "error: the dsn is a database in memory"},
		{"sqlite:/etc/x.db", "", true, "error: a dsn in a script may only name a SQLite file below"},
		{"file:%2e%2e/x.db", "", true, "error: a dsn in a script may only name a SQLite file below"},
		{"sqlite:x.db?vfs=y", "", true, "error: a dsn in a script may not have the option"},
		{"file:x%zz.db", "", false, "error: the dsn of the SQLite file has a %"},
	} {
		s, err := database.Parse(c.dsn, database.Options{Driver: c.driver, Env: env, Confined: c.confined})
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else {
			got = s.Label()
		}
		if want, isError := strings.CutPrefix(c.want, "error: "); got != c.want && !(isError && strings.HasPrefix(got, "error: "+want)) {
			t.Errorf("%s: got %s, want %s", c.dsn, got, c.want)
		}
		if strings.Contains(got, secret) || strings.Contains(got, "s3cret") {
			t.Errorf("%s: it shows the password: %s", c.dsn, got)
		}
	}
}

func TestSourceKeepsItsPassword(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{"mysql://u:" + secret + "@h/x", "postgres://u:" + secret + "@h/x", "u:" + secret + "@tcp(h:1)/x"} {
		s, err := database.Parse(dsn, database.Options{})
		if err != nil {
			t.Fatal(err)
		}
		inside := struct{ S *database.Source }{s}
		encoded, _ := json.Marshal(inside)
		for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%+v %#v %q %x", s, s, s, s), fmt.Sprintf("%+v %#v", inside, inside), s.LogValue().String(), string(encoded),
			s.Scrub(fmt.Errorf("dialing %s: %s", dsn, secret)).Error()} {
			if strings.Contains(text, secret) {
				t.Errorf("shown: %s", text)
			}
		}
	}
}

// TestConfinedTakesNoPasswordOfTheHost is not parallel: it changes the environment.
func TestConfinedTakesNoPasswordOfTheHost(t *testing.T) {
	t.Setenv("PGPASSWORD", secret)
	for confined, want := range map[bool]bool{true: false, false: true} {
		s, err := database.Parse("postgres://u@h/x", database.Options{Confined: confined})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Scrub(fmt.Errorf("%s", secret)).Error() != secret; got != want {
			t.Errorf("confined %v: it has the password of the host: %v", confined, got)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dialect    database.Dialect
		name, want string
	}{
		{database.MySQL, "a`b", "`a``b`"}, {database.Postgres, `a"b`, `"a""b"`}, {database.SQLite, `a"; DROP TABLE x; --`, `"a""; DROP TABLE x; --"`},
		{database.MySQL, `a"b'`, "`a\"b'`"}, {database.MySQL, "select", "`select`"},
		{database.MySQL, "", ""}, {database.SQLite, "a\x00b", ""}, {database.Postgres, "\xff", ""}, {database.MySQL, "a ", ""}, {database.MySQL, "😀", ""},
		{database.Postgres, strings.Repeat("x", 64), ""}, {database.MySQL, strings.Repeat("ü", 65), ""},
		{database.MySQL, strings.Repeat("ü", 64), "`" + strings.Repeat("ü", 64) + "`"}, {database.Postgres, "😀", `"😀"`},
	} {
		got, err := c.dialect.Quote(c.name)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %q: %q, %v", c.dialect, c.name, got, err)
		}
	}
	if got, err := database.Postgres.QuoteTable(`news.a"b`); err != nil || got != `"news"."a""b"` {
		t.Errorf("%q, %v", got, err)
	}
}
