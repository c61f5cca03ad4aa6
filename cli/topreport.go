package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"luacrawl/scheduler"
)

// errorKind is how often something has failed in a crawl.
type errorKind struct {
	kind  string
	count int64
}

// kindsOf are counters whose names end in the kind of an error, and how a person reads them.
var kindsOf = []struct{ prefix, format string }{
	{"spider_exceptions/", "%s (callback)"},
	{"downloader/exception_type_count/", "%s (download)"},
	{"httperror/response_ignored_status_count/", "status %s"},
}

// errorKinds are the errors of a crawl by kind, the most frequent first.
func errorKinds(stats map[string]int64) []errorKind {
	var kinds []errorKind
	add := func(kind string, n int64) {
		if n > 0 {
			kinds = append(kinds, errorKind{oneLine(kind, 60), n})
		}
	}
	for name, n := range stats {
		for _, k := range kindsOf {
			if kind, ok := strings.CutPrefix(name, k.prefix); ok && kind != "count" {
				add(fmt.Sprintf(k.format, kind), n)
			}
		}
	}
	for name, n := range stats {
		if status, ok := strings.CutPrefix(name, "downloader/response_status_count/"); ok && tried(status) {
			add("status "+status, n)
		}
	}
	add("process_item", stats["item_error_count"])
	add("bad seeds", stats["seeds/bad"])
	slices.SortFunc(kinds, func(a, b errorKind) int {
		return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.kind, b.kind))
	})
	return kinds
}

// tried reports whether a status is one after which a page is tried again; the others are counted when they are ignored.
func tried(status string) bool {
	return len(status) == 3 && status[0] == '5' || status == "408" || status == "429"
}

// errorCount is the sum of all kinds.
func errorCount(stats map[string]int64) (sum int64) {
	for _, k := range errorKinds(stats) {
		sum += k.count
	}
	return sum
}

// topJSON is the view as --json prints it.
type topJSON struct {
	Time    time.Time     `json:"time"`
	Spiders []topSpider   `json:"spiders"`
	Workers []fleetWorker `json:"workers"`
	Slots   topSlots      `json:"slots"` // of the first spider
	Damaged string        `json:"damaged,omitempty"`
}

type topSpider struct {
	Spider     string            `json:"spider"`
	State      scheduler.State   `json:"state"` // that people have put it into
	Is         string            `json:"is"`    // what it does
	Revision   string            `json:"revision,omitempty"`
	Rate       float64           `json:"rate"`
	Pending    int64             `json:"pending"`
	Delayed    int64             `json:"delayed"`
	InFlight   int64             `json:"in_flight"`
	Seeds      int64             `json:"seeds"`
	Items      int64             `json:"items"`
	Dead       int64             `json:"dead"`
	ErrorCount int64             `json:"errors"`
	Errors     map[string]int64  `json:"errors_by_kind"`
	Live       map[string]string `json:"live"`
	Unreadable string            `json:"unreadable,omitempty"`
}

type topSlots struct {
	Spider  string    `json:"spider,omitempty"`
	Due     int64     `json:"due"`
	Delayed int64     `json:"delayed"`
	Full    int64     `json:"full"`
	First   []topSlot `json:"first"`
}

type topSlot struct {
	Slot       string         `json:"slot"`
	Waits      scheduler.Wait `json:"waits_for"`
	Next       time.Time      `json:"next"`
	NextIn     float64        `json:"next_in"` // seconds, 0 when its time has come
	Busy       int            `json:"in_flight"`
	Limit      int            `json:"concurrency"`
	Delay      float64        `json:"delay"`                // seconds
	Says       scheduler.Says `json:"delay_from,omitempty"` // spider, live, robots, refused, latency; none: the setting for all
	Randomized bool           `json:"randomized,omitempty"`
	Queued     int64          `json:"queued"`
	Later      int64          `json:"later,omitempty"` // requests that may not start yet, among the first 100 of the crawl
	Pages      int64          `json:"pages,omitempty"` // while there is a budget of them
}

func shownSlot(s scheduler.Slot, now time.Time) topSlot {
	return topSlot{
		Slot: s.Name, Waits: s.Wait, Next: s.Next.UTC(), NextIn: max(0, s.Next.Sub(now).Seconds()), Busy: s.Busy, Limit: s.Limit, Delay: s.Delay.Seconds(),
		Says: s.Says, Randomized: s.Randomized, Queued: s.Queued, Later: s.Later, Pages: s.Pages,
	}
}

func topReport(v fleetView) topJSON {
	r := topJSON{Time: v.Time.UTC(), Spiders: []topSpider{}, Workers: []fleetWorker{}}
	entries := map[string]*scheduler.Entry{}
	for i := range v.Spiders {
		s := &v.Spiders[i]
		entries[s.Spider] = s.Entry
		r.Spiders = append(r.Spiders, reportSpider(s, v.Rates[s.Spider]))
	}
	for _, w := range v.Workers {
		r.Workers = append(r.Workers, shownWorker(w, entries, readVersion().Version, v.Time))
	}
	r.Slots = topSlots{Spider: v.Chosen, Due: v.Slots.Due, Delayed: v.Slots.Delayed, Full: v.Slots.Full, First: []topSlot{}}
	for _, s := range v.Slots.First {
		r.Slots.First = append(r.Slots.First, shownSlot(s, v.Slots.Time))
	}
	if v.Damaged != nil {
		r.Damaged = v.Damaged.Error()
	}
	return r
}

func reportSpider(s *scheduler.SpiderSummary, rate float64) topSpider {
	one := topSpider{
		Spider: s.Spider, State: s.State(), Rate: round(rate), Pending: s.Pending, Delayed: s.Delayed, InFlight: s.InFlight, Seeds: s.Seeds,
		Items: s.Items, Dead: s.Dead, ErrorCount: errorCount(s.Stats), Errors: map[string]int64{}, Live: s.Control.Live,
	}
	one.Is, _ = topState(s)
	if s.Entry != nil {
		one.Revision = s.Entry.Revision
	}
	for _, k := range errorKinds(s.Stats) {
		one.Errors[k.kind] = k.count
	}
	if s.Err != nil {
		one.Is, one.Unreadable = "unreadable", s.Err.Error()
	}
	return one
}
