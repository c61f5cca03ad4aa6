package cli

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"luacrawl/scheduler"
)

var update = flag.Bool("update-frames", false, "write the pictures of top anew")

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// sampleFleet is a view of a fleet as people have them: a worker that lags, one that is silent, a pinned run, a slot of each kind.
func sampleFleet() fleetView {
	now, id := "a1b2c3d4e5f6"+strings.Repeat("0", 52), strings.Repeat("0", 52)
	news := scheduler.SpiderSummary{
		Status: scheduler.Status{
			Spider: "news", Enqueued: 500_123, Pending: 498_000, Delayed: 3, InFlight: 12, Done: 2_100, Dead: 8, Seeds: 2, Items: 1_900,
			Workers: []string{"a"}, Control: scheduler.Control{State: scheduler.Running, Live: map[string]string{"download_delay": "2"}},
			Stats: map[string]int64{
				"spider_exceptions/count": 5, "spider_exceptions/error": 5, "downloader/exception_type_count/timeout": 7,
				"httperror/response_ignored_status_count/404": 120, "downloader/response_status_count/404": 120, "downloader/response_status_count/503": 4,
			},
		},
		Entry: &scheduler.Entry{Spider: "news", State: scheduler.Running, Version: 7, Revision: now, Author: "ann", Message: "titles of letters\x1b[31m", Time: noon.Add(-3 * time.Minute)},
	}
	shop := scheduler.SpiderSummary{
		Status: scheduler.Status{Spider: "shop", Pending: 4, Enqueued: 4, Control: scheduler.Control{State: scheduler.Paused}},
		Entry:  &scheduler.Entry{Spider: "shop", State: scheduler.Paused, Version: 3, Revision: "77aa88bb99cc" + id, Time: noon.Add(-50 * time.Hour)},
	}
	broken := scheduler.SpiderSummary{Status: scheduler.Status{Spider: "wiki"}, Err: errors.New("wiki:items holds a string, not a list")}
	worker := func(host string, pid int, tool string, silent time.Duration, spiders ...scheduler.SpiderReport) scheduler.WorkerReport {
		return scheduler.WorkerReport{
			ID: host, Host: host, PID: pid, Kind: "worker", Tool: tool, Started: noon.Add(-5 * time.Hour), Heap: 45 << 20, Goroutines: 60,
			Alive: silent == 0, Silent: silent, Spiders: spiders,
		}
	}
	const tool = "v1.2.0"
	current := scheduler.SpiderReport{Spider: "news", Revision: now, Version: 7, Rate: 51.25, InFlight: 6}
	behind := scheduler.SpiderReport{Spider: "news", Revision: "0f3a5c7e9b1d" + id, Version: 7, Error: "news.lua:12: unexpected symbol", Rate: 50, InFlight: 6, Errors: 40}
	return fleetView{
		Chosen: "news", Rates: map[string]float64{"news": 101.3},
		Overview: scheduler.Overview{
			Time: noon, Spiders: []scheduler.SpiderSummary{news, shop, broken},
			Workers: []scheduler.WorkerReport{
				worker("alpha", 2211, tool, 0, current, scheduler.SpiderReport{Spider: "shop", Revision: "77aa88bb99cc" + id, Version: 3}),
				worker("beta", 901, "v1.1.0", 0, behind), worker("gamma", 77, tool, 3*time.Minute, current),
			},
			Slots: scheduler.Slots{Time: noon, SlotCounts: scheduler.SlotCounts{Due: 1, Delayed: 2, Full: 1}, First: []scheduler.Slot{
				{Name: "www.example.com", Wait: scheduler.WaitWorker, Limit: 8, Busy: 3, Queued: 400_000},
				{Name: "blog.example", Wait: scheduler.WaitDelay, Next: noon.Add(1500 * time.Millisecond), Delay: 2 * time.Second, Limit: 8, Queued: 20},
				{Name: "old.example", Wait: scheduler.WaitWork, Next: noon.Add(time.Second), Limit: 8},
				{Name: "cdn.example", Wait: scheduler.WaitFull, Busy: 2, Limit: 2, Queued: 97_980},
				{Name: "@seeds", Wait: scheduler.WaitWorker, Queued: 1},
			}},
		},
	}
}

