package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"luacrawl/cli/host"
	"luacrawl/engine"
	"luacrawl/scheduler"
)

// How often a person hears of a running crawl.
const (
	liveEvery  = 200 * time.Millisecond // the live line on a terminal
	quietEvery = 10 * time.Second       // a log line elsewhere
)

// embeddedLimit is the queue length from which the embedded Redis gets slow: its sorted sets sort on every read.
const embeddedLimit = 50_000

// progress shows how a crawl goes until ctx ends.
type progress struct {
	logs     *logs
	screen   *screen
	name     string
	ask      func() engine.Progress
	embedded bool
	unmended func() string // where the last edit of the spider is broken, "" when it is in effect; nil when edits do not count

	rates  host.Rates
	warned bool            // of embeddedLimit
	said   string          // what unmended said in the last log line
	logged engine.Progress // what the last log line said: a run that waits does not repeat it
}

// Run shows the live line on a terminal, and a log line now and then elsewhere. It returns when ctx ends.
func (p *progress) Run(ctx context.Context) error {
	every := quietEvery
	live := p.screen.terminal() && !p.logs.json && !p.logs.quiet
	if live {
		every = liveEvery
		defer p.screen.show("")
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	p.rates.Add(time.Now(), 0)
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			p.tick(now, live)
		}
	}
}

func (p *progress) tick(now time.Time, live bool) {
	state := p.ask()
	rate := p.rates.Add(now, state.Pages)
	if p.embedded && !p.warned && state.Pending > embeddedLimit {
		p.warned = true
		p.logs.Warn("the embedded redis gets slow with so many pending requests: use a redis-server and --redis", "pending", state.Pending, "limit", embeddedLimit)
	}
	broken := ""
	if p.unmended != nil {
		broken = p.unmended()
	}
	if live {
		p.screen.show(liveLine(p.name, broken, state, rate, now))
		return
	}
	if state == p.logged && broken == p.said {
		return
	}
	p.logged, p.said = state, broken
	p.logs.Info("progress", progressAttributes(p.name, state, rate, broken)...)
}

// progressAttributes are the progress of a spider as a log record has it.
func progressAttributes(spider string, s engine.Progress, rate float64, broken string) []any {
	attributes := []any{"spider", spider, "pages", s.Pages, "items", s.Items, "pages_per_second", round(rate),
		"pending", s.Pending, "in_flight", s.InFlight, "errors", s.Errors}
	if s.State != "" && s.State != scheduler.Running {
		attributes = append(attributes, "state", string(s.State))
	}
	if s.SinkDown != "" {
		attributes = append(attributes, "sink_down", s.SinkDown)
	}
	if broken != "" {
		attributes = append(attributes, "edit_not_in_effect", broken)
	}
	return attributes
}

// liveLine says the most important first, since a narrow window cuts the end off. broken is where the last edit is broken.
func liveLine(name, broken string, s engine.Progress, rate float64, now time.Time) string {
	var b strings.Builder
	b.WriteString(name)
	if broken != "" {
		fmt.Fprintf(&b, "  EDIT NOT IN EFFECT: %s", broken)
	}
	fmt.Fprintf(&b, "  %s pages  %s items  %s/s  %s pending  %d in flight",
		thousands(s.Pages), thousands(s.Items), rateText(rate), thousands(s.Pending), s.InFlight)
	if s.Errors > 0 {
		fmt.Fprintf(&b, "  %s errors", thousands(s.Errors))
	}
	if doing := doing(s); doing != "" {
		b.WriteString("  " + doing)
	}
	if s.SinkDown != "" {
		fmt.Fprintf(&b, "  waiting for %s", s.SinkDown)
	}
	if !s.Down.IsZero() {
		fmt.Fprintf(&b, "  waiting for Redis for %s", now.Sub(s.Down).Truncate(time.Second))
	}
	return b.String()
}

// doing says what a crawl does that does not simply crawl.
func doing(s engine.Progress) string {
	switch {
	case s.State == scheduler.Draining:
		return "draining"
	case s.Paused:
		return "paused"
	case s.Idle:
		return "waiting for seeds"
	}
	return ""
}

// round keeps one digit after the point, none from 100 on.
func round(f float64) float64 {
	if f >= 100 {
		return float64(int64(f + 0.5))
	}
	return float64(int64(f*10+0.5)) / 10
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	first := len(s) - len(strings.TrimPrefix(s, "-"))
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
