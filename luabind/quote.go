package luabind

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"luacrawl/engine"
)

// mostQuoted is how much of a source line an error shows, in bytes.
const mostQuoted = 200

// quote adds to an error what this generation knows of it: the source line and the revision.
func (g *generation) quote(err error) error {
	var e *engine.ScriptError
	if !errors.As(err, &e) {
		return err
	}
	e.Revision = g.revision
	if s := g.source(e.File); s != nil {
		return quote(err, s.text)
	}
	return err
}

// source is the file that errors call by that name, or nil.
func (g *generation) source(name string) *source {
	if g.main != nil && name == g.display+g.main.path {
		return g.main
	}
	for _, s := range g.files {
		if name == g.display+s.path {
			return s
		}
	}
	return nil
}

// quote adds the line of a text that an error is about.
func quote(err error, text []byte) error {
	var e *engine.ScriptError
	if errors.As(err, &e) && e.Source == "" {
		e.Source = lineOf(text, e.Line)
	}
	return err
}

// lineOf is a line of a text, 1 being the first, or "" when it has none of that number. A long one is cut.
func lineOf(text []byte, number int) string {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for range number - 1 {
		_, rest, ok := bytes.Cut(text, []byte("\n"))
		if !ok {
			return ""
		}
		text = rest
	}
	if number < 1 {
		return ""
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	end := min(len(line), mostQuoted)
	for end > 0 && end < len(line) && !utf8.RuneStart(line[end]) {
		end--
	}
	return strings.TrimRight(strings.ToValidUTF8(string(line[:end]), "?"), " \t\r")
}