// newSample is the view as it is once it has looked.
func newSample() *topModel {
	m := newTopModel("redis://10.0.0.5:6379/0", time.Second, func(string) tea.Cmd { return func() tea.Msg { return nil } },
		func(spider string, to scheduler.State) tea.Cmd {
			return func() tea.Msg { return doneMsg(fmt.Sprintf("put %s into %s", spider, to)) }
		})
	m.version = "v1.2.0"
	m.looking, m.since, m.now = true, noon, noon
	m.Update(lookedMsg{view: sampleFleet()})
	return m
}

// Pictures are compared with those in testdata/top; -update-frames writes them.
func TestTopPictures(t *testing.T) {
	t.Parallel()
	press := func(keys ...string) func(*topModel) {
		return func(m *topModel) {
			for _, k := range keys {
				m.key(k)
			}
		}
	}
	for _, c := range []struct {
		name          string
		width, height int
		do            func(*topModel)
	}{
		{"80x24", 80, 24, press()},
		{"140x40", 140, 40, press()},
		{"small", 50, 12, press()},
		{"paused", 80, 24, press("down", "p")},
		{"unreadable", 80, 24, press("up")},
		{"sorted", 100, 24, press("s", "s")},
		{"waiting", 80, 24, func(m *topModel) {
			m.begin(noon)
			m.Update(clockMsg(noon.Add(7 * time.Second)))
		}},
		{"failed", 80, 24, func(m *topModel) { m.Update(lookedMsg{err: errors.New("luacrawl:registry holds a list, not a hash")}) }},
		{"many", 80, 24, func(m *topModel) {
			v := sampleFleet()
			for i := range 40 {
				s, w := v.Spiders[1], v.Workers[0]
				s.Spider, w.Host = fmt.Sprintf("spider-%02d", i), fmt.Sprintf("host-%02d", i)
				v.Spiders, v.Workers = append(v.Spiders, s), append(v.Workers, w)
			}
			m.Update(lookedMsg{view: v})
			for range 20 {
				m.key("down")
			}
		}},
		{"nothing", 80, 24, func(m *topModel) { m.Update(lookedMsg{}) }},
		{"paper", 120, 1000, func(m *topModel) { m.still = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newSample()
			m.Update(tea.WindowSizeMsg{Width: c.width, Height: c.height})
			c.do(m)
			got, file := m.text(), filepath.Join("testdata", "top", c.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
			rows := strings.Split(m.View().Content, "\n")
			if len(rows) > c.height {
				t.Errorf("%d rows in a window of %d", len(rows), c.height)
			}
			for _, row := range rows {
				if w := ansi.StringWidth(row); w > c.width {
					t.Errorf("%d columns in a window of %d: %q", w, c.width, row)
				}
				if strings.Contains(ansi.Strip(row), "\x1b") {
					t.Errorf("somebody else's escape: %q", row)
				}
			}
		})
	}
}

// No window is too small to draw in.
func TestTopInAnyWindow(t *testing.T) {
	t.Parallel()
	for _, ask := range []string{"", "news"} {
		for width := range 100 {
			for height := range 30 {
				m := newSample()
				m.ask = ask
				m.Update(tea.WindowSizeMsg{Width: width, Height: height})
				rows := strings.Split(m.View().Content, "\n")
				if len(rows) > max(1, height) {
					t.Fatalf("%d rows in %dx%d", len(rows), width, height)
				}
			}
		}
	}
}

func TestTopKeys(t *testing.T) {
	t.Parallel()
	m := newSample()
	for _, c := range []struct{ key, chosen, ask, foot string }{
		{"down", "shop", "", "up/down/tab"},
		{"p", "shop", "shop", "resume shop in the whole fleet? y/n"},
		{"x", "shop", "shop", "y/n"}, // no answer
		{"n", "shop", "", "nothing was changed"},
		{"tab", "wiki", "", "up/down/tab"},
		{"j", "news", "", "up/down/tab"},
		{"k", "wiki", "", ""},
		{"shift+tab", "shop", "", ""},
		{"up", "news", "", ""},
		{"p", "news", "news", "pause news in the whole fleet? y/n"},
		{"y", "news", "", "up/down/tab"},
	} {
		cmd := m.key(c.key)
		if m.chosen != c.chosen || m.ask != c.ask || !strings.Contains(m.foot().text(100), c.foot) {
			t.Errorf("%s: chosen %s, asked %q, foot %q", c.key, m.chosen, m.ask, m.foot().text(100))
		}
		if c.key == "y" {
			m.Update(cmd())
			if got := m.foot().text(100); got != "put news into paused" {
				t.Errorf("y: %q", got)
			}
		}
	}
	for _, ask := range []string{"", "news"} {
		m.ask = ask
		if cmd := m.key("ctrl+c"); cmd == nil || cmd() != tea.Quit() {
			t.Error("ctrl+c does not quit")
		}
	}
}

// One look at a time: choosing a spider looks at once, and a look that comes back for another one is followed by the right one.
func TestTopLooksOneAtATime(t *testing.T) {
	t.Parallel()
	var looks []string
	m := newSample()
	m.look = func(chosen string) tea.Cmd {
		looks = append(looks, chosen)
		return nil
	}
	m.key("down")
	m.key("down")
	m.Update(lookMsg{})
	if cmp.Diff(looks, []string{"shop"}) != "" {
		t.Errorf("looks %v", looks)
	}
	v := sampleFleet()
	v.Chosen = "shop"
	m.Update(lookedMsg{view: v})
	if cmp.Diff(looks, []string{"shop", "wiki"}) != "" || m.chosen != "wiki" {
		t.Errorf("looks %v, chosen %s", looks, m.chosen)
	}
	v.Chosen, v.Spiders = "wiki", v.Spiders[:1] // it is gone
	m.Update(lookedMsg{view: v})
	if m.chosen != "news" {
		t.Errorf("chosen %q", m.chosen)
	}
}

func TestOtherVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ theirs, ours, want string }{
		{"v1.2.0", "v1.2.0", ""}, {"(devel)", "(devel)", ""}, {"v1.1.9", "v1.2.0", "older"}, {"v1.10.0", "v1.9.0", "newer"}, {"(devel)", "v1.2.0", "another"}, {"", "v1.2.0", "another"},
	} {
		if got := otherVersion(c.theirs, c.ours); got != c.want {
			t.Errorf("%s, ours %s: %q, want %q", c.theirs, c.ours, got, c.want)
		}
	}
}

