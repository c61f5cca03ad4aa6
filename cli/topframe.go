package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"luacrawl/scheduler"
)

// View draws the picture.
func (m *topModel) View() tea.View {
	lines := m.lines()
	rows := make([]string, len(lines))
	for i, l := range lines {
		rows[i] = l.draw(m.width)
	}
	v := tea.NewView(strings.Join(rows, "\n"))
	v.AltScreen = true
	return v
}

// text is the picture without styles.
func (m *topModel) text() string {
	var b strings.Builder
	for _, l := range m.lines() {
		b.WriteString(l.text(m.width) + "\n")
	}
	return b.String()
}

// lines are the picture, as many as the window is high: what is under way, the spiders, the processes, the spider that is chosen.
func (m *topModel) lines() []topLine {
	all := []topLine{m.head()}
	switch {
	case !m.seen:
		all = append(all, nil, words("  looking at "+m.redis+" ..."))
	case len(m.view.Spiders) == 0:
		all = append(all, nil, words("  no spider has run here or was pushed: \"luacrawl run FILE --redis URL\" runs one"))
		all = append(all, m.processes(m.height-5)...)
	default:
		all = append(all, m.body()...)
	}
	if m.still {
		return all
	}
	for len(all) < m.height-1 {
		all = append(all, nil)
	}
	return append(all[:max(0, min(len(all), m.height-1))], m.foot())
}

// body shares the window between the spiders, the processes and the slots.
func (m *topModel) body() []topLine {
	details := m.details()
	const heads = 1 + 1 + 2 + 2 + 1 // of the picture, the tables and the foot, with blank lines
	rows := share(m.height-heads-len(details), len(m.view.Spiders), max(1, len(m.view.Workers)), len(m.view.Slots.First))
	all := append(m.spiders(rows[0]), nil)
	all = append(all, m.processes(rows[1])...)
	all = append(all, nil)
	all = append(all, details...)
	return append(all, m.slots(rows[2])...)
}

// share gives each what it wants or, where that is too much, an equal part of what there is.
func share(rows int, wants ...int) []int {
	got := make([]int, len(wants))
	for rows > 0 {
		given := false
		for i, want := range wants {
			if got[i] < want && rows > 0 {
				got[i]++
				rows--
				given = true
			}
		}
		if !given {
			break
		}
	}
	return got
}

// head says where and when, and what is wrong with looking.
func (m *topModel) head() topLine {
	l := topLine{{"luacrawl top", bold}, {"  " + m.redis, plain}}
	if m.seen {
		hosts, silent := map[string]bool{}, 0
		for _, w := range m.view.Workers {
			hosts[w.Host] = true
			if !w.Alive {
				silent++
			}
		}
		l = append(l, piece{fmt.Sprintf("  %s  %s on %s", m.view.Time.UTC().Format("15:04:05Z"), plural(len(m.view.Workers), "worker"), plural(len(hosts), "host")), dim})
		if silent > 0 {
			l = append(l, piece{fmt.Sprintf("  %d silent", silent), bad})
		}
	}
	switch waited := m.now.Sub(m.since); {
	case m.err != nil:
		l = topLine{{"luacrawl top  ", bold}, {oneLine(m.err.Error(), 300), bad}}
	case m.looking && waited >= 3*time.Second:
		l = topLine{{"luacrawl top  ", bold}, {fmt.Sprintf("no answer for %s from %s", span(waited), m.redis), bad}}
	case m.view.Damaged != nil:
		l = append(l, piece{"  " + oneLine(m.view.Damaged.Error(), 300), bad})
	}
	return l
}

func (m *topModel) foot() topLine {
	if m.ask != "" {
		_, word := m.toggled(m.ask)
		return topLine{{fmt.Sprintf("%s %s in the whole fleet? y/n ", word, m.ask), warn}}
	}
	l := topLine{{fmt.Sprintf("up/down/tab choose  p pause or resume  s sort (%s)  q quit", sortings[m.sort].name), dim}}
	if m.told != "" {
		l = topLine{{oneLine(m.told, 300), bold}}
	}
	return l
}

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

var slotColumns = []column{
	{head: "SLOT"}, {head: "QUEUED", right: true}, {head: "LEASED", right: true, drop: 1}, {head: "DELAY", right: true, drop: 2}, {head: "WAITS FOR", wide: true},
}

// slots are those of the chosen spider, the longest queues first.
func (m *topModel) slots(rows int) []topLine {
	first := slices.Clone(m.view.Slots.First)
	if len(first) == 0 || m.place() < 0 || rows == 0 || m.view.Chosen != m.chosen {
		return nil
	}
	slices.SortStableFunc(first, func(a, b scheduler.Slot) int { return cmp.Compare(b.Queued, a.Queued) })
	t, s := table{columns: slotColumns, chosen: -1}, &m.view.Spiders[m.place()]
	for _, slot := range first {
		why, look := waits(slot, m.view.Slots.Time, s.State())
		leased := thousands(int64(slot.Busy))
		if slot.Limit > 0 {
			leased = fmt.Sprintf("%d/%d", slot.Busy, slot.Limit)
		}
		t.rows = append(t.rows, []piece{
			{slotLabel(slot), plain}, {thousands(slot.Queued), plain}, {leased, plain}, {delayText(slot.Delay), plain}, {why, look},
		})
	}
	return t.lines(m.width, 0, rows)
}

func slotLabel(s scheduler.Slot) string {
	switch {
	case s.Seeds():
		return "(seeds)"
	case s.Name == "":
		return "(the whole spider)"
	}
	return oneLine(s.Name, 60)
}

// waits says what a slot waits for.
func waits(s scheduler.Slot, now time.Time, state scheduler.State) (string, style) {
	held := state == scheduler.Paused || state == scheduler.Stopped
	switch s.Wait {
	case scheduler.WaitBroken:
		return "its queue's key holds another type", bad
	case scheduler.WaitFull:
		return fmt.Sprintf("full: %d of %d in flight", s.Busy, s.Limit), warn
	case scheduler.WaitWork:
		return "empty", dim
	}
	if held {
		return "the spider is " + string(state), warn
	}
	if s.Wait == scheduler.WaitDelay {
		return fmt.Sprintf("its delay, until %s (%s)", s.Next.UTC().Format("15:04:05.0"), delayText(s.Next.Sub(now))), dim
	}
	return "a worker", plain
}

// delayText writes a short time with a tenth of a second.
func delayText(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return span(d)
}
