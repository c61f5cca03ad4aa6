package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"syscall"
)

// listing prints a list of any length while it is read: for a person, or as one JSON array.
type listing struct {
	w    *bufio.Writer
	json bool
	n    int
}

func (p *program) listing(asJSON bool) *listing {
	return &listing{w: bufio.NewWriter(p.Out), json: asJSON}
}

// add prints one entry: v as JSON, or what text writes.
func (l *listing) add(v any, text func(io.Writer)) error {
	l.n++
	if !l.json {
		text(l.w)
		return l.flushed()
	}
	if l.n == 1 {
		l.w.WriteString("[\n  ")
	} else {
		l.w.WriteString(",\n  ")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	l.w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return l.flushed()
}

// flushed reports what went wrong so far: an error of a bufio.Writer stays.
func (l *listing) flushed() error {
	_, err := l.w.Write(nil)
	return err
}

// end ends the list and returns err, or why it could not be printed. A reader that has seen enough, such as head, is no failure.
func (l *listing) end(err error) error {
	if l.json && err == nil {
		if l.n == 0 {
			l.w.WriteString("[")
		}
		l.w.WriteString("\n]\n")
	}
	return enough(firstError(err, l.w.Flush()))
}

// enough turns a reader's having closed the pipe into success.
func enough(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
