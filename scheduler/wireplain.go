package scheduler

import (
	"net/http"
	"strconv"
	"strings"
)

// Most requests are a URL with a Referer, a callback and the engine's state, all of plain characters. Their wire form is written and read here
// without reflection, which would be 4 % of the CPU of a small page; anything else is left to encoding/json, which gives and takes the same.

// appendPlain appends the wire form of w; false when w has more, or characters that JSON may escape.
func (w *wire) appendPlain(b []byte) ([]byte, bool) {
	if w.Method != "" || len(w.Headers) > 0 || len(w.Cookies) > 0 || w.Body != "" || w.BodyBase64 != nil || w.Meta != nil || w.CbKwargs != nil ||
		w.Priority != 0 || w.DontFilter || w.NotBefore != 0 || w.Slot != "" || w.State != nil && *w.State != (wireState{Depth: w.State.Depth, Revision: w.State.Revision}) {
		return nil, false
	}
	b = append(b, plainStart...)
	ok := true
	text := func(before, s string) {
		if s == "" {
			return
		}
		ok = ok && isPlain(s)
		b = append(append(append(b, before...), s...), '"')
	}
	text("", w.URL)
	text(`,"referer":"`, w.Referer)
	text(`,"callback":"`, w.Callback)
	text(`,"errback":"`, w.Errback)
	if s := w.State; s != nil {
		before := `,"state":{"revision":"`
		if s.Depth != 0 {
			b = strconv.AppendInt(append(b, `,"state":{"depth":`...), int64(s.Depth), 10)
			before = `,"revision":"`
		}
		text(before, s.Revision)
		b = append(b, '}')
	}
	return append(b, '}'), ok
}

const plainStart = `{"v":1,"url":"`

// readPlain reads what appendPlain writes; false for anything else.
func readPlain(text string) (*Request, bool) {
	p := plainReader{text, true}
	p.require(plainStart)
	r := &Request{URL: p.value()}
	if p.next(`,"referer":"`) {
		r.Headers = http.Header{"Referer": {p.value()}}
	}
	if p.next(`,"callback":"`) {
		r.Callback = p.value()
	}
	if p.next(`,"errback":"`) {
		r.Errback = p.value()
	}
	switch {
	case p.next(`,"state":{"revision":"`):
		r.Revision = p.value()
		p.require("}")
	case p.next(`,"state":{"depth":`):
		r.Depth = p.number()
		if p.next(`,"revision":"`) {
			r.Revision = p.value()
		}
		p.require("}")
	}
	p.require("}")
	return r, p.ok && p.rest == ""
}

// plainReader goes through a text; ok turns false at the first thing that is not there.
type plainReader struct {
	rest string
	ok   bool
}

func (p *plainReader) next(s string) bool {
	rest, found := strings.CutPrefix(p.rest, s)
	p.rest = rest
	return found
}

func (p *plainReader) require(s string) { p.ok = p.next(s) && p.ok }

// value reads plain characters, one at least, and the quote behind them.
func (p *plainReader) value() string {
	value, rest, found := strings.Cut(p.rest, `"`)
	p.rest = rest
	p.ok = p.ok && found && value != "" && isPlain(value)
	return value
}

// number reads one of 1 to 9 digits that does not begin with 0.
func (p *plainReader) number() int {
	end := strings.IndexAny(p.rest, ",}")
	if end < 1 || end > 9 || p.rest[0] < '1' || p.rest[0] > '9' {
		p.ok = false
		return 0
	}
	n, err := strconv.Atoi(p.rest[:end])
	p.ok = p.ok && err == nil
	p.rest = p.rest[end:]
	return n
}

// isPlain reports that JSON writes s as it is.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
