package host

import (
	"strings"
	"testing"

	"luacrawl/engine"
)

func TestReminders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent string
		obey  bool
		want  string // beginnings of the lines
	}{
		{engine.DefaultSettings().UserAgent, true, "user_agent"},
		{"", true, "user_agent"},
		{"Mozilla/5.0 (X11; Linux x86_64)", false, "robots.txt user_agent"},
		{"mine/1.0 (+https://mine.example/crawler)", true, ""},
		{"mine/1.0 (me@mine.example)", true, ""},
		{"Mozilla/5.0 (compatible; mine/1.0; +http://www.mine.example)", false, "robots.txt"},
		{"mine (www.mine.example)", true, ""},
	} {
		s := engine.DefaultSettings()
		s.UserAgent, s.RobotstxtObey = c.agent, c.obey
		var begin []string
		for _, line := range Reminders(s) {
			word, _, _ := strings.Cut(line, " ")
			begin = append(begin, word)
		}
		if got := strings.Join(begin, " "); got != c.want {
			t.Errorf("%q, obeying %v: %q, want %q", c.agent, c.obey, got, c.want)
		}
	}
}

// TestWorkersRemind at the start of each crawl.
func TestWorkersRemind(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rev, v := f.pushText("news", "1")
	h := f.host("")
	h.confirms(rev, v)
	h.says("robots.txt is not obeyed") // as the kit has it
	h.says(`user_agent is "luacrawl", by which nobody can reach you`)
}

// A crawl that fails and is begun again says nothing twice; other settings are spoken of anew.
func TestReminded(t *testing.T) {
	t.Parallel()
	var r reminded
	s := engine.DefaultSettings()
	for i, c := range []struct {
		agent string
		obey  bool
		lines int
	}{{"mine", true, 1}, {"mine", true, 0}, {"mine", false, 1}, {"me@mine.example", true, 0}, {"mine", true, 1}, {"yours", true, 1}} {
		s.UserAgent, s.RobotstxtObey = c.agent, c.obey
		if got := r.fresh(s); len(got) != c.lines {
			t.Errorf("%d: %q, want %d lines", i, got, c.lines)
		}
	}
}
