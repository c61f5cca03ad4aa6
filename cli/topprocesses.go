package cli

import (
	"fmt"
	"strings"
	"time"

	"luacrawl/scheduler"
)

var processColumns = []column{
	{head: "HOST:PID"}, {head: "KIND", drop: 5}, {head: "VERSION", drop: 4}, {head: "UP", right: true, drop: 2}, {head: "PAGES/S", right: true},
	{head: "LEASED", right: true, drop: 1}, {head: "ERRORS", right: true, drop: 3}, {head: "HEAP", right: true, drop: 1}, {head: "RUNS", wide: true},
}

func (m *topModel) processes(rows int) []topLine {
	t := table{columns: processColumns, chosen: -1}
	for _, r := range m.view.Workers {
		w := shownWorker(r, m.entries(), m.version, m.view.Time)
		t.rows = append(t.rows, process(&w))
	}
	if len(t.rows) == 0 {
		return []topLine{{{"  no process of a fleet has given a sign of life within the last hour", dim}}}
	}
	if rows >= len(t.rows) {
		return t.lines(m.width, 0, rows)
	}
	more := fmt.Sprintf("  and %d more: \"luacrawl workers\" lists them", len(t.rows)-max(0, rows-1))
	return append(t.lines(m.width, 0, rows-1), topLine{{more, dim}})
}

func process(w *fleetWorker) []piece {
	version := piece{oneLine(w.Version, 20), plain}
	if w.Other != "" {
		version.style = warn
	}
	runs := piece{strings.Join(runsOf(w), " "), plain}
	for _, s := range w.Spiders {
		if s.Why != "" {
			runs.style = warn
		}
	}
	if !w.Alive { // what it said of itself no longer holds
		silent := piece{"silent for " + span(time.Duration(w.Silent*float64(time.Second))), bad}
		return []piece{{fmt.Sprintf("%s:%d", oneLine(w.Host, 30), w.PID), bad}, {oneLine(w.Kind, 10), plain}, version, {}, {}, {}, {}, {}, silent}
	}
	return []piece{
		{fmt.Sprintf("%s:%d", oneLine(w.Host, 30), w.PID), plain}, {oneLine(w.Kind, 10), plain}, version, {span(w.up()), plain}, {rateText(w.Rate), plain},
		{thousands(int64(w.InFlight)), plain}, {thousands(w.Errors), plain}, {bytesText(w.Heap), plain}, runs,
	}
}

// runsOf names the spiders of a process; what a person should look at comes first.
func runsOf(w *fleetWorker) []string {
	var behind, fine []string
	if w.Other != "" {
		fine = append(fine, w.Other+" luacrawl!")
	}
	for _, s := range w.Spiders {
		name := oneLine(s.Spider, 30)
		if s.Why != "" {
			behind = append(behind, fmt.Sprintf("%s! (%s)", name, oneLine(s.Why, 120)))
		} else {
			fine = append(fine, name)
		}
	}
	return append(behind, fine...)
}

// entries are what the fleet is to run, of the spiders in the view.
func (m *topModel) entries() map[string]*scheduler.Entry {
	entries := map[string]*scheduler.Entry{}
	for _, s := range m.view.Spiders {
		if s.Entry != nil {
			entries[s.Spider] = s.Entry
		}
	}
	return entries
}
