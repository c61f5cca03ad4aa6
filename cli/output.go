package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"luacrawl/engine"
)

// output is where items go beside Redis: one JSON object a line, written after Redis has taken them. Its methods are
// called by one goroutine.
type output struct {
	name   string
	w      io.Writer
	file   *os.File  // nil unless it is a regular file
	closer io.Closer // nil for standard output
	err    error     // the first failure: nothing is written after it
}

// openOutput opens a file for appending, so that a resumed crawl keeps what it had; "-" is stdout. With "" there is none.
func openOutput(name string, stdout io.Writer) (*output, error) {
	switch name {
	case "":
		return nil, nil
	case "-":
		return &output{name: "standard output", w: stdout}, nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("--output: %w", err)
	}
	o := &output{name: name, w: f, closer: f}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		o.file = f
	}
	if err := o.endLine(); err != nil {
		return nil, errors.Join(fmt.Errorf("--output %s: %w", name, err), f.Close())
	}
	return o, nil
}

// endLine ends a last line that a killed process left open, so that the next item gets its own.
func (o *output) endLine() error {
	if o.file == nil {
		return nil
	}
	end, err := o.file.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := o.file.ReadAt(last, end-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = io.WriteString(o.w, "\n")
	return err
}

// empty drops what the file holds from earlier crawls.
func (o *output) empty() error {
	if o == nil || o.file == nil {
		return nil
	}
	if err := o.file.Truncate(0); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	return nil
}

// write appends items in one write.
func (o *output) write(items []engine.Item) error {
	if o.err != nil {
		return o.err
	}
	var b bytes.Buffer
	for _, item := range items {
		b.Write(item)
		b.WriteByte('\n')
	}
	n, err := o.w.Write(b.Bytes())
	if err != nil {
		o.cutTail(n)
		o.err = fmt.Errorf("output %s: %w", o.name, err)
	}
	return o.err
}

// cutTail takes back the n bytes that a failed write left, so that no half line stays behind; unless another process
// has appended since.
func (o *output) cutTail(n int) {
	if o.file == nil || n == 0 {
		return
	}
	end, err := o.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return
	}
	if info, err := o.file.Stat(); err == nil && info.Size() == end {
		o.file.Truncate(end - int64(n)) // if it fails, the next run ends the line
	}
}

// close reports a failure that only shows when the file is closed.
func (o *output) close() error {
	if o == nil || o.closer == nil {
		return nil
	}
	if err := o.closer.Close(); err != nil && o.err == nil {
		return fmt.Errorf("output %s: %w", o.name, err)
	}
	return nil
}
