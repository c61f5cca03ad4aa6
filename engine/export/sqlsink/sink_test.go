package sqlsink_test

import (
	"fmt"
	"strings"
	"testing"

	"luacrawl/engine/export"
	"luacrawl/engine/export/sqlsink"
)

// everyType is a declaration with a field of each type.
var everyType = schema(
	export.Field{Name: "title", Type: export.String, Required: true},
	export.Field{Name: "price", Type: export.Number},
	export.Field{Name: "comments", Type: export.Integer},
	export.Field{Name: "hot", Type: export.Boolean},
	export.Field{Name: "seen", Type: export.Time},
	export.Field{Name: "tags", Type: export.JSON},
)

// TestSink runs what needs no server of its own on each database.
func TestSink(t *testing.T) {
	t.Parallel()
	each(t, func(b *backend) {
		for name, test := range map[string]func(b *backend){
			"types": typesAreKept, "upsert": sameIDIsOneRow, "no schema": withoutSchema, "columns": columnsOfConfig,
			"text": oddText, "injection": fieldsThatInject, "refused": refusedAlone, "unique": otherUniqueKey, "nullable": nullableKey,
			"missing column": missingColumn, "types differ": otherTypes, "short": tooShort, "needed": columnThatNeedsAValue,
			"no key": noKey, "read only": readOnly, "table gone": tableGone, "kinds": otherKinds, "existing": existingTable, "all refused": constraintAddedLater,
			"many": manyRows,
		} {
			b.t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(b.with(t))
			})
		}
	})
}

func typesAreKept(b *backend) {
	table := b.table()
	s := b.opened(sqlsink.Config{Table: table}, everyType)
	refused := b.write(s,
		article(1, map[string]any{"title": "A", "price": 1.5, "comments": "9007199254740993", "hot": true, "seen": "2026-01-31T12:00:00.25+02:00", "tags": []string{"x"}}),
		article(2, map[string]any{"title": "B"}),
		article(3, map[string]any{"title": "C", "comments": -7, "hot": false, "price": 2, "seen": nil}),
	)
	if len(refused) > 0 {
		b.t.Errorf("refused: %q", refused)
	}
	yes, no := b.pick("1", "true", "1"), b.pick("0", "false", "0")
	b.want("SELECT title, price, comments, hot, seen, tags FROM "+table,
		"A|1.5|9007199254740993|"+yes+"|2026-01-31T10:00:00.25Z|[\"x\"]",
		"B|<nil>|<nil>|<nil>|<nil>|<nil>",
		"C|2|-7|"+no+"|<nil>|<nil>")
}

func sameIDIsOneRow(b *backend) {
	table := b.table()
	s := b.opened(sqlsink.Config{Table: table}, title)
	b.write(s, article(1, map[string]any{"title": "old"}), article(2, map[string]any{"title": "x"}), article(1, map[string]any{"title": "new"}))
	b.want("SELECT item_id, title FROM "+table, id(1)+"|new", id(2)+"|x")
	b.write(s, article(2, map[string]any{}))
	b.want("SELECT title FROM "+table, "<nil>", "new")
	if err := s.Open(b.t.Context()); err != nil {
		b.t.Errorf("open again: %v", err)
	}
	b.opened(sqlsink.Config{Table: table}, title) // a second worker finds the table
}

func withoutSchema(b *backend) {
	table := b.table()
	s := b.opened(sqlsink.Config{Table: table}, nil)
	r := export.Record{ID: id(1), JSON: []byte(`{"a":"x \u0026 😀","n":12345678901}`)}
	b.write(s, r, export.Record{ID: id(1), JSON: r.JSON})
	got := b.rows("SELECT item_id, item FROM " + table)
	if len(got) != 1 {
		b.t.Fatalf("got %q", got)
	}
	contains(b.t, got[0], id(1), "😀", "12345678901")
}

