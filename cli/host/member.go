package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"luacrawl/scheduler"
)

// member is a run of a pinned file that is a member of a fleet: the fleet sees it, it sees what people tell the fleet, and it says when the
// fleet runs another revision of its name. It never takes that over.
type member struct {
	crawl   *Crawl
	rates   Rates
	version int64  // of the registry, as last heard; only the reporter's goroutine
	ours    string // revision of the run then; only the reporter's goroutine
	warned  string // revisions of the last warning; only the reporter's goroutine
}

// Member tells the fleet of the crawl until ctx ends.
func (c *Crawl) Member(ctx context.Context, who Identity) error {
	m := &member{crawl: c, version: -1}
	return NewReporter(c.options.Client, c.options.Voice, who, m.reports, m.heard).Run(ctx)
}

func (m *member) reports() []scheduler.SpiderReport {
	c := m.crawl
	progress := c.Progress()
	s := Status{Spider: c.options.Spider.Name(), Revision: c.options.Spider.Revision(), Progress: progress, Rate: m.rates.Add(time.Now(), progress.Pages)}
	if broken := c.Unmended(); broken != "" {
		s.Error = "the last edit is not in effect: " + broken
	}
	return []scheduler.SpiderReport{spiderReport(s, 0)}
}

// heard is told the registry's version with each report.
func (m *member) heard(ctx context.Context, version int64) {
	if version != m.version {
		m.crawl.Nudge()
	}
	spider := m.crawl.options.Spider
	if version == m.version && m.ours == spider.Revision() {
		return
	}
	ours := spider.Content().ID
	entry, err := m.crawl.options.Client.RegistryEntry(ctx, spider.Name())
	switch {
	case err != nil && !errors.Is(err, scheduler.ErrNoEntry):
		return // looked at again with the next report
	case err != nil || entry.Revision == ours:
		m.warned = ""
	case m.warned != entry.Revision+ours:
		m.warned = entry.Revision + ours
		m.crawl.options.Voice.Logger.Warn(fmt.Sprintf("the fleet runs revision %s of %s, and this run %s of its own file: both work on the same requests",
			scheduler.ShortRevision(entry.Revision), spider.Name(), scheduler.ShortRevision(ours)))
	}
	m.version, m.ours = version, scheduler.ShortRevision(ours)
}
