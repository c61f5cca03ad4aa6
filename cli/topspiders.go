package cli

import (
	"fmt"
	"maps"
	"slices"

	"luacrawl/scheduler"
)

var spiderColumns = []column{
	{head: "SPIDER"}, {head: "STATE"}, {head: "REVISION", drop: 2}, {head: "PAGES/S", right: true}, {head: "PENDING", right: true},
	{head: "DELAYED", right: true, drop: 5}, {head: "LEASED", right: true, drop: 1}, {head: "SEEDS", right: true, drop: 6},
	{head: "ITEMS", right: true, drop: 4}, {head: "DEAD", right: true, drop: 3}, {head: "ERRORS", right: true, drop: 1},
}

func (m *topModel) spiders(rows int) []topLine {
	t := table{columns: slices.Clone(spiderColumns), chosen: m.place()}
	for i := range m.view.Spiders {
		t.rows = append(t.rows, m.spider(&m.view.Spiders[i]))
	}
	if m.still {
		t.chosen = -1
	}
	from := max(0, min(t.chosen-rows/2, len(t.rows)-rows))
	if rows < len(t.rows) {
		t.columns[0].head = fmt.Sprintf("SPIDER %d-%d/%d", from+1, from+rows, len(t.rows))
	}
	return t.lines(m.width, from, from+rows)
}

func (m *topModel) spider(s *scheduler.SpiderSummary) []piece {
	if s.Err != nil {
		cells := make([]piece, len(spiderColumns))
		cells[0], cells[1] = piece{oneLine(s.Spider, 40), bad}, piece{"unreadable", bad}
		return cells
	}
	number := func(n int64) piece { return piece{thousands(n), plain} }
	alarm := func(n int64, as style) piece {
		if n == 0 {
			as = plain
		}
		return piece{thousands(n), as}
	}
	word, look := topState(s)
	return []piece{
		{oneLine(s.Spider, 40), bold}, {word, look}, m.revision(s), {rateText(m.view.Rates[s.Spider]), plain}, number(s.Pending), number(s.Delayed),
		number(s.InFlight), number(s.Seeds), number(s.Items), alarm(s.Dead, warn), alarm(errorCount(s.Stats), warn),
	}
}

// topState is one word for how a spider is, and how it looks.
func topState(s *scheduler.SpiderSummary) (string, style) {
	switch to := s.State(); to {
	case scheduler.Running:
	case scheduler.Stopped:
		return string(to), dim
	default:
		return string(to), warn
	}
	switch word := state(s.Status); word {
	case "running":
		return word, good
	case "stopped": // there is work and nobody on it
		return "no worker", bad
	default:
		return word, dim
	}
}

// revision is the fleet's, as short as git's and marked when a process does not run it.
func (m *topModel) revision(s *scheduler.SpiderSummary) piece {
	if s.Entry == nil {
		return piece{"not pushed", dim}
	}
	short := s.Entry.Revision[:min(8, len(s.Entry.Revision))]
	for _, w := range m.view.Workers {
		for _, r := range w.Spiders {
			if r.Spider == s.Spider && w.Alive && lags(r, w.Kind, s.Entry) != "" {
				return piece{short + "!", warn}
			}
		}
	}
	return piece{short, plain}
}

// details are what there is to say of the chosen spider.
func (m *topModel) details() []topLine {
	i := m.place()
	if i < 0 {
		return nil
	}
	s := &m.view.Spiders[i]
	if s.Err != nil {
		return []topLine{{{"  " + oneLine(s.Spider, 40) + "  ", bold}, {oneLine(s.Err.Error(), 300), bad}}}
	}
	about := topLine{{"  " + oneLine(s.Spider, 40), bold}}
	if e := s.Entry; e != nil {
		about = append(about, piece{fmt.Sprintf("  %s pushed %s ago", scheduler.ShortRevision(e.Revision), span(max(0, m.view.Time.Sub(e.Time)))), plain})
		if e.Author != "" {
			about = append(about, piece{" by " + oneLine(e.Author, 30), plain})
		}
		if e.Message != "" {
			about = append(about, piece{": " + oneLine(e.Message, 100), dim})
		}
	}
	all := []topLine{about}
	if len(s.Control.Live) > 0 {
		live := topLine{{"  live    ", plain}}
		for _, name := range slices.Sorted(maps.Keys(s.Control.Live)) {
			live = append(live, piece{name + "=" + oneLine(s.Control.Live[name], 40) + "  ", warn})
		}
		all = append(all, live)
	}
	failures := topLine{{"  errors  ", plain}}
	for _, k := range errorKinds(s.Stats) {
		failures = append(failures, piece{fmt.Sprintf("%s %s  ", thousands(k.count), k.kind), warn})
	}
	if len(failures) == 1 {
		failures = append(failures, piece{"none", dim})
	}
	if m.view.Chosen != m.chosen { // its slots are being asked for
		return append(all, failures, words("  slots   ..."))
	}
	n := m.view.Slots
	counts := fmt.Sprintf("  slots   %s due, %s wait for their delay, %s at their concurrency", thousands(n.Due), thousands(n.Delayed), thousands(n.Full))
	return append(all, failures, words(counts))
}
