package database

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// Limit bounds what a query may give.
type Limit struct {
	Rows  int
	Bytes int
	Cut   bool // further rows are left out, instead of an error
}

// Result is what a statement without rows has done.
type Result struct {
	Affected int64 // rows
	LastID   int64 // the automatic key of the inserted row; 0 where the database does not say (PostgreSQL)
}

// Rows are the rows of a query. A value is nil, bool, int64, uint64, float64 or string; times are RFC 3339 in UTC, dates without a time of
// day, decimal numbers their digits.
type Rows struct {
	Columns []string
	Values  [][]any
	Size    int // about how many bytes the values take
}

// runner is a pool or a transaction.
type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func exec(ctx context.Context, s *Source, db runner, query string, args []any) (Result, error) {
	r, err := db.ExecContext(ctx, query, s.dialect.Arguments(args)...)
	if err != nil {
		return Result{}, s.Scrub(err)
	}
	var out Result
	out.Affected, _ = r.RowsAffected()
	if s.dialect != Postgres {
		out.LastID, _ = r.LastInsertId()
	}
	return out, nil
}

func read(ctx context.Context, s *Source, db runner, limit Limit, query string, args []any) (*Rows, error) {
	rows, err := db.QueryContext(ctx, query, s.dialect.Arguments(args)...)
	if err != nil {
		return nil, s.Scrub(err)
	}
	defer rows.Close()
	out, err := collect(rows, limit)
	return out, s.Scrub(err)
}

func collect(rows *sql.Rows, limit Limit) (*Rows, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	out := &Rows{}
	for _, t := range types {
		out.Columns = append(out.Columns, t.Name())
	}
	for rows.Next() {
		if len(out.Values) == limit.Rows {
			if limit.Cut {
				return out, nil
			}
			return nil, fmt.Errorf("the query gives more than %d rows; ask for fewer with LIMIT", limit.Rows)
		}
		values, err := scan(rows, types)
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			out.Size += valueSize(v)
		}
		if out.Size > limit.Bytes {
			return nil, fmt.Errorf("the query gives more than %d MB; ask for fewer rows or columns", limit.Bytes>>20)
		}
		out.Values = append(out.Values, values)
	}
	return out, rows.Err()
}

func scan(rows *sql.Rows, types []*sql.ColumnType) ([]any, error) {
	values := make([]any, len(types))
	into := make([]any, len(types))
	for i := range values {
		into[i] = &values[i]
	}
	if err := rows.Scan(into...); err != nil {
		return nil, err
	}
	for i, v := range values {
		values[i] = plain(v, types[i].DatabaseTypeName())
	}
	return values, nil
}

// plain is a driver's value as Rows has them.
func plain(v any, typeName string) any {
	switch v := v.(type) {
	case nil, bool, int64, uint64, float64, string:
		return v
	case []byte:
		return string(v)
	case float32:
		return float64(v)
	case time.Time:
		if strings.EqualFold(typeName, "DATE") {
			return v.Format(time.DateOnly)
		}
		return v.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}

func valueSize(v any) int {
	if s, ok := v.(string); ok {
		return len(s) + 32
	}
	return 32
}

// Arguments are parameters as a database takes them. PostgreSQL gets text, which it reads as whatever type the parameter has.
func (d Dialect) Arguments(args []any) []any {
	if d != Postgres {
		return args
	}
	out := make([]any, len(args))
	for i, a := range args {
		switch a.(type) {
		case nil, string, []byte:
			out[i] = a
		default:
			out[i] = fmt.Sprint(a)
		}
	}
	return out
}
