package cli

import (
	"cmp"
	"fmt"
	"time"

	"golang.org/x/mod/semver"

	"luacrawl/scheduler"
)

func registryOf(entries []scheduler.Entry) map[string]*scheduler.Entry {
	m := make(map[string]*scheduler.Entry, len(entries))
	for i := range entries {
		m[entries[i].Spider] = &entries[i]
	}
	return m
}

// fleetWorker is a process of the fleet as --json prints it.
type fleetWorker struct {
	ID         string         `json:"id"`
	Host       string         `json:"host"`
	PID        int            `json:"pid"`
	Kind       string         `json:"kind"`
	Version    string         `json:"version"`                 // of its luacrawl
	Other      string         `json:"other_version,omitempty"` // older, newer or another than ours
	Alive      bool           `json:"alive"`
	Silent     float64        `json:"silent_seconds"` // overdue sign of life
	Started    time.Time      `json:"started"`
	Heap       int64          `json:"heap"`
	Goroutines int            `json:"goroutines"`
	Rate       float64        `json:"rate"`
	InFlight   int            `json:"in_flight"`
	Errors     int64          `json:"errors"`
	Spiders    []workerSpider `json:"spiders"`

	now  time.Time
	ours string // version
}

// workerSpider is one spider in a process.
type workerSpider struct {
	scheduler.SpiderReport
	Current string `json:"current,omitempty"` // the fleet's revision of it, when it is another
	Why     string `json:"why,omitempty"`     // it is another
}

// shownWorker judges a report by what the fleet is to run and by our own version.
func shownWorker(r scheduler.WorkerReport, entries map[string]*scheduler.Entry, ours string, now time.Time) fleetWorker {
	w := fleetWorker{
		ID: r.ID, Host: r.Host, PID: r.PID, Kind: r.Kind, Version: r.Tool, Other: otherVersion(r.Tool, ours), Alive: r.Alive, Silent: r.Silent.Seconds(),
		Started: r.Started, Heap: r.Heap, Goroutines: r.Goroutines, Spiders: []workerSpider{}, now: now, ours: ours,
	}
	for _, s := range r.Spiders {
		w.Rate, w.InFlight, w.Errors = w.Rate+s.Rate, w.InFlight+s.InFlight, w.Errors+s.Errors
		one := workerSpider{SpiderReport: s}
		if why := lags(s, r.Kind, entries[s.Spider]); why != "" {
			one.Why = why
			if e := entries[s.Spider]; e != nil {
				one.Current = e.Revision
			}
		}
		w.Spiders = append(w.Spiders, one)
	}
	return w
}

// lags is why a process runs another revision of a spider than the fleet is to; "" when it runs that.
func lags(s scheduler.SpiderReport, kind string, e *scheduler.Entry) string {
	switch {
	case e == nil && kind == "run":
		return ""
	case e == nil:
		return "the fleet has no spider of this name any more"
	case scheduler.ShortRevision(s.Revision) == scheduler.ShortRevision(e.Revision):
		return ""
	case kind == "run":
		return "it runs a file of its own"
	case s.Error != "":
		return s.Error
	case s.Version < e.Version:
		return "it has not taken in the push of " + cmp.Or(e.Author, "somebody") + " yet"
	}
	return "it has not loaded it yet"
}

// otherVersion says how a luacrawl differs from ours: older, newer or another; "" when it does not.
func otherVersion(theirs, ours string) string {
	switch {
	case theirs == ours:
		return ""
	case !semver.IsValid(theirs) || !semver.IsValid(ours):
		return "another"
	case semver.Compare(theirs, ours) < 0:
		return "older"
	}
	return "newer"
}

// runsOnly leaves only some of its spiders and reports whether it has any of them.
func (w *fleetWorker) runsOnly(names map[string]bool) bool {
	kept := []workerSpider{}
	for _, s := range w.Spiders {
		if names[s.Spider] {
			kept = append(kept, s)
		}
	}
	w.Spiders = kept
	return len(kept) > 0
}

// up is how long it has run.
func (w *fleetWorker) up() time.Duration {
	if w.Started.IsZero() {
		return 0
	}
	return max(0, w.now.Sub(w.Started))
}

// remarks are what a person should look at.
func (w *fleetWorker) remarks() []string {
	var all []string
	if !w.Alive {
		since := w.now.Add(-time.Duration(w.Silent * float64(time.Second)))
		all = append(all, fmt.Sprintf("silent for %s, since %s", span(time.Duration(w.Silent*float64(time.Second))), since.UTC().Format(time.RFC3339)))
	}
	if w.Other != "" {
		all = append(all, fmt.Sprintf("its luacrawl, %s, is %s: this one is %s", oneLine(w.Version, 40), w.Other, w.ours))
	}
	for _, s := range w.Spiders {
		if s.Why != "" {
			current := ""
			if s.Current != "" {
				current = ", the fleet " + scheduler.ShortRevision(s.Current)
			}
			all = append(all, fmt.Sprintf("%s runs %s%s: %s", s.Spider, scheduler.ShortRevision(s.Revision), current, oneLine(s.Why, 300)))
		} else if s.Error != "" {
			all = append(all, fmt.Sprintf("%s: %s", s.Spider, oneLine(s.Error, 300)))
		}
		if s.SinkDown != "" {
			all = append(all, waitsForSink(s.Spider, s.SinkDown))
		}
	}
	return all
}
