package cli

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// style is how a piece of a line looks. Without colour the words say the same.
type style int

const (
	plain style = iota
	bold
	dim
	good
	warn
	bad
	picked // the row that is chosen
)

// codes are SGR sequences; the view's program takes colours out where there are none.
var codes = map[style]string{bold: "1", dim: "2", good: "32", warn: "33", bad: "31;1", picked: "7"}

// piece is a part of a line in one style.
type piece struct {
	text  string
	style style
}

// topLine is one row of the view.
type topLine []piece

func words(text string) topLine { return topLine{{text, plain}} }

// text is the line without styles, at most so many columns wide.
func (l topLine) text(width int) string {
	var b strings.Builder
	for _, p := range l {
		b.WriteString(p.text)
	}
	return strings.TrimRight(ansi.Truncate(b.String(), width, "…"), " ")
}

// draw is the line for a terminal, cut to its width.
func (l topLine) draw(width int) string {
	var b strings.Builder
	for _, p := range l {
		if code := codes[p.style]; code != "" && p.text != "" {
			b.WriteString("\x1b[" + code + "m" + p.text + "\x1b[m")
		} else {
			b.WriteString(p.text)
		}
	}
	return ansi.Truncate(b.String(), width, "…")
}

// column is one of a table.
type column struct {
	head  string
	right bool // aligned
	drop  int  // columns with a higher number go first when the window is narrow; 0 never goes
	wide  bool // takes what is left of the line; the last one only
}

// table are rows under columns, each cell a piece. A cell is safe for a terminal: oneLine has been over it.
type table struct {
	columns []column
	rows    [][]piece
	chosen  int // row, -1 for none
}

// lines lays the table out in a width: a head, then rows from to to.
func (t *table) lines(width, from, to int) []topLine {
	widths, shown := t.widths(), t.fit(width)
	var out []topLine
	head := make([]piece, len(t.columns))
	for i, c := range t.columns {
		head[i] = piece{c.head, dim}
	}
	out = append(out, t.row(head, widths, shown, "  "))
	for i := from; i < to && i < len(t.rows); i++ {
		mark := "  "
		if i == t.chosen {
			mark = "> "
		}
		l := t.row(t.rows[i], widths, shown, mark)
		if i == t.chosen {
			l = topLine{{pad(l.text(width), width, false), picked}}
		}
		out = append(out, l)
	}
	return out
}

func (t *table) row(cells []piece, widths []int, shown []bool, mark string) topLine {
	l := words(mark)
	for i, c := range t.columns {
		if !shown[i] {
			continue
		}
		if len(l) > 1 {
			l = append(l, piece{"  ", plain})
		}
		text := cells[i].text
		if !c.wide {
			text = pad(text, widths[i], c.right)
		}
		l = append(l, piece{text, cells[i].style})
	}
	return l
}

// widths are those of the widest cells, within reason.
func (t *table) widths() []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = ansi.StringWidth(c.head)
		for _, row := range t.rows {
			widths[i] = max(widths[i], min(ansi.StringWidth(row[i].text), 40))
		}
	}
	return widths
}

// fit says which columns stay in a width.
func (t *table) fit(width int) []bool {
	widths, shown, sum := t.widths(), make([]bool, len(t.columns)), 0
	for i, c := range t.columns {
		shown[i] = true
		if c.wide {
			widths[i] = min(widths[i], 36)
		}
		sum += widths[i] + 2
	}
	for sum > width {
		last := -1
		for i, c := range t.columns {
			if shown[i] && c.drop > 0 && (last < 0 || c.drop > t.columns[last].drop) {
				last = i
			}
		}
		if last < 0 {
			break
		}
		shown[last] = false
		sum -= widths[last] + 2
	}
	return shown
}

// pad brings a text to a width, cutting it if it is longer.
func pad(text string, width int, right bool) string {
	text = ansi.Truncate(text, width, "…")
	gap := strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
	if right {
		return gap + text
	}
	return text + gap
}
