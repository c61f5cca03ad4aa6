package sqlsink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"luacrawl/engine/database"
	"luacrawl/engine/export"
)

// A statement grows and shrinks with the time that it takes, so that a slow database is given few rows at once, and not asked for the same
// rows again and again.
const (
	firstRows = 8
	fast      = 30      // a statement that took less than this part of the timeout was quick
	slow      = 6       // and one that took more than this part was slow
	maxBytes  = 1 << 20 // of values in one statement, below what servers take in a packet
)

// row is one record on its way into the table.
type row struct {
	index int // among the records
	id    string
	args  []any
	size  int
}

// Write writes records, those of one item_id over each other. It returns when they are stored.
func (s *Sink) Write(ctx context.Context, records []export.Record) ([]export.Refusal, error) {
	if s.db == nil {
		return nil, errors.New("it was not opened")
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	rows, refused := s.convert(records)
	for len(rows) > 0 {
		n := s.chunk(rows)
		more, err := s.store(ctx, rows[:n])
		if err != nil {
			return nil, err
		}
		if len(more) == n {
			if err := s.recheck(ctx); err != nil {
				return nil, err
			}
		}
		refused = append(refused, more...)
		rows = rows[n:]
	}
	return refused, nil
}

// recheck looks whether it was the table, and not the items, when all of a statement were refused.
func (s *Sink) recheck(ctx context.Context) error {
	s.ready = false
	return s.prepare(ctx)
}

// convert makes rows of the records, and refusals of those that their columns cannot take.
func (s *Sink) convert(records []export.Record) (rows []row, refused []export.Refusal) {
	for i, r := range records {
		if s.cfg.Items != "" && r.Kind != s.cfg.Items {
			continue // of another sink
		}
		one, err := s.row(r)
		if err != nil {
			refused = append(refused, export.Refusal{Index: i, Err: err})
			continue
		}
		one.index = i
		rows = append(rows, one)
	}
	return rows, refused
}

func (s *Sink) row(r export.Record) (row, error) {
	if s.schema != nil && r.Kind != s.schema.Name {
		return row{}, fmt.Errorf("the table %s takes items of %q, and this is one of %q; give the sink items = %q, and others a sink of their own", s.cfg.Table, s.schema.Name, r.Kind, s.schema.Name)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.JSON, &fields); err != nil {
		return row{}, fmt.Errorf("the item is no JSON object: %w", err)
	}
	out := row{id: r.ID, args: make([]any, len(s.columns))}
	for i := range s.columns {
		c := &s.columns[i]
		v, err := any(r.ID), error(nil)
		switch {
		case c.field != "":
			v, err = c.value(s.dialect, fields[c.field])
		case i > 0:
			v, err = c.value(s.dialect, r.JSON)
		case r.ID == "":
			err = errors.New("the item has no item_id")
		}
		if err == nil && v == nil && c.required {
			err = errors.New("the item has no value for it, and must")
		}
		if err != nil {
			return row{}, fmt.Errorf("%s.%s: %w", s.cfg.Table, c.name, err)
		}
		out.args[i] = v
		if text, ok := v.(string); ok {
			out.size += len(text)
		}
	}
	return out, nil
}

// chunk is how many of the rows go into the next statement: one item_id is not there twice.
func (s *Sink) chunk(rows []row) int {
	most := min(len(rows), s.rows, s.dialect.MaxParameters()/len(s.columns))
	seen := map[string]bool{}
	size := 0
	for n := range most {
		size += rows[n].size
		if n > 0 && (size > maxBytes || seen[rows[n].id]) {
			return n
		}
		seen[rows[n].id] = true
	}
	return most
}

// store writes rows in one statement. When the database refuses it for a value, the rows are halved until those that it refuses stand
// alone.
func (s *Sink) store(ctx context.Context, rows []row) ([]export.Refusal, error) {
	err := s.run(ctx, rows)
	switch {
	case err == nil:
		return nil, nil
	case ctx.Err() != nil:
		return nil, s.down(ctx, err)
	case !database.RefusesValues(err):
		return nil, s.down(ctx, err)
	case len(rows) == 1:
		return []export.Refusal{{Index: rows[0].index, Err: s.explain(err)}}, nil
	}
	half := len(rows) / 2
	first, err := s.store(ctx, rows[:half])
	if err != nil {
		return nil, err
	}
	second, err := s.store(ctx, rows[half:])
	return append(first, second...), err
}

func (s *Sink) run(ctx context.Context, rows []row) error {
	args := make([]any, 0, len(rows)*len(s.columns))
	for _, r := range rows {
		args = append(args, r.args...)
	}
	within, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	begun := time.Now()
	_, err := s.db.ExecContext(within, s.upsert(len(rows)), s.dialect.Arguments(args)...)
	s.pace(len(rows), time.Since(begun))
	return err
}

// pace sets how many rows the next statement has.
func (s *Sink) pace(rows int, took time.Duration) {
	switch {
	case took > s.cfg.Timeout/slow:
		s.rows = max(1, rows/2)
	case took < s.cfg.Timeout/fast && rows >= s.rows:
		s.rows = min(s.cfg.Batch, s.rows*2)
	}
}
