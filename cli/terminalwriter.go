package cli

import (
	"bytes"
	"io"
	"os"
	"unicode"

	"golang.org/x/term"
)

// onTerminal is out for text that others have written: a terminal gets none of their control characters, anything else gets them all.
func onTerminal(out io.Writer) io.Writer {
	if f, isFile := out.(*os.File); isFile && term.IsTerminal(int(f.Fd())) {
		return terminalWriter{out}
	}
	return out
}

// terminalWriter makes blanks of control characters, but for tabs and the ends of lines. It is given whole characters.
type terminalWriter struct{ io.Writer }

func (w terminalWriter) Write(b []byte) (int, error) {
	text := bytes.ReplaceAll(bytes.ToValidUTF8(b, []byte("?")), []byte("\r\n"), []byte("\n"))
	text = bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return ' '
		}
		return r
	}, text)
	if _, err := w.Writer.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}
