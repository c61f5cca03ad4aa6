package sqlsink

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"luacrawl/engine/database"
	"luacrawl/engine/export"
)

// family is a group of column types that take the same values.
type family string

const (
	textFamily    family = "text"
	integerFamily family = "integer"
	floatFamily   family = "float"
	decimalFamily family = "decimal"
	booleanFamily family = "boolean"
	timeFamily    family = "time"
	jsonFamily    family = "json"
	binaryFamily  family = "binary"
	otherFamily   family = "other" // takes text that it understands: uuid, inet, an enum of PostgreSQL
	anyFamily     family = "any"   // takes all: a column of SQLite without a type
)

// takes are the families that a column of a declared type may have.
var takes = map[export.Type][]family{
	export.String:  {textFamily, otherFamily, anyFamily},
	export.Number:  {floatFamily, decimalFamily, anyFamily},
	export.Integer: {integerFamily, decimalFamily, anyFamily},
	export.Boolean: {booleanFamily, integerFamily, anyFamily},
	export.Time:    {timeFamily, textFamily, anyFamily},
	export.JSON:    {jsonFamily, textFamily, anyFamily},
}

// tableColumn is a column as the database describes it.
type tableColumn struct {
	name      string
	sqlType   string // "varchar(20)"
	needed    bool   // NOT NULL, and the database gives it no value itself
	generated bool
	nullable  bool
}

// tableShape is what a database says about a table.
type tableShape struct {
	columns []tableColumn // none when there is no such table
	keyed   bool          // item_id alone is a primary or unique key
}

// shapeOf parts "varchar(20)" into its family and its length in characters, 0 for none.
func shapeOf(d database.Dialect, sqlType string) (family, int) {
	lower := strings.ToLower(sqlType)
	if d == database.SQLite {
		return affinity(lower), 0
	}
	base, rest, _ := strings.Cut(lower, "(") // timestamp(6) with time zone
	inside, after, _ := strings.Cut(rest, ")")
	length, _ := strconv.Atoi(inside)
	base += after
	base = strings.TrimSuffix(strings.TrimSuffix(base, " zerofill"), " unsigned")
	for f, names := range typeNames {
		if slices.Contains(names, base) {
			return f, length
		}
	}
	return otherFamily, 0
}

var typeNames = map[family][]string{
	textFamily:    {"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "character varying", "character", "bpchar", "citext", "name"},
	integerFamily: {"tinyint", "smallint", "mediumint", "int", "integer", "bigint", "year"},
	floatFamily:   {"float", "double", "double precision", "real"},
	decimalFamily: {"decimal", "numeric"},
	booleanFamily: {"boolean", "bool", "bit"},
	timeFamily:    {"datetime", "timestamp", "timestamp with time zone", "timestamp without time zone", "date"},
	jsonFamily:    {"json", "jsonb"},
	binaryFamily:  {"blob", "tinyblob", "mediumblob", "longblob", "binary", "varbinary", "bytea"},
}

// affinity is what a column of SQLite prefers, by the words in its type (sqlite.org/datatype3.html), and by those that people add.
func affinity(sqlType string) family {
	for _, word := range []struct {
		part   string
		family family
	}{
		{"int", integerFamily}, {"char", textFamily}, {"clob", textFamily}, {"text", textFamily}, {"real", floatFamily}, {"floa", floatFamily},
		{"doub", floatFamily}, {"bool", booleanFamily}, {"date", timeFamily}, {"time", timeFamily}, {"json", jsonFamily}, {"num", decimalFamily}, {"dec", decimalFamily},
	} {
		if strings.Contains(sqlType, word.part) {
			return word.family
		}
	}
	return anyFamily
}

// check compares the table with the columns that the sink writes, and notes what they hold. Its error names each column that does not
// fit, and what to do.
func (s *Sink) check(shape tableShape) error {
	var wrong []string
	for i := range s.columns {
		if complaint := s.checkColumn(&s.columns[i], shape); complaint != "" {
			wrong = append(wrong, fmt.Sprintf("%s.%s %s", s.cfg.Table, s.columns[i].name, complaint))
		}
	}
	if !shape.keyed {
		wrong = append(wrong, fmt.Sprintf("%s.%s is no key of the table: run ALTER TABLE %s ADD PRIMARY KEY (%s), or ADD UNIQUE (%s)", s.cfg.Table, idColumn, s.table, s.columns[0].quoted, s.columns[0].quoted))
	}
	for _, t := range shape.columns {
		if t.needed && s.find(t.name) == nil {
			wrong = append(wrong, fmt.Sprintf("%s.%s must have a value, which no item gives it: give it a default, or allow NULL", s.cfg.Table, t.name))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	const most = 5
	if len(wrong) > most {
		wrong = append(wrong[:most], fmt.Sprintf("%d more", len(wrong)-most))
	}
	return errors.New("the table does not fit the items: " + strings.Join(wrong, "; "))
}

func (s *Sink) checkColumn(c *column, shape tableShape) string {
	i := slices.IndexFunc(shape.columns, func(t tableColumn) bool { return s.sameName(t.name, c.name) })
	if i < 0 {
		return fmt.Sprintf("is missing: run ALTER TABLE %s ADD COLUMN %s%s", s.table, c.definition(s.dialect), orColumns(c))
	}
	t := shape.columns[i]
	c.family, c.chars = shapeOf(s.dialect, t.sqlType)
	switch allowed, typed := takes[c.kind]; {
	case t.generated:
		return "is computed by the database, and cannot be written" + orColumns(c)
	case typed && !slices.Contains(allowed, c.family):
		return fmt.Sprintf("is %s, and the items have a %s there: change the column to %s%s", t.sqlType, c.kind, sqlTypes[s.dialect][c.kind], orColumns(c))
	case c.name == idColumn && t.nullable && s.dialect == database.MySQL: // onDuplicate relies on it
		return fmt.Sprintf("may be NULL, and then an item would be written over another that has the same value of a unique column: run ALTER TABLE %s MODIFY %s %s NOT NULL", s.table, c.quoted, t.sqlType)
	case c.name == idColumn && c.chars > 0 && c.chars < maxID:
		return fmt.Sprintf("is %s, too short for an item_id of %d characters: change the column to varchar(64)", t.sqlType, maxID)
	}
	return ""
}

func orColumns(c *column) string {
	if c.name == idColumn {
		return ""
	}
	return ", or name the fields to keep in columns"
}

func (s *Sink) find(name string) *column {
	for i := range s.columns {
		if s.sameName(name, s.columns[i].name) {
			return &s.columns[i]
		}
	}
	return nil
}

func (s *Sink) sameName(a, b string) bool {
	return a == b || s.dialect.FoldsNames() && strings.EqualFold(a, b)
}
