package export

import (
	"context"
	"fmt"
	"io"
)

// streamFeed writes to standard output. There is nothing to mend there: after a crash the last items may come twice.
type streamFeed struct {
	name   string
	format string
	out    io.Writer
	pack   *packer
	count  int
	rest   []byte // what a write that failed has left over; it goes first
	picker
}

// Name is the feed's name.
func (f *streamFeed) Name() string { return f.name }

// Open has nothing to do.
func (f *streamFeed) Open(context.Context) error { return nil }

// Write writes records at once.
func (f *streamFeed) Write(_ context.Context, records []Record) ([]Refusal, error) {
	if err := f.push(nil); err != nil {
		return nil, err
	}
	f.layout.prepare(records)
	var b batch
	var refused []Refusal
	for i, record := range records {
		row, key, err := f.pick(&b, record)
		if err != nil {
			refused = append(refused, Refusal{Index: i, Err: err})
		}
		if row != nil {
			b.add(f.layout, row, key, f.count == 0)
			f.count++
		}
	}
	if len(b.ids) == 0 {
		return refused, nil
	}
	chunk, open, err := f.pack.pack(b.plain)
	if err != nil {
		return nil, fmt.Errorf("feed %s: %w", f.name, err)
	}
	f.pack.keep(open)
	f.seen.add(b.ids...) // what does not get through now is kept in rest
	return refused, f.push(chunk)
}

// Close ends the array or the compressed stream.
func (f *streamFeed) Close(context.Context) error {
	if f.count == 0 {
		return f.push(nil)
	}
	var tail []byte
	if foot := footOf(f.format); foot != "" {
		chunk, open, err := f.pack.pack([]byte(foot))
		if err != nil {
			return fmt.Errorf("feed %s: %w", f.name, err)
		}
		f.pack.keep(open)
		tail = append(tail, chunk...)
	}
	tail = append(tail, f.pack.live.end(f.pack.kind)...)
	f.pack.begin(member{})
	f.count = 0
	return f.push(tail)
}

func (f *streamFeed) push(b []byte) error {
	f.rest = append(f.rest, b...)
	for len(f.rest) > 0 {
		n, err := f.out.Write(f.rest)
		f.rest = f.rest[n:]
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return fmt.Errorf("feed %s: %w", f.name, err)
		}
	}
	f.rest = nil
	return nil
}
