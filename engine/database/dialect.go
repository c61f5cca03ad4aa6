package database

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Dialect is the SQL of one kind of database.
type Dialect string

// The dialects. MariaDB speaks MySQL.
const (
	MySQL    Dialect = "mysql"
	Postgres Dialect = "postgres"
	SQLite   Dialect = "sqlite"
)

// Placeholder is how a statement names its n-th parameter, from 1: ?, or $n.
func (d Dialect) Placeholder(n int) string {
	if d == Postgres {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}

// MaxParameters is how many parameters one statement may have.
func (d Dialect) MaxParameters() int {
	if d == SQLite {
		return 32766 // SQLITE_MAX_VARIABLE_NUMBER
	}
	return 65535 // 16 bits in both protocols
}

// Quote makes a name of a column or of part of a table's name safe in a statement, whatever it holds. A name that the database
// cannot keep as it is, and might cut, is an error.
func (d Dialect) Quote(name string) (string, error) {
	if err := d.checkName(name); err != nil {
		return "", fmt.Errorf("the name %.80q %w", name, err)
	}
	mark := `"`
	if d == MySQL {
		mark = "`"
	}
	return mark + strings.ReplaceAll(name, mark, mark+mark) + mark, nil
}

func (d Dialect) checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("is empty")
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("holds a NUL character, which no database takes in a name")
	case !utf8.ValidString(name):
		return fmt.Errorf("is not UTF-8")
	}
	switch d {
	case Postgres:
		if len(name) > 63 {
			return fmt.Errorf("has %d bytes; PostgreSQL keeps 63", len(name))
		}
	case MySQL:
		if n := utf8.RuneCountInString(name); n > 64 {
			return fmt.Errorf("has %d characters; MySQL keeps 64", n)
		}
		if strings.HasSuffix(name, " ") {
			return fmt.Errorf("ends in a space, which MySQL does not take")
		}
		if strings.ContainsFunc(name, func(r rune) bool { return r > 0xffff }) {
			return fmt.Errorf("holds an emoji or another character past U+FFFF, which MySQL does not take in a name")
		}
	}
	return nil
}

// QuoteTable quotes a table's name, which may have the name of its schema or database before a dot.
func (d Dialect) QuoteTable(name string) (string, error) {
	schema, table := SplitTable(name)
	quoted, err := d.Quote(table)
	if err != nil || schema == "" {
		return quoted, err
	}
	first, err := d.Quote(schema)
	return first + "." + quoted, err
}

// SplitTable parts "schema.table"; the schema is "" without a dot.
func SplitTable(name string) (schema, table string) {
	if schema, table, ok := strings.Cut(name, "."); ok {
		return schema, table
	}
	return "", name
}

// FoldsNames reports whether names of columns that differ in case only are one.
func (d Dialect) FoldsNames() bool { return d != Postgres }