func columnsOfConfig(b *backend) {
	table := b.table()
	cfg := sqlsink.Config{Table: table, Columns: []sqlsink.Column{{Name: "headline", Field: "title"}, {Name: "n", Field: "comments"}}}
	s := b.opened(cfg, everyType)
	b.write(s, article(1, map[string]any{"title": "A", "comments": 3, "price": 2}))
	b.want("SELECT * FROM "+table, id(1)+"|A|3")
	table = b.table()
	cfg.Table = table
	s = b.opened(cfg, nil) // no declaration: text
	b.write(s, export.Record{ID: id(1), JSON: []byte(`{"title":"A","comments":{"a":1}}`)})
	b.want("SELECT * FROM "+table, id(1)+`|A|{"a":1}`)
}

func oddText(b *backend) {
	table := b.table()
	s := b.opened(sqlsink.Config{Table: table}, title)
	texts := []string{`it's "quoted" \ and ` + "`ticks`", "😀 👩‍👩‍👧 漢字", "'); DROP TABLE " + table + "; --", "a\nb\tc\r", "%s ? $1", ""}
	var records []export.Record
	for i, text := range texts {
		records = append(records, article(i, map[string]any{"title": text}))
	}
	records = append(records, article(99, map[string]any{"title": "nul\x00nul"}))
	refused := b.write(s, records...)
	for i, text := range texts {
		b.want(fmt.Sprintf("SELECT title FROM %s WHERE item_id = '%s'", table, id(i)), text)
	}
	if b.name == "postgres" {
		if len(refused) != 1 {
			b.t.Fatalf("refused: %q", refused)
		}
		contains(b.t, refused[0], "6: "+table+".title", "NUL", "gsub")
		return
	}
	if len(refused) != 0 {
		b.t.Errorf("refused: %q", refused)
	}
	b.want(fmt.Sprintf("SELECT title FROM %s WHERE item_id = '%s'", table, id(99)), "nul\x00nul")
}

func fieldsThatInject(b *backend) {
	table := b.table()
	names := []string{`x"); DROP TABLE ` + table + `; --`, "x`); DROP TABLE " + table + "; --", "a'b", "select", "with space", "%s", "?", "$1", "ünï"}
	var fields []export.Field
	values := map[string]any{}
	for _, n := range names {
		fields = append(fields, export.Field{Name: n, Type: export.String})
		values[n] = "value of " + n
	}
	s := b.opened(sqlsink.Config{Table: table}, schema(fields...))
	b.write(s, article(1, values), article(1, values))
	for _, n := range names {
		b.want("SELECT "+b.quote(n)+" FROM "+table, "value of "+n)
	}
	odd := `t"; DROP TABLE ` + table + "; --`"
	b.write(b.opened(sqlsink.Config{Table: odd}, title), article(1, map[string]any{"title": "x"}))
	b.want("SELECT title FROM "+b.quote(odd), "x")
	b.want("SELECT COUNT(*) FROM "+table, "1")
}

func refusedAlone(b *backend) {
	table := b.table()
	b.exec(fmt.Sprintf("CREATE TABLE %s (item_id varchar(64) PRIMARY KEY, title varchar(10) %s, comments int, CHECK (comments < 100))", table, b.pick("CHARACTER SET utf8mb4", "", "")))
	s := b.opened(sqlsink.Config{Table: table}, schema(export.Field{Name: "title", Type: export.String}, export.Field{Name: "comments", Type: export.Integer}))
	var records []export.Record
	for i := range 60 {
		records = append(records, article(i, map[string]any{"title": fmt.Sprint("n", i), "comments": i}))
	}
	records[3] = article(3, map[string]any{"comments": 100})                                // breaks the check
	records[17] = article(17, map[string]any{"comments": "many"})                           // is no number
	records[18] = article(18, map[string]any{"comments": 1 << 60})                          // out of range, or breaks the check
	records[40] = export.Record{ID: id(40), Kind: "article", JSON: []byte(`["no object"]`)} // is no item
	records[41] = article(41, map[string]any{"title": []int{1}})                            // is a table
	records[59] = article(59, map[string]any{"comments": 1.5})
	refused := strings.Join(b.write(s, records...), "\n")
	for _, n := range []string{"3: ", "17: " + table + ".comments: \"many\" is no whole number", "18: ", "40: the item is no JSON object", "41: " + table + ".title", "59: " + table + ".comments"} {
		if !strings.Contains("\n"+refused, "\n"+n) {
			b.t.Errorf("no refusal %q in\n%s", n, refused)
		}
	}
	b.want("SELECT COUNT(*) FROM "+table, "54")
}

