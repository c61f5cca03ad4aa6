package sqlsink

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"luacrawl/engine/database"
	"luacrawl/engine/export"
)

// Sink writes items into one table. It is an export.Sink.
type Sink struct {
	cfg     Config
	schema  *export.Schema // nil without a declaration
	dialect database.Dialect
	table   string // quoted
	columns []column
	db      *sql.DB // nil until Open and after Close
	ready   bool    // the table is as it should be, as far as we know
	rows    int     // that go into a statement now
}

var _ export.Sink = (*Sink)(nil)

// New makes a sink for the items of a declaration, which is nil without one: then the table has item_id and the item as JSON, or the
// columns of the Config as text. It connects to nothing. Its errors are about names.
func New(cfg Config, schema *export.Schema) (*Sink, error) {
	if cfg.Source == nil {
		return nil, errors.New("an SQL sink needs a database: dsn is missing")
	}
	if cfg.Table == "" {
		cfg.Table = "items"
	}
	if cfg.Batch == 0 {
		cfg.Batch = defaultBatch
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if schema != nil && cfg.Items != "" && schema.Name != cfg.Items {
		return nil, fmt.Errorf("items is %.50q, and the declaration is %.50q", cfg.Items, schema.Name)
	}
	s := &Sink{cfg: cfg, schema: schema, dialect: cfg.Source.Dialect(), rows: firstRows}
	var err error
	if s.table, err = s.dialect.QuoteTable(cfg.Table); err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	if s.columns, err = columnsOf(s.dialect, cfg.Columns, schema); err != nil {
		return nil, err
	}
	return s, nil
}

// Name is the database and the table.
func (s *Sink) Name() string { return s.cfg.Source.Label() + " " + s.cfg.Table }

// Open connects, makes the table when there is none, and else checks that it has the columns that the items need.
func (s *Sink) Open(ctx context.Context) error {
	if s.db == nil {
		db, err := s.cfg.Source.Open(true)
		if err != nil {
			return err
		}
		db.SetMaxOpenConns(1)
		s.db = db
	}
	s.ready = false
	return s.prepare(ctx)
}

// Close ends the connection. Everything that was written is in the database already.
func (s *Sink) Close(context.Context) error {
	if s.db == nil {
		return nil
	}
	err := s.db.Close()
	s.db, s.ready = nil, false
	return s.cfg.Source.Scrub(err)
}

// prepare makes or checks the table, unless that was done since the last failure.
func (s *Sink) prepare(ctx context.Context) error {
	if s.ready {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if err := s.prepareTable(within); err != nil {
		return s.down(ctx, err)
	}
	s.ready = true
	return nil
}

func (s *Sink) prepareTable(ctx context.Context) error {
	shape, err := s.inspect(ctx)
	if err != nil {
		return err
	}
	if len(shape.columns) == 0 {
		_, failed := s.db.ExecContext(ctx, s.create()) // another worker may have made it just now
		if shape, err = s.inspect(ctx); err != nil {
			return errors.Join(failed, err)
		}
		if len(shape.columns) == 0 {
			return fmt.Errorf("making the table %s: %w", s.cfg.Table, failed)
		}
	}
	return s.check(shape)
}

// down is the error of a sink that cannot be written to now. Its connection may be one to a server that is no longer the one to write
// to, and the table may have changed: both are looked at anew.
func (s *Sink) down(ctx context.Context, err error) error {
	s.ready = false
	s.db.SetMaxIdleConns(0)
	s.db.SetMaxIdleConns(1)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s: %w", s.cfg.Timeout.Round(time.Second), err)
	}
	return s.cfg.Source.Scrub(err)
}

// explain makes an error about one record clearer.
func (s *Sink) explain(err error) error {
	text := err.Error()
	switch {
	case s.dialect != database.MySQL:
	case strings.Contains(text, "'"+idColumn+"' cannot be null"):
		return fmt.Errorf("another item's row has the same value in a unique column of %s", s.cfg.Table)
	case strings.Contains(text, "Incorrect string value"):
		err = fmt.Errorf("%w (the column's character set has not this character: run ALTER TABLE %s CONVERT TO CHARACTER SET utf8mb4)", err, s.table)
	}
	return s.cfg.Source.Scrub(err)
}
