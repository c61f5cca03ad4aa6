package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"luacrawl/scheduler"
)

// shownLetter is a letter as --json prints it.
type shownLetter struct {
	Index int64  `json:"index"`
	ID    string `json:"id"`
	scheduler.DeadLetter
	Raw string `json:"raw,omitempty"` // of one that cannot be read
}

func shown(l *scheduler.Letter) shownLetter {
	s := shownLetter{Index: l.Index, ID: l.ID, DeadLetter: l.DeadLetter}
	if l.Err != nil {
		s.Raw = l.Raw
	}
	return s
}

// writeLetter is two lines for a person.
func writeLetter(w io.Writer, l *scheduler.Letter) {
	if l.Err != nil {
		fmt.Fprintf(w, "%5d  %s  unreadable\n       %s\n", l.Index, l.ID, oneLine(l.Raw, 200))
		return
	}
	about := subject(l)
	if l.Kind != scheduler.DeadRequest {
		about = l.Kind + " " + about
	}
	fmt.Fprintf(w, "%5d  %s  %s  %s  %s\n       %s\n", l.Index, l.ID, l.Reason, when(l.Time), oneLine(about, 500), oneLine(l.Error, 500))
}

func when(unix int64) string {
	if unix == 0 {
		return "-"
	}
	return time.Unix(unix, 0).UTC().Format(time.RFC3339)
}

// oneLine makes a text of anybody's fit for a line of a terminal.
func oneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return s
}

// writeFullLetter is all of it.
func writeFullLetter(w io.Writer, l *scheduler.Letter) {
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-9s %s\n", name, value)
		}
	}
	row("letter", fmt.Sprintf("%d, id %s", l.Index, l.ID))
	if l.Err != nil {
		row("error", l.Err.Error())
		row("raw", oneLine(l.Raw, len(l.Raw)))
		return
	}
	row("kind", l.Kind)
	row("reason", l.Reason)
	row("time", when(l.Time))
	row("url", oneLine(l.URL, len(l.URL)))
	if l.Kind == scheduler.DeadSeed {
		row("seed", oneLine(subject(l), len(subject(l))))
	}
	row("callback", oneLine(callbackOf(l), 200))
	row("error", oneLine(l.Error, len(l.Error)))
	for line := range strings.Lines(l.Detail) {
		fmt.Fprintf(w, "%-9s %s\n", "", strings.TrimRight(line, "\n"))
	}
	if l.Attempts > 0 {
		row("attempts", fmt.Sprint(l.Attempts))
	}
	row("worker", l.Worker)
	row("revision", l.Revision)
	row("request", string(l.Request))
	row("item", string(l.Item))
}
