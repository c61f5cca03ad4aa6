package sqlsink

import (
	"strings"

	"luacrawl/engine/database"
)

// upsert is the statement that writes rows, over those of the same item_id.
func (s *Sink) upsert(rows int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + s.table + " (")
	for i := range s.columns {
		comma(&b, i)
		b.WriteString(s.columns[i].quoted)
	}
	b.WriteString(") VALUES ")
	n := 0
	for row := range rows {
		comma(&b, row)
		b.WriteByte('(')
		for i := range s.columns {
			comma(&b, i)
			n++
			b.WriteString(s.dialect.Placeholder(n))
		}
		b.WriteByte(')')
	}
	if s.dialect == database.MySQL {
		s.onDuplicate(&b)
	} else {
		s.onConflict(&b)
	}
	return b.String()
}

// onDuplicate is MySQL's, which would also write over a row that has another item_id and the same value of another unique key. That row
// belongs to another item: its key is set to NULL, which the server refuses.
func (s *Sink) onDuplicate(b *strings.Builder) {
	id := s.columns[0].quoted
	b.WriteString(" ON DUPLICATE KEY UPDATE " + id + " = IF(" + id + " = VALUES(" + id + "), " + id + ", NULL)")
	for _, c := range s.columns[1:] {
		b.WriteString(", " + c.quoted + " = VALUES(" + c.quoted + ")")
	}
}

func (s *Sink) onConflict(b *strings.Builder) {
	b.WriteString(" ON CONFLICT (" + s.columns[0].quoted + ") DO UPDATE SET ")
	for i, c := range s.columns[1:] {
		comma(b, i)
		b.WriteString(c.quoted + " = excluded." + c.quoted)
	}
}

// create is the statement that makes the table.
func (s *Sink) create() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE IF NOT EXISTS " + s.table + " (")
	for i := range s.columns {
		comma(&b, i)
		b.WriteString(s.columns[i].definition(s.dialect))
	}
	b.WriteByte(')')
	if s.dialect == database.MySQL {
		b.WriteString(" DEFAULT CHARACTER SET utf8mb4")
	}
	return b.String()
}

func comma(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteString(", ")
	}
}
