// Package sqlsink writes items into a table of MySQL, MariaDB, PostgreSQL or SQLite: one row for each item_id.
package sqlsink

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"luacrawl/engine/database"
)

// Defaults and bounds of a Config.
const (
	defaultBatch   = 100
	maxBatch       = 1000
	defaultTimeout = 30 * time.Second
)

// Config says which table takes the items.
type Config struct {
	Source  *database.Source
	Table   string        // may have a schema before a dot; "" means items
	Columns []Column      // what is kept; none means all fields of the declaration, or else the whole item as JSON
	Batch   int           // the most rows in one statement; 0 means 100
	Items   string        // the declaration whose items are taken; "" takes those of the schema
	Timeout time.Duration // of one statement; 0 means 30 s
}

// Column is a column of the table that holds a field of the items.
type Column struct {
	Name  string
	Field string
}

var configKeys = []string{"batch", "columns", "driver", "dsn", "items", "table", "timeout"}

// ParseConfig reads a table of a spider's file:
//
//	{ driver = "mysql", dsn = "env:NEWS_DSN", table = "articles", columns = { "title", "url" } or { headline = "title" }, batch = 100, items = "article", timeout = 30 }
//
// env gives the variables that a dsn may name. One that stands in the file itself is confined, as in a script. Lists are []any, tables map[string]any, numbers float64. Errors name the key.
func ParseConfig(m map[string]any, env func(name string) (string, bool)) (Config, error) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(configKeys, key) {
			return Config{}, fmt.Errorf("%.50q is no key of an SQL sink; it has %s", key, strings.Join(configKeys, ", "))
		}
	}
	var c Config
	var driver, dsn string
	var batch, timeout float64
	err := errors.Join(
		take(m, "driver", "a string", &driver), take(m, "dsn", "a string", &dsn), take(m, "table", "a string", &c.Table),
		take(m, "items", "a string", &c.Items), take(m, "batch", "a number", &batch), take(m, "timeout", "a number of seconds", &timeout),
	)
	if err != nil {
		return Config{}, err
	}
	if c.Columns, err = parseColumns(m["columns"]); err != nil {
		return Config{}, err
	}
	if err := c.setNumbers(m, batch, timeout); err != nil {
		return Config{}, err
	}
	if dsn == "" {
		return Config{}, errors.New(`dsn is missing; write dsn = "env:NAME" and put mysql://user:password@host/database into the environment variable NAME`)
	}
	if c.Source, err = database.Parse(dsn, database.Options{Driver: driver, Env: env, Confined: true}); err != nil {
		return Config{}, fmt.Errorf("dsn: %w", err)
	}
	return c, nil
}

func (c *Config) setNumbers(m map[string]any, batch, timeout float64) error {
	if _, set := m["batch"]; set {
		if batch != math.Trunc(batch) || batch < 1 || batch > maxBatch {
			return fmt.Errorf("batch is %v; it is a whole number of rows, 1 to %d", batch, maxBatch)
		}
		c.Batch = int(batch)
	}
	if _, set := m["timeout"]; set {
		if !(timeout >= 1 && timeout <= 3600) {
			return fmt.Errorf("timeout is %v; it is in seconds, 1 to 3600", timeout)
		}
		c.Timeout = time.Duration(timeout * float64(time.Second))
	}
	return nil
}

// take reads one key of the type of into.
func take[T any](m map[string]any, key, what string, into *T) error {
	v, ok := m[key]
	if !ok {
		return nil
	}
	if *into, ok = v.(T); !ok {
		return fmt.Errorf("%s must be %s, not %s", key, what, describe(v))
	}
	return nil
}

func describe(v any) string {
	switch v := v.(type) {
	case string:
		return "a string"
	case float64:
		return fmt.Sprintf("the number %v", v)
	case bool:
		return fmt.Sprintf("%v", v)
	case []any, map[string]any:
		return "a table"
	}
	return fmt.Sprintf("%T", v)
}

// parseColumns reads a list of fields, or a table of fields by columns, which come in the order of the columns' names.
func parseColumns(v any) ([]Column, error) {
	const form = `columns must be a list of fields, { "title", "url" }, or a table of fields by columns, { headline = "title" }`
	var columns []Column
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []any:
		for i, one := range v {
			name, ok := one.(string)
			if !ok {
				return nil, fmt.Errorf("columns[%d] is %s; %s", i+1, describe(one), form)
			}
			columns = append(columns, Column{name, name})
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			field, ok := v[name].(string)
			if !ok {
				return nil, fmt.Errorf("columns.%s is %s; %s", name, describe(v[name]), form)
			}
			columns = append(columns, Column{name, field})
		}
	default:
		return nil, fmt.Errorf("%s; it is %s", form, describe(v))
	}
	if len(columns) == 0 {
		return nil, errors.New("columns is empty; leave it out to keep all fields")
	}
	return columns, nil
}
