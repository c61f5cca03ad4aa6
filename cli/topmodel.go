package cli

import (
	"cmp"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"luacrawl/scheduler"
)

// topModel is the state of the view. It knows no terminal: it takes messages and gives lines. One look is under way at a time, and the next
// begins an interval after it has ended.
type topModel struct {
	redis   string
	version string // of this luacrawl
	every   time.Duration
	look    func(chosen string) tea.Cmd
	put     func(spider string, to scheduler.State) tea.Cmd

	view    fleetView
	err     error     // of the last look
	seen    bool      // there is a view
	looking bool      // a look is under way
	since   time.Time // when it began
	now     time.Time

	chosen string // spider
	sort   int    // of sortings
	ask    string // the spider that p has been pressed on, "" for none
	told   string // what came of the last key
	still  bool   // for paper: nothing is chosen, no keys

	width, height int
}

type (
	lookedMsg struct {
		view fleetView
		err  error
	}
	lookMsg  struct{}  // it is time to look
	clockMsg time.Time // a second has passed
	doneMsg  string    // what came of a change
)

func newTopModel(redis string, every time.Duration, look func(string) tea.Cmd, put func(string, scheduler.State) tea.Cmd) *topModel {
	return &topModel{redis: redis, version: readVersion().Version, every: every, look: look, put: put, width: 80, height: 24}
}

// sortings are the orders that s goes through.
var sortings = []struct {
	name    string
	compare func(v *fleetView, a, b *scheduler.SpiderSummary) int
}{
	{"name", func(*fleetView, *scheduler.SpiderSummary, *scheduler.SpiderSummary) int { return 0 }},
	{"pages/s", func(v *fleetView, a, b *scheduler.SpiderSummary) int {
		return cmp.Compare(v.Rates[b.Spider], v.Rates[a.Spider])
	}},
	{"pending", func(_ *fleetView, a, b *scheduler.SpiderSummary) int {
		return cmp.Compare(b.Pending+b.Delayed, a.Pending+a.Delayed)
	}},
	{"errors", func(_ *fleetView, a, b *scheduler.SpiderSummary) int {
		return cmp.Compare(errorCount(b.Stats), errorCount(a.Stats))
	}},
}

// Init begins with a look.
func (m *topModel) Init() tea.Cmd {
	return tea.Batch(m.begin(time.Now()), clock())
}

func clock() tea.Cmd { return tea.Tick(time.Second, func(t time.Time) tea.Msg { return clockMsg(t) }) }

// begin looks, unless a look is under way.
func (m *topModel) begin(now time.Time) tea.Cmd {
	if m.looking {
		return nil
	}
	m.looking, m.since, m.now = true, now, now
	return m.look(m.chosen)
}

// Update takes a message in.
func (m *topModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.key(msg.String())
	case clockMsg:
		m.now = time.Time(msg)
		return m, clock()
	case lookMsg:
		return m, m.begin(m.now)
	case lookedMsg:
		m.looking = false
		if m.err = msg.err; msg.err == nil {
			m.take(msg.view)
		}
		if m.view.Chosen != m.chosen && m.err == nil {
			return m, m.begin(m.now) // another spider has been chosen meanwhile
		}
		return m, tea.Tick(m.every, func(time.Time) tea.Msg { return lookMsg{} })
	case doneMsg:
		m.told = string(msg)
		return m, m.begin(m.now)
	}
	return m, nil
}

// take shows a new view, in the order chosen.
func (m *topModel) take(view fleetView) {
	m.view, m.seen = view, true
	m.order()
	if m.place() < 0 {
		m.chosen = ""
		if len(view.Spiders) > 0 {
			m.chosen = m.view.Spiders[0].Spider
			if slices.ContainsFunc(view.Spiders, func(s scheduler.SpiderSummary) bool { return s.Spider == view.Chosen }) {
				m.chosen = view.Chosen
			}
		}
	}
}

func (m *topModel) order() {
	by := sortings[m.sort].compare
	slices.SortFunc(m.view.Spiders, func(a, b scheduler.SpiderSummary) int {
		return cmp.Or(by(&m.view, &a, &b), cmp.Compare(a.Spider, b.Spider))
	})
}

// place is where the chosen spider stands, -1 when it is gone.
func (m *topModel) place() int {
	return slices.IndexFunc(m.view.Spiders, func(s scheduler.SpiderSummary) bool { return s.Spider == m.chosen })
}

// key does what a key asks for.
func (m *topModel) key(key string) tea.Cmd {
	if m.ask != "" {
		return m.answer(key)
	}
	m.told = ""
	switch key {
	case "q", "ctrl+c":
		return tea.Quit
	case "down", "j", "tab":
		return m.choose(1)
	case "up", "k", "shift+tab":
		return m.choose(-1)
	case "s":
		m.sort = (m.sort + 1) % len(sortings)
		m.order()
	case "p":
		if m.place() >= 0 {
			m.ask = m.chosen
		}
	}
	return nil
}

// choose goes to the next spider, or the one before; from the last to the first.
func (m *topModel) choose(by int) tea.Cmd {
	n := len(m.view.Spiders)
	if n == 0 {
		return nil
	}
	m.chosen = m.view.Spiders[(m.place()+by+n)%n].Spider
	return m.begin(m.now)
}

// answer is what a person says to the question of p.
func (m *topModel) answer(key string) tea.Cmd {
	spider := m.ask
	switch key {
	case "ctrl+c":
		return tea.Quit
	case "y", "Y":
		m.ask = ""
		to, _ := m.toggled(spider)
		return m.put(spider, to)
	case "n", "N", "esc", "q", "p", "enter":
		m.ask, m.told = "", "nothing was changed"
	}
	return nil
}

// toggled is the state into which p puts a spider, and the word for it.
func (m *topModel) toggled(spider string) (scheduler.State, string) {
	for i := range m.view.Spiders {
		if s := &m.view.Spiders[i]; s.Spider == spider && s.State() != scheduler.Running {
			return scheduler.Running, "resume"
		}
	}
	return scheduler.Paused, "pause"
}
