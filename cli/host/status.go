package host

import (
	"cmp"
	"time"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// Status is how one spider does in a host.
type Status struct {
	Spider   string
	Revision string // ID of what runs, "" when nothing does
	Error    string // why the newest revision is not in effect, or why nothing runs
	Broken   string // where the newest revision is broken, "" when it is in effect
	Progress engine.Progress
	Rate     float64 // pages a second, of late
}

// Spiders are how all spiders do, by name.
func (h *Host) Spiders() []Status {
	var list []Status
	for _, r := range h.all() {
		status, _ := r.status(time.Now())
		list = append(list, status)
	}
	return list
}

// Watched is how one spider does, with the counters of this process, which have Scrapy's names.
type Watched struct {
	Status
	Stats map[string]int64
}

// Watched are how all spiders do, by name. Counters are since the process began to run the spider.
func (h *Host) Watched() []Watched {
	var list []Watched
	for _, r := range h.all() {
		list = append(list, r.watched())
	}
	return list
}

// reports are the same for the fleet.
func (h *Host) reports() []scheduler.SpiderReport {
	h.mu.Lock()
	unreadable := h.unreadable
	h.mu.Unlock()
	list := []scheduler.SpiderReport{} // never null in JSON
	for _, r := range h.all() {
		status, version := r.status(time.Now())
		report := spiderReport(status, version)
		if report.Error == "" && unreadable != nil {
			report.Error = unreadable.Error()
		}
		list = append(list, report)
	}
	return list
}

func spiderReport(s Status, version int64) scheduler.SpiderReport {
	return scheduler.SpiderReport{
		Spider: s.Spider, Revision: s.Revision, Version: version, Error: s.Error, State: cmp.Or(s.Progress.State, scheduler.Running),
		Pages: s.Progress.Pages, Items: s.Progress.Items, Errors: s.Progress.Errors, Rate: s.Rate, InFlight: s.Progress.InFlight, SinkDown: s.Progress.SinkDown,
	}
}
