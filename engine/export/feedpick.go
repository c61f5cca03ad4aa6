package export

import "slices"

// picker decides which records a feed writes, and makes rows of them.
type picker struct {
	kinds   []string
	layout  layout
	seen    *seen
	repeats int
	row     []byte
}

// batch is the rows that become one chunk.
type batch struct {
	plain []byte
	ids   []idKey
	own   map[idKey]bool
}

// pick returns a record's row, which is good until the next call, or nil if the feed leaves it out: another kind, or written already.
func (p *picker) pick(b *batch, record Record) ([]byte, idKey, error) {
	if len(p.kinds) > 0 && !slices.Contains(p.kinds, record.Kind) {
		return nil, idKey{}, nil
	}
	key := keyOf(record.ID)
	if p.seen.has(key) || b.own[key] {
		p.repeats++
		return nil, idKey{}, nil
	}
	row, err := p.layout.row(p.row[:0], record)
	if err != nil {
		return nil, idKey{}, err
	}
	p.row = row
	return row, key, nil
}

// add puts a row into the batch; first is whether it is the first one of its file.
func (b *batch) add(l layout, row []byte, key idKey, first bool) {
	if first {
		b.plain = append(b.plain, l.head()...)
	} else {
		b.plain = append(b.plain, l.gap()...)
	}
	b.plain = append(b.plain, row...)
	b.ids = append(b.ids, key)
	if b.own == nil {
		b.own = map[idKey]bool{}
	}
	b.own[key] = true
}

func (b *batch) reset() {
	b.plain, b.ids = b.plain[:0], b.ids[:0]
	clear(b.own)
}