func TestLags(t *testing.T) {
	t.Parallel()
	entry := &scheduler.Entry{Version: 5, Revision: strings.Repeat("a", 64), Author: "ann"}
	other := strings.Repeat("b", 64)
	for _, c := range []struct {
		report scheduler.SpiderReport
		kind   string
		entry  *scheduler.Entry
		want   string
	}{
		{scheduler.SpiderReport{Revision: entry.Revision}, "worker", entry, ""},
		{scheduler.SpiderReport{Revision: entry.Revision[:12]}, "run", entry, ""},
		{scheduler.SpiderReport{Revision: other, Version: 4}, "worker", entry, "it has not taken in the push of ann yet"},
		{scheduler.SpiderReport{Revision: other, Version: 5, Error: "a.lua:3: no"}, "worker", entry, "a.lua:3: no"},
		{scheduler.SpiderReport{Revision: other, Version: 5}, "worker", entry, "it has not loaded it yet"},
		{scheduler.SpiderReport{Revision: other}, "run", entry, "it runs a file of its own"},
		{scheduler.SpiderReport{Revision: other}, "run", nil, ""},
		{scheduler.SpiderReport{Revision: other}, "worker", nil, "the fleet has no spider of this name any more"},
	} {
		if got := lags(c.report, c.kind, c.entry); got != c.want {
			t.Errorf("%+v of %s: %q, want %q", c.report, c.kind, got, c.want)
		}
	}
}
