package cli

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
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