func otherUniqueKey(b *backend) {
	table := b.table()
	b.exec(fmt.Sprintf("CREATE TABLE %s (item_id varchar(64) PRIMARY KEY, title varchar(100) UNIQUE)", table))
	s := b.opened(sqlsink.Config{Table: table}, title)
	refused := b.write(s, article(1, map[string]any{"title": "a"}), article(2, map[string]any{"title": "b"}), article(3, map[string]any{"title": "a"}), article(4, map[string]any{"title": "c"}))
	if len(refused) != 1 || !strings.HasPrefix(refused[0], "2: ") || !strings.Contains(strings.ToLower(refused[0]), "unique") {
		b.t.Errorf("refused: %q", refused)
	}
	b.want("SELECT item_id, title FROM "+table, id(1)+"|a", id(2)+"|b", id(4)+"|c")
	if refused := b.write(s, article(1, map[string]any{"title": "d"})); len(refused) > 0 {
		b.t.Errorf("refused: %q", refused)
	}
}

// nullableKey: MySQL tells the row of another item by its key, which must not become NULL.
func nullableKey(b *backend) {
	table := b.table()
	b.exec(fmt.Sprintf("CREATE TABLE %s (item_id varchar(64) UNIQUE, title varchar(100) UNIQUE)", table))
	cfg := sqlsink.Config{Table: table}
	if b.name == "mariadb" {
		said := b.openError(cfg, title)
		contains(b.t, said, table+".item_id may be NULL", "MODIFY `item_id` varchar(64) NOT NULL")
		b.exec(said[strings.Index(said, "ALTER"):]) // what it says to do can be done
	}
	s := b.opened(cfg, title)
	if refused := b.write(s, article(1, map[string]any{"title": "a"}), article(2, map[string]any{"title": "a"})); len(refused) != 1 {
		b.t.Errorf("refused: %q", refused)
	}
	b.want("SELECT item_id, title FROM "+table, id(1)+"|a")
}

func missingColumn(b *backend) {
	table := b.table()
	b.exec(fmt.Sprintf("CREATE TABLE %s (item_id varchar(64) PRIMARY KEY, title text)", table))
	said := b.openError(sqlsink.Config{Table: table}, everyType)
	contains(b.t, said, table+".price is missing", "ALTER TABLE", "ADD COLUMN", b.pick("DOUBLE", "double precision", "REAL"), table+".tags")
	statement := said[strings.Index(said, "ALTER"):strings.Index(said, ", or name")]
	b.exec(statement) // what it says to do can be done
	if said := b.openError(sqlsink.Config{Table: table}, everyType); strings.Contains(said, ".price") {
		b.t.Errorf("after %s: %s", statement, said)
	}
}

func otherTypes(b *backend) {
	table := b.table()
	b.exec(fmt.Sprintf("CREATE TABLE %s (item_id varchar(64) PRIMARY KEY, title int, price varchar(20), comments double precision, hot text, seen int, tags int)", table))
	said := b.openError(sqlsink.Config{Table: table}, everyType)
	contains(b.t, said, table+".title is int", "a string there", table+".price is ", table+".comments is double", table+".hot is text", table+".seen is int", "1 more")
}

