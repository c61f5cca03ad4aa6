package engine

import (
	"fmt"
	"strings"
	"unicode"
)

// ScriptError is a mistake in a spider's script, with where it is.
type ScriptError struct {
	Kind      string // "error", "timeout", "memory", "syntax"
	Message   string // without the position
	File      string
	Line      int    // 0 when not known
	Column    int    // in bytes, 1 is the first; 0 when not known
	Source    string // the line of the file, "" when not known
	Traceback string // Lua frames, innermost first, without luacrawl's own
	Revision  string // of the generation that it happened in; "" while it is loaded
}

func (e *ScriptError) Error() string {
	if place := e.Place(); place != "" {
		return place + ": " + e.Message
	}
	return e.Message
}

// Place is "file:line", as far as it is known.
func (e *ScriptError) Place() string {
	if e.File == "" || e.Line == 0 {
		return e.File
	}
	return fmt.Sprintf("%s:%d", e.File, e.Line)
}

// Excerpt is the source line and, below it, a caret: at the column if that is known, else where the line's text begins. It is "" when
// the line is not known.
func (e *ScriptError) Excerpt() string {
	at := e.Column - 1
	if at < 0 || at > len(e.Source) {
		at = strings.IndexFunc(e.Source, func(r rune) bool { return !unicode.IsSpace(r) })
	}
	if at < 0 {
		return ""
	}
	below := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, e.Source[:at])
	return strings.Map(printable, e.Source) + "\n" + below + "^"
}

// printable keeps a source line from playing with the terminal.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\t' {
		return '?'
	}
	return r
}

// Detail is the excerpt and the traceback, as far as they are known.
func (e *ScriptError) Detail() string {
	return strings.Trim(e.Excerpt()+"\n"+e.Traceback, "\n")
}
