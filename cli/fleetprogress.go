package cli

import (
	"context"
	"strings"
	"sync"
	"time"

	"luacrawl/cli/host"
)

// fleetProgress shows how the spiders of a host go.
type fleetProgress struct {
	logs   *logs
	screen *screen
	ask    func() []host.Status

	logged map[string]host.Status // what the last log line of each said: one that waits does not repeat it
}

// during shows it while work runs.
func (p *fleetProgress) during(work func() error) error {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { p.run(ctx) })
	defer wg.Wait()
	defer cancel()
	return work()
}

func (p *fleetProgress) run(ctx context.Context) {
	every := quietEvery
	live := p.screen.terminal() && !p.logs.json && !p.logs.quiet
	if live {
		every = liveEvery
		defer p.screen.show("")
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			p.tick(now, live)
		}
	}
}

func (p *fleetProgress) tick(now time.Time, live bool) {
	list := p.ask()
	if live {
		p.screen.show(fleetLine(list, now))
		return
	}
	said := map[string]host.Status{}
	for _, s := range list {
		quiet := s
		quiet.Rate = 0
		said[s.Spider] = quiet
		if p.logged[s.Spider] == quiet {
			continue
		}
		attributes := progressAttributes(s.Spider, s.Progress, s.Rate, s.Broken)
		if s.Error != "" {
			attributes = append(attributes, "trouble", s.Error)
		}
		p.logs.Info("progress", attributes...)
	}
	p.logged = said
}

// fleetLine is all spiders in one line: those in trouble first, since a narrow window cuts the end off. One that runs alone is shown as run
// shows it.
func fleetLine(list []host.Status, now time.Time) string {
	if len(list) == 0 {
		return "no spider runs here"
	}
	var troubled, others []string
	for _, s := range list {
		switch line := liveLine(s.Spider, s.Broken, s.Progress, s.Rate, now); {
		case s.Error != "" && s.Broken == "":
			troubled = append(troubled, s.Spider+"  "+oneLine(s.Error, 60))
		case s.Broken != "":
			troubled = append(troubled, line)
		case len(list) == 1:
			others = append(others, line)
		default:
			others = append(others, shortLine(s))
		}
	}
	return strings.Join(append(troubled, others...), "  |  ")
}

// shortLine is one spider among others.
func shortLine(s host.Status) string {
	line := s.Spider + "  " + thousands(s.Progress.Pages) + " pages  " + rateText(s.Rate) + "/s"
	if doing := doing(s.Progress); doing != "" {
		line += "  " + doing
	}
	return line
}
