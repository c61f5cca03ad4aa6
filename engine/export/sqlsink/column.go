package sqlsink

import (
	"errors"
	"fmt"
	"strings"

	"luacrawl/engine/database"
	"luacrawl/engine/export"
)

// idColumn is the key of every table.
const idColumn = "item_id"

// maxID is how many characters an item_id may have: it is a SHA1 in hex.
const maxID = 40

// untyped is the type of a field that no declaration names: it is kept as text, whatever it holds.
const untyped export.Type = ""

// column is one column that the sink writes.
type column struct {
	name     string
	quoted   string
	field    string // "" for the key and for the whole item
	kind     export.Type
	required bool
	chars    int // the most characters, as the table has it; 0 for no limit
	family   family
}

// columnsOf are the columns for a declaration, which may be nil; the key is the first.
func columnsOf(d database.Dialect, wanted []Column, schema *export.Schema) ([]column, error) {
	columns := []column{{name: idColumn, kind: export.String, required: true}}
	switch {
	case len(wanted) > 0:
		for _, w := range wanted {
			c, err := columnFor(w, schema)
			if err != nil {
				return nil, err
			}
			columns = append(columns, c)
		}
	case schema != nil:
		for _, f := range schema.Fields {
			columns = append(columns, column{name: f.Name, field: f.Name, kind: f.Type, required: f.Required})
		}
	default:
		columns = append(columns, column{name: "item", kind: export.JSON, required: true})
	}
	if len(columns) > maxColumns {
		return nil, fmt.Errorf("%d columns, more than %d; name those to keep in columns", len(columns), maxColumns)
	}
	return columns, nameColumns(d, columns)
}

// maxColumns is below what each database takes in a table.
const maxColumns = 500

func columnFor(w Column, schema *export.Schema) (column, error) {
	c := column{name: w.Name, field: w.Field}
	if schema == nil {
		return c, nil
	}
	var known []string
	for _, f := range schema.Fields {
		if f.Name == w.Field {
			c.kind, c.required = f.Type, f.Required
			return c, nil
		}
		known = append(known, f.Name)
	}
	return c, fmt.Errorf("columns names the field %.80q, which %s has not; it has %s", w.Field, schema.Name, strings.Join(known, ", "))
}

// nameColumns quotes the names, and refuses those that the database would take for one.
func nameColumns(d database.Dialect, columns []column) error {
	seen := map[string]string{}
	for i := range columns {
		c := &columns[i]
		var err error
		if c.quoted, err = d.Quote(c.name); err != nil {
			return fmt.Errorf("a column: %w; give it another name with columns = { name = \"field\" }", err)
		}
		key := c.name
		if d.FoldsNames() {
			key = strings.ToLower(key)
		}
		if before, twice := seen[key]; twice && i > 0 {
			if key == idColumn {
				return errors.New("a field is called item_id, as the key of the table; give it another column with columns = { name = \"item_id\" }")
			}
			return fmt.Errorf("the columns %.80q and %.80q are one for the database; give one another name with columns = { name = \"field\" }", before, c.name)
		}
		seen[key] = c.name
	}
	return nil
}

// sqlTypes are the types of columns in tables that the sink makes.
var sqlTypes = map[database.Dialect]map[export.Type]string{
	database.MySQL: {
		export.String: "LONGTEXT", export.Number: "DOUBLE", export.Integer: "BIGINT", export.Boolean: "BOOLEAN",
		export.Time: "DATETIME(6)", export.JSON: "JSON", untyped: "LONGTEXT",
	},
	database.Postgres: {
		export.String: "text", export.Number: "double precision", export.Integer: "bigint", export.Boolean: "boolean",
		export.Time: "timestamp with time zone", export.JSON: "jsonb", untyped: "text",
	},
	database.SQLite: {
		export.String: "TEXT", export.Number: "REAL", export.Integer: "INTEGER", export.Boolean: "BOOLEAN",
		export.Time: "TEXT", export.JSON: "TEXT", untyped: "TEXT",
	},
}

// definition is the column in CREATE TABLE and ALTER TABLE.
func (c *column) definition(d database.Dialect) string {
	if c.name == idColumn {
		if d == database.MySQL {
			return c.quoted + " VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY"
		}
		return c.quoted + " " + sqlTypes[d][export.String] + " NOT NULL PRIMARY KEY"
	}
	if c.required {
		return c.quoted + " " + sqlTypes[d][c.kind] + " NOT NULL"
	}
	return c.quoted + " " + sqlTypes[d][c.kind]
}
