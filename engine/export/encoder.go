package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// encoderBytes is how much an Encoder keeps before it writes.
const encoderBytes = 64 << 10

// Encoder writes items in a format of the feeds to a writer that somebody else has opened, for exports by hand: without a journal, and
// without looking for items that come twice.
type Encoder struct {
	out    io.Writer
	config FeedConfig
	layout layout
	pack   *packer
	fields []string // learned
	rows   []byte
	count  int
}

// NewEncoder takes of a FeedConfig what concerns the look of a file: Format and Compress, or the endings of URI, Fields, Kinds, Schemas, GuardFormulas
// and Log.
func NewEncoder(out io.Writer, c FeedConfig) (*Encoder, error) {
	c = c.withDefaults()
	c.URI = "-"
	if err := c.Validate(); err != nil {
		return nil, err
	}
	pack, err := newPacker(c.Compress)
	if err != nil {
		return nil, err
	}
	return &Encoder{out: out, config: c, layout: newLayout(c, c.Log), pack: pack}, nil
}

// Format is jsonl, json or csv.
func (e *Encoder) Format() string { return e.config.Format }

// NeedsFields reports that the columns are not known: neither fields nor a declaration names them.
func (e *Encoder) NeedsFields() bool {
	return e.config.Format == "csv" && e.count == 0 && len(e.layout.columns()) == 0
}

// Learn makes columns of the fields of an item that will come. Without any the first item to come has all.
func (e *Encoder) Learn(item []byte) {
	members, err := split(item)
	if err != nil {
		return // Encode refuses it
	}
	for _, m := range members {
		if !slices.Contains(e.fields, m.name) {
			e.fields = append(e.fields, m.name)
		}
	}
}

// Encode writes an item, a JSON object. refused says that this one cannot be written; err, that nothing can.
func (e *Encoder) Encode(item []byte) (refused, err error) {
	if !bytes.HasPrefix(bytes.TrimLeft(item, " \t\r\n"), []byte("{")) {
		return errors.New("item is not a JSON object"), nil
	}
	record := Record{JSON: item}
	if e.NeedsFields() {
		e.layout.adopt(e.fields)
		e.layout.prepare([]Record{record})
	}
	row, err := e.layout.row(nil, record)
	if err != nil {
		return err, nil
	}
	e.add(row)
	return nil, e.full()
}

// Line writes an item as a line of its own, whatever it is. It is for jsonl.
func (e *Encoder) Line(item string) error {
	e.add(append([]byte(item), '\n'))
	return e.full()
}

func (e *Encoder) add(row []byte) {
	if e.count == 0 {
		e.rows = append(e.rows, e.layout.head()...)
	} else {
		e.rows = append(e.rows, e.layout.gap()...)
	}
	e.rows = append(e.rows, row...)
	e.count++
}

func (e *Encoder) full() error {
	if len(e.rows) < encoderBytes {
		return nil
	}
	return e.Flush()
}

// Flush writes what is kept.
func (e *Encoder) Flush() error {
	chunk, open, err := e.pack.pack(e.rows)
	if err != nil {
		return fmt.Errorf("%s: %w", e.config.Compress, err)
	}
	e.pack.keep(open)
	e.rows = e.rows[:0]
	return e.write(chunk)
}

func (e *Encoder) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := e.out.Write(b)
	return err
}

// Close writes what is kept and the end of the format. The writer stays open.
func (e *Encoder) Close() error {
	if e.count == 0 && !e.NeedsFields() {
		e.rows = append(e.rows, e.layout.head()...)
	}
	e.rows = append(e.rows, footOf(e.config.Format)...)
	if err := e.Flush(); err != nil {
		return err
	}
	return e.write(e.pack.live.end(e.pack.kind))
}
