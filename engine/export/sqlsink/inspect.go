package sqlsink

import (
	"context"
	"strings"

	"luacrawl/engine/database"
)

// inspect asks the database how the table looks.
func (s *Sink) inspect(ctx context.Context) (tableShape, error) {
	switch s.dialect {
	case database.MySQL:
		return s.inspectMySQL(ctx)
	case database.Postgres:
		return s.inspectPostgres(ctx)
	}
	return s.inspectSQLite(ctx)
}

func (s *Sink) inspectMySQL(ctx context.Context) (tableShape, error) {
	schema, table := database.SplitTable(s.cfg.Table)
	shape, err := s.readShape(ctx, `
		SELECT column_name, column_type,
			is_nullable = 'NO' AND column_default IS NULL AND extra NOT LIKE '%auto_increment%' AND extra NOT LIKE '%GENERATED%',
			extra LIKE '%GENERATED%' AND extra NOT LIKE '%DEFAULT_GENERATED%', is_nullable = 'YES'
		FROM information_schema.columns WHERE table_schema = COALESCE(NULLIF(?, ''), DATABASE()) AND table_name = ? ORDER BY ordinal_position`, schema, table)
	if err != nil || len(shape.columns) == 0 {
		return shape, err
	}
	err = s.db.QueryRowContext(ctx, `
		SELECT COUNT(*) > 0 FROM (SELECT index_name FROM information_schema.statistics
			WHERE table_schema = COALESCE(NULLIF(?, ''), DATABASE()) AND table_name = ? AND non_unique = 0
			GROUP BY index_name HAVING COUNT(*) = 1 AND MAX(column_name) = ? AND MAX(sub_part) IS NULL) k`, schema, table, idColumn).Scan(&shape.keyed)
	return shape, err
}

func (s *Sink) inspectPostgres(ctx context.Context) (tableShape, error) {
	shape, err := s.readShape(ctx, `
		SELECT attname, format_type(atttypid, atttypmod), attnotnull AND NOT atthasdef AND attidentity = '', attgenerated <> '' OR attidentity = 'a', NOT attnotnull
		FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`, s.table)
	if err != nil || len(shape.columns) == 0 {
		return shape, err
	}
	err = s.db.QueryRowContext(ctx, `
		SELECT EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
			WHERE i.indrelid = to_regclass($1) AND i.indisunique AND i.indimmediate AND i.indnkeyatts = 1 AND i.indpred IS NULL AND a.attname = $2)`,
		s.table, idColumn).Scan(&shape.keyed)
	return shape, err
}

func (s *Sink) inspectSQLite(ctx context.Context) (tableShape, error) {
	schema, table := database.SplitTable(s.cfg.Table)
	if schema == "" {
		schema = "main"
	}
	shape, err := s.readShape(ctx, `
		SELECT name, type, "notnull" AND dflt_value IS NULL AND NOT (pk = 1 AND upper(type) = 'INTEGER') AND hidden = 0, hidden > 1, NOT "notnull"
		FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1 ORDER BY cid`, table, schema)
	if err != nil || len(shape.columns) == 0 {
		return shape, err
	}
	err = s.db.QueryRowContext(ctx, `
		SELECT (SELECT COUNT(*) = 1 AND MAX(lower(name)) = ?3 FROM pragma_table_xinfo(?1, ?2) WHERE pk > 0) OR EXISTS (
			SELECT 1 FROM pragma_index_list(?1, ?2) l WHERE l."unique" AND NOT l.partial
				AND (SELECT COUNT(*) = 1 AND MAX(lower(i.name)) = ?3 FROM pragma_index_info(l.name, ?2) i))`, table, schema, idColumn).Scan(&shape.keyed)
	return shape, err
}

// readShape reads rows of name, type, needed, generated and nullable.
func (s *Sink) readShape(ctx context.Context, query string, args ...any) (tableShape, error) {
	var shape tableShape
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return shape, err
	}
	defer rows.Close()
	for rows.Next() {
		var c tableColumn
		if err := rows.Scan(&c.name, &c.sqlType, &c.needed, &c.generated, &c.nullable); err != nil {
			return shape, err
		}
		c.sqlType = strings.ToLower(c.sqlType)
		shape.columns = append(shape.columns, c)
	}
	return shape, rows.Err()
}