func tooShort(b *backend) {
	table := b.table()
	b.exec(fmt.Sprintf("CREATE TABLE %s (item_id varchar(20) PRIMARY KEY, title varchar(5))", table))
	if b.name == "sqlite" {
		b.opened(sqlsink.Config{Table: table}, title) // SQLite keeps what is longer
		return
	}
	contains(b.t, b.openError(sqlsink.Config{Table: table}, title), table+".item_id is", "(20)", "too short", "varchar(64)")
	table = b.table()
	b.exec(fmt.Sprintf("CREATE TABLE %s (item_id varchar(40) PRIMARY KEY, title varchar(5) %s)", table, b.pick("CHARACTER SET utf8mb4", "", "")))
	s := b.opened(sqlsink.Config{Table: table}, title)
	refused := b.write(s, article(1, map[string]any{"title": "12345"}), article(2, map[string]any{"title": "123456"}), article(3, map[string]any{"title": "😀😀😀😀😀"}))
	if len(refused) != 1 {
		b.t.Fatalf("refused: %q", refused)
	}
	contains(b.t, refused[0], "1: "+table+".title", "5 characters", "has 6")
	b.want("SELECT title FROM "+table, "12345", "😀😀😀😀😀")
}

func columnThatNeedsAValue(b *backend) {
	table := b.table()
	b.exec(fmt.Sprintf("CREATE TABLE %s (item_id varchar(64) PRIMARY KEY, title text, author varchar(10) NOT NULL, site varchar(10) NOT NULL DEFAULT 'x', note text)", table))
	said := b.openError(sqlsink.Config{Table: table}, title)
	contains(b.t, said, table+".author must have a value", "default")
	if strings.Contains(said, ".site") || strings.Contains(said, ".note") {
		b.t.Error(said)
	}
}

func noKey(b *backend) {
	table := b.table()
	b.exec(fmt.Sprintf("CREATE TABLE %s (item_id varchar(64) NOT NULL, title text, n int, UNIQUE (item_id, n))", table))
	contains(b.t, b.openError(sqlsink.Config{Table: table}, title), table+".item_id is no key", "PRIMARY KEY")
	table = b.table()
	b.exec(fmt.Sprintf("CREATE TABLE %s (id int PRIMARY KEY %s, item_id varchar(64) NOT NULL UNIQUE, title text)", table,
		b.pick("AUTO_INCREMENT", "GENERATED ALWAYS AS IDENTITY", "")))
	if b.name != "sqlite" {
		s := b.opened(sqlsink.Config{Table: table}, title)
		b.write(s, article(1, map[string]any{"title": "a"}), article(1, map[string]any{"title": "b"}))
		b.want("SELECT title FROM "+table, "b")
	}
}

func readOnly(b *backend) {
	table := b.table()
	b.opened(sqlsink.Config{Table: table}, title)
	dsn := b.dsn
	switch b.name {
	case "mariadb":
		dsn += "?tx_read_only=1"
	case "postgres":
		dsn += "&default_transaction_read_only=on"
	case "sqlite":
		dsn += "?mode=ro"
	}
	s := b.opened(sqlsink.Config{Source: b.source(dsn), Table: table}, title)
	refused, err := s.Write(b.t.Context(), []export.Record{article(1, nil)})
	if err == nil || len(refused) > 0 {
		b.t.Fatalf("%v, %v", refused, err)
	}
	contains(b.t, strings.ReplaceAll(strings.ToLower(err.Error()), "-", ""), b.pick("read only", "readonly", "readonly"))
	said := b.openError(sqlsink.Config{Source: b.source(dsn), Table: b.table()}, title)
	contains(b.t, said, "making the table")
}

// tableGone drops the table in the middle: the sink is down, not the items refused, and makes it anew.
func tableGone(b *backend) {
	table := b.table()
	s := b.opened(sqlsink.Config{Table: table}, title)
	b.write(s, article(1, nil))
	b.exec("DROP TABLE " + table)
	refused, err := s.Write(b.t.Context(), []export.Record{article(1, nil), article(2, nil)})
	if err == nil || len(refused) > 0 {
		b.t.Fatalf("%v, %v", refused, err)
	}
	b.write(s, article(1, nil), article(2, nil))
	b.want("SELECT COUNT(*) FROM "+table, "2")
}

