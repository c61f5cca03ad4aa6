package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"luacrawl/cli/host"
	"luacrawl/engine"
	"luacrawl/scheduler"
)

// Scrapy's names of the counters that a summary shows.
const (
	statPages      = "response_received_count"
	statItems      = "item_scraped_count"
	statDropped    = "item_dropped_count"
	statDuplicates = "dupefilter/filtered"
	statStatus     = "downloader/response_status_count/"
)

// summary is how a crawl ended, for a person.
type summary struct{ host.Ended }

// tell prints it, or logs it where the log is JSON.
func (s summary) tell(l *logs, out io.Writer) {
	switch {
	case l.quiet:
	case l.json:
		l.Info("summary", s.attributes()...)
	default:
		s.write(out)
	}
}

// headline says how it ended, in one line.
func (s summary) headline() string {
	duration := s.Duration.Round(10 * time.Millisecond)
	switch s.Reason {
	case engine.ReasonNoWork:
		return fmt.Sprintf("%s: nothing to do: no seeds are waiting and none are new", s.Spider)
	case engine.ReasonFinished, engine.ReasonStopped, engine.ReasonInterrupted, engine.ReasonKilled, engine.ReasonFailed:
		return fmt.Sprintf("%s %s after %s", s.Spider, s.Reason, duration)
	}
	return fmt.Sprintf("%s closed after %s: %s", s.Spider, duration, s.Reason)
}

// rate is pages a second over the whole run.
func (s summary) rate() float64 {
	if s.Duration <= 0 {
		return 0
	}
	return round(float64(s.Progress.Pages) / s.Duration.Seconds())
}

// statuses are the counts of responses by their HTTP status.
func (s summary) statuses() map[string]int64 {
	m := map[string]int64{}
	for name, n := range s.Stats {
		if code, ok := strings.CutPrefix(name, statStatus); ok {
			m[code] = n
		}
	}
	return m
}

// write prints the table.
func (s summary) write(out io.Writer) {
	fmt.Fprintln(out, s.headline())
	if s.Reason == engine.ReasonNoWork {
		return
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name string, format string, args ...any) {
		fmt.Fprintf(t, "  %s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	if len(s.Revisions) > 0 {
		row("revision", "%s", s.history())
	}
	if s.Unmended != "" {
		row("not in effect", "the last edit: %s", s.Unmended)
	}
	row("pages", "%s  (%v a second)", thousands(s.Progress.Pages), s.rate())
	row("items", "%s%s", thousands(s.Progress.Items), some(s.Stats[statDropped], "dropped"))
	if by := s.statuses(); len(by) > 0 {
		row("status", "%s", counts(by))
	}
	row("errors", "%s", thousands(s.Progress.Errors))
	row("duplicates", "%s", thousands(s.Total[statDuplicates])) // the filter is in Redis: only the whole crawl's are counted
	if s.Lost > 0 {
		row("late", "%s  (their leases had ended: others have done these pages)", thousands(int64(s.Lost)))
	}
	if s.Released > 0 {
		row("handed back", "%s", thousands(int64(s.Released)))
	}
	if s.Total[statPages] > s.Stats[statPages] {
		row("whole crawl", "%s pages, %s items", thousands(s.Total[statPages]), thousands(s.Total[statItems]))
	}
	if s.Left != nil {
		row("left", "%s", left(*s.Left))
		if s.Left.DeadLetters > 0 {
			row("dead letters", "%s", thousands(s.Left.DeadLetters))
		}
	}
	t.Flush()
	writeRaised(out, s.Raised)
}

// mostRaised is how many groups of script errors a summary lists.
const mostRaised = 10

// writeRaised lists what scripts raised, the most frequent first.
func writeRaised(out io.Writer, groups []engine.ErrorGroup) {
	if len(groups) == 0 {
		return
	}
	fmt.Fprintln(out, "raised by the spider:")
	for _, g := range groups[:min(len(groups), mostRaised)] {
		fmt.Fprintf(out, "  %s x  %s: %s\n", thousands(g.Count), &g, oneLine(g.Err.Message, 200))
		if g.URL != "" {
			fmt.Fprintf(out, "      first on %s\n", oneLine(g.URL, 200))
		}
	}
	if more := len(groups) - mostRaised; more > 0 {
		fmt.Fprintf(out, "  and at %s\n", plural(more, "other place"))
	}
}

// raised is a group as a log record has it.
type raised struct {
	Reason    string `json:"reason"`
	Kind      string `json:"kind"`
	File      string `json:"file"`
	Line      int    `json:"line"`
	Error     string `json:"error"`
	Source    string `json:"source"`
	Traceback string `json:"traceback"`
	URL       string `json:"url"`
	Revision  string `json:"revision"`
	Count     int64  `json:"count"`
}

func raisedAttributes(groups []engine.ErrorGroup) []raised {
	list := make([]raised, 0, mostRaised)
	for _, g := range groups[:min(len(groups), mostRaised)] {
		e := g.Err
		list = append(list, raised{g.Reason, e.Kind, e.File, e.Line, e.Message, e.Excerpt(), e.Traceback, g.URL, e.Revision, g.Count})
	}
	return list
}

// mostRevisions is how many revisions are named one by one.
const mostRevisions = 4

// history names the revisions that have run: the first and the last of many.
func (s summary) history() string {
	names := make([]string, 0, len(s.Revisions))
	for _, r := range s.Revisions {
		names = append(names, short(r))
	}
	if edits := len(names) - 1; edits >= mostRevisions {
		return fmt.Sprintf("%s -> %s, %d edits", names[0], names[edits], edits)
	}
	return strings.Join(names, " -> ")
}

// attributes are the same for a log record.
func (s summary) attributes() []any {
	a := []any{
		"spider", s.Spider, "reason", s.Reason, "started", s.Started, "seconds", s.Duration.Seconds(),
		"pages", s.Progress.Pages, "items", s.Progress.Items, "errors", s.Progress.Errors,
		"dropped", s.Stats[statDropped], "duplicates", s.Total[statDuplicates], "status", s.statuses(),
		"pages_per_second", s.rate(), "released", s.Released, "lost", s.Lost, "revisions", s.Revisions, "stats", s.Stats, "total", s.Total,
		"raised", raisedAttributes(s.Raised), "raised_groups", len(s.Raised),
	}
	if s.Unmended != "" {
		a = append(a, "edit_not_in_effect", s.Unmended)
	}
	if s.Left != nil {
		a = append(a, "left", map[string]int64{"pending": s.Left.Pending, "delayed": s.Left.Delayed, "in_flight": s.Left.InFlight, "seeds": s.Left.Seeds, "dead": s.Left.DeadLetters})
	}
	return a
}

// left says what a crawl has still to do.
func left(s scheduler.Status) string {
	if s.Pending+s.Delayed+s.InFlight+s.Seeds == 0 {
		return "nothing"
	}
	var parts []string
	for _, p := range []struct {
		n    int64
		what string
	}{{s.Pending, "pending"}, {s.Delayed, "delayed"}, {s.InFlight, "in flight"}, {s.Seeds, "seeds"}} {
		if p.n > 0 {
			parts = append(parts, thousands(p.n)+" "+p.what)
		}
	}
	return strings.Join(parts, ", ")
}

// counts writes the most frequent first.
func counts(m map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s: %s", name, thousands(m[name]))
	}
	return strings.Join(names, "  ")
}

// some is ", N what" unless N is 0.
func some(n int64, what string) string {
	if n == 0 {
		return ""
	}
	return ", " + thousands(n) + " " + what
}
