package sqlsink_test

import (
	"fmt"
	"strings"
	"testing"

	"luacrawl/engine/export"
	"luacrawl/engine/export/sqlsink"
)

func TestParseConfig(t *testing.T) {
	t.Parallel()
	env := func(name string) (string, bool) {
		dsn, ok := map[string]string{"NEWS_DSN": "mysql://u:the-secret@h/news", "FILE_DSN": "sqlite:/srv/x.db"}[name]
		return dsn, ok
	}
	for _, c := range []struct {
		config map[string]any
		want   string // what it says, or the start of the error
	}{
		{map[string]any{"dsn": "env:NEWS_DSN"}, "mysql h:3306/news  [] 0 "},
		{map[string]any{"dsn": "$NEWS_DSN", "driver": "mariadb", "table": "articles", "batch": 500.0, "items": "article", "timeout": 1.5}, "mysql h:3306/news articles [] 500 article"},
		{map[string]any{"dsn": "sqlite:x.db", "columns": []any{"title", "url"}}, "sqlite x.db  [{title title} {url url}] 0 "},
		{map[string]any{"dsn": "sqlite:x.db", "columns": map[string]any{"headline": "title", "a": "b"}}, "sqlite x.db  [{a b} {headline title}] 0 "},
		{nil, "error: dsn is missing; write dsn = "},
		{map[string]any{"dsn": "sqlite:/etc/x.db"}, "error: dsn: "},
		{map[string]any{"dsn": "u@unix(/run/mysqld.sock)/news", "driver": "mysql"}, "error: dsn: "},
		{map[string]any{"dsn": "env:FILE_DSN"}, "sqlite /srv/x.db  [] 0 "},
		{map[string]any{"dsn": "env:NONE"}, "error: dsn: the environment variable NONE is not set"},
		{map[string]any{"dsn": 7.0}, "error: dsn must be a string, not the number 7"},
		{map[string]any{"dsn": "sqlite:x.db", "driver": "oracle"}, `error: dsn: driver "oracle" is not known`},
		{map[string]any{"dsn": "sqlite:x.db", "tabel": "x"}, `error: "tabel" is no key of an SQL sink; it has batch, columns`},
		{map[string]any{"dsn": "sqlite:x.db", "table": true}, "error: table must be a string, not true"},
		{map[string]any{"dsn": "sqlite:x.db", "batch": 0.0}, "error: batch is 0; it is a whole number of rows, 1 to 1000"},
		{map[string]any{"dsn": "sqlite:x.db", "batch": 1.5}, "error: batch is 1.5"},
		{map[string]any{"dsn": "sqlite:x.db", "batch": "many"}, "error: batch must be a number, not a string"},
		{map[string]any{"dsn": "sqlite:x.db", "timeout": 0.0}, "error: timeout is 0; it is in seconds"},
		{map[string]any{"dsn": "sqlite:x.db", "columns": "title"}, "error: columns must be a list of fields"},
		{map[string]any{"dsn": "sqlite:x.db", "columns": []any{}}, "error: columns is empty"},
		{map[string]any{"dsn": "sqlite:x.db", "columns": []any{"a", 1.0}}, "error: columns[2] is the number 1"},
		{map[string]any{"dsn": "sqlite:x.db", "columns": map[string]any{"a": false}}, "error: columns.a is false"},
	} {
		cfg, err := sqlsink.ParseConfig(c.config, env)
		got := fmt.Sprintf("%v %s %v %d %s", cfg.Source, cfg.Table, cfg.Columns, cfg.Batch, cfg.Items)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want && !(err != nil && strings.HasPrefix(got, c.want)) || strings.Contains(got, "secret") {
			t.Errorf("%v:\ngot  %s\nwant %s", c.config, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	source := func(dsn string) map[string]any { return map[string]any{"dsn": dsn} }
	mysql, postgres := source("mysql://u@h/news"), source("postgres://u@h/news")
	fields := func(names ...string) *export.Schema {
		var f []export.Field
		for _, n := range names {
			f = append(f, export.Field{Name: n, Type: export.String})
		}
		return schema(f...)
	}
	many := make([]string, 600)
	for i := range many {
		many[i] = fmt.Sprint("f", i)
	}
	for _, c := range []struct {
		config map[string]any
		schema *export.Schema
		want   string
	}{
		{mysql, fields("Title", "title"), `the columns "Title" and "title" are one for the database`},
		{postgres, fields("Title", "title"), ""},
		{mysql, fields("Item_ID"), "a field is called item_id"},
		{postgres, fields("item_id"), "a field is called item_id"},
		{postgres, fields(strings.Repeat("x", 64)), "has 64 bytes; PostgreSQL keeps 63"},
		{postgres, fields("a\x00b"), "NUL"},
		{mysql, fields(""), "is empty"},
		{mysql, fields(many...), "601 columns, more than 500"},
		{map[string]any{"dsn": "mysql://u@h/news", "columns": []any{"titel"}}, title, `columns names the field "titel", which article has not; it has title`},
		{map[string]any{"dsn": "mysql://u@h/news", "items": "author"}, title, `items is "author", and the declaration is "article"`},
		{map[string]any{"dsn": "mysql://u@h/news", "table": "a\x00"}, title, "table: the name"},
	} {
		cfg, err := sqlsink.ParseConfig(c.config, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = sqlsink.New(cfg, c.schema)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.config, err, c.want)
		}
	}
}