func otherKinds(b *backend) {
	table := b.table()
	author := export.Record{ID: id(2), Kind: "author", JSON: []byte(`{"name":"x"}`)}
	s := b.opened(sqlsink.Config{Table: table}, title)
	refused := b.write(s, article(1, nil), author)
	if len(refused) != 1 {
		b.t.Fatalf("refused: %q", refused)
	}
	contains(b.t, refused[0], `"author"`, `items = "article"`)
	s = b.opened(sqlsink.Config{Table: table, Items: "article"}, title)
	if refused := b.write(s, article(1, nil), author); len(refused) > 0 {
		b.t.Errorf("refused: %q", refused)
	}
	b.want("SELECT COUNT(*) FROM "+table, "1")
}

// existingTable is one that people have made for themselves.
func existingTable(b *backend) {
	table := b.table()
	b.exec(fmt.Sprintf(`CREATE TABLE %s (item_id char(40) NOT NULL, Title varchar(255) NOT NULL, price decimal(10,2), comments smallint,
		hot boolean, seen timestamp NULL, tags text, stored timestamp DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (item_id))`, table))
	columns := []sqlsink.Column{{Name: b.pick("TITLE", "title", "title"), Field: "title"}, {Name: "price", Field: "price"}, {Name: "comments", Field: "comments"}, {Name: "hot", Field: "hot"}, {Name: "seen", Field: "seen"}, {Name: "tags", Field: "tags"}}
	s := b.opened(sqlsink.Config{Table: table, Columns: columns}, everyType)
	refused := b.write(s, article(1, map[string]any{"title": "A", "price": 1.25, "comments": 7, "seen": "2026-01-31T12:00:00+02:00", "tags": map[string]any{"a": 1}}), article(2, map[string]any{"title": "B", "comments": 1 << 20}))
	b.want("SELECT title, price, comments, seen, tags FROM "+table+" WHERE title = 'A'", `A|1.25|7|2026-01-31T10:00:00Z|{"a":1}`)
	if b.name != "sqlite" && (len(refused) != 1 || !strings.HasPrefix(refused[0], "1: ")) {
		b.t.Errorf("refused: %q", refused)
	}
}

// constraintAddedLater makes every item impossible: that is the table's fault, and no item goes to the dead for it.
func constraintAddedLater(b *backend) {
	if b.name == "sqlite" {
		return // it cannot add a column that must have a value
	}
	table := b.table()
	s := b.opened(sqlsink.Config{Table: table}, title)
	b.write(s, article(1, nil))
	b.exec("DELETE FROM "+table, "ALTER TABLE "+table+" ADD COLUMN author varchar(10) NOT NULL")
	refused, err := s.Write(b.t.Context(), []export.Record{article(1, nil), article(2, nil)})
	if err == nil || len(refused) > 0 {
		b.t.Fatalf("%v, %v", refused, err)
	}
	b.exec("ALTER TABLE " + table + " ALTER COLUMN author SET DEFAULT 'x'")
	b.write(s, article(1, nil), article(2, nil))
	b.want("SELECT COUNT(*) FROM "+table, "2")
}

func manyRows(b *backend) {
	table := b.table()
	s := b.opened(sqlsink.Config{Table: table, Batch: 1000}, everyType)
	var records []export.Record
	for i := range 2000 {
		records = append(records, article(i, map[string]any{"title": strings.Repeat("x", i), "comments": i}))
	}
	for range 2 {
		if refused := b.write(s, records...); len(refused) > 0 {
			b.t.Fatalf("refused: %q", refused[0])
		}
	}
	b.want("SELECT COUNT(*), SUM(comments), MAX(LENGTH(title)) FROM "+table, "2000|1999000|1999")
}
