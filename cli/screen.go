package cli

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"
)

// screen writes to the terminal, or to whatever Err is. On a terminal it keeps one live line at the bottom: everything
// else that is written goes above it, whole. It is safe for concurrent use.
//
// One line needs no library: mpb and its like redraw on their own clock and own the terminal, while here log lines, items and
// the live line share it.
type screen struct {
	out     io.Writer
	columns func() int

	mu    sync.Mutex
	live  string // guarded by mu; what the live line says, "" for none
	drawn bool   // guarded by mu; the live line is on the terminal
}

func newScreen(out io.Writer, columns func() int) *screen {
	if columns == nil {
		columns = func() int { return 0 }
	}
	return &screen{out: out, columns: columns}
}

// terminal reports whether there is a live line at all.
func (s *screen) terminal() bool { return s.columns() > 0 }

// Write puts b above the live line.
func (s *screen) Write(b []byte) (int, error) { return s.writeTo(s.out, b) }

// above returns a writer to another stream that may be the same terminal, such as Out.
func (s *screen) above(out io.Writer) io.Writer { return above{s, out} }

type above struct {
	screen *screen
	out    io.Writer
}

func (a above) Write(b []byte) (int, error) { return a.screen.writeTo(a.out, b) }

func (s *screen) writeTo(out io.Writer, b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	n, err := out.Write(b)
	if bytes.HasSuffix(b, []byte("\n")) {
		s.draw()
	}
	return n, err
}

// show replaces the live line; "" takes it away.
func (s *screen) show(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.live = line
	s.draw()
}

// erase is called with mu held.
func (s *screen) erase() {
	if s.drawn {
		io.WriteString(s.out, "\r\x1b[K")
		s.drawn = false
	}
}

// draw is called with mu held. A line as wide as the window would wrap and could not be erased.
func (s *screen) draw() {
	width := s.columns()
	if s.live == "" || width <= 1 {
		return
	}
	fmt.Fprint(s.out, cut(s.live, width-1))
	s.drawn = true
}

// cut shortens a line to a number of characters.
func cut(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width])
}
