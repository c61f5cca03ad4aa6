package cli

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

func fixed(width int) func() int { return func() int { return width } }

// render is what a terminal shows after b: it knows carriage return and "erase to the end of the line".
func render(b string) string {
	var lines []string
	line := ""
	for b != "" {
		switch {
		case strings.HasPrefix(b, "\r\x1b[K"):
			line, b = "", b[4:]
		case b[0] == '\n':
			lines, line, b = append(lines, line), "", b[1:]
		default:
			line, b = line+b[:1], b[1:]
		}
	}
	return strings.Join(append(lines, line), "\n")
}

func TestLiveLineStaysBelow(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newScreen(&out, fixed(20))
	s.show("1 page")
	fmt.Fprint(s, "a log line\n")
	s.show("2 pages")
	fmt.Fprint(s.above(&out), "an item\nand another\n")
	if got, want := render(out.String()), "a log line\nan item\nand another\n2 pages"; got != want {
		t.Errorf("the terminal shows %q, want %q", got, want)
	}
	s.show("")
	if got, want := render(out.String()), "a log line\nan item\nand another\n"; got != want {
		t.Errorf("the terminal shows %q, want %q", got, want)
	}
}

func TestLiveLineFitsTheWindow(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newScreen(&out, fixed(6))
	s.show("éèêëàâ")
	if got := out.String(); got != "éèêëà" {
		t.Errorf("got %q", got)
	}
}

func TestNoLiveLineOffTheTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newScreen(&out, nil)
	s.show("1 page")
	fmt.Fprint(s, "a log line\n")
	if got := out.String(); got != "a log line\n" {
		t.Errorf("got %q", got)
	}
}

func TestScreenKeepsLinesWhole(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newScreen(&out, fixed(80))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				s.show(fmt.Sprintf("live %d", i))
				fmt.Fprintf(s, "line %d\n", i)
			}
		})
	}
	wg.Wait()
	s.show("")
	shown := strings.Split(strings.TrimSuffix(render(out.String()), "\n"), "\n")
	if len(shown) != 400 {
		t.Errorf("%d lines", len(shown))
	}
	for _, line := range shown {
		if !strings.HasPrefix(line, "line ") || len(line) != len("line 0") {
			t.Fatalf("a line was mangled: %q", line)
		}
	}
}
