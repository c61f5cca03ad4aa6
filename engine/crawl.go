package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"luacrawl/engine/fetch"
	"luacrawl/scheduler"
)

// Options are what a Crawl is made of.
type Options struct {
	Spider     Spider
	Settings   Settings
	Frontier   *scheduler.Frontier
	Downloader *fetch.Downloader
	Logger     *slog.Logger
	Seeds      [][]byte     // pushed through the duplicate check at the start, beside the spider's start_urls
	UntilDone  bool         // end when the crawl is finished
	OnItems    func([]Item) // items that Redis has taken; called from one goroutine
}

// Crawl is the crawl of one spider on one host.
type Crawl struct{}

// New makes a Crawl. It does nothing until Run.
func New(o Options) (*Crawl, error) { return nil, errors.New("stub") }

// Run crawls until ctx ends, a close condition holds, or, with UntilDone, the crawl is finished. When ctx ends it stops
// leasing, lets running pages finish up to the grace period, commits them and hands the rest back.
// Kill ends that wait.
func (c *Crawl) Run(ctx context.Context) (Summary, error) { return Summary{}, errors.New("stub") }

// Kill stops at once: leases in flight expire by themselves.
func (c *Crawl) Kill() {}

// Progress is the state of a running crawl, for a person to look at.
type Progress struct {
	Pages, Items, Errors int64 // of this process
	Pending              int64 // of the whole crawl, as last heard
	InFlight             int
	Down                 time.Time // since when Redis has not answered; zero when it does
	Paused               bool
}

// Progress may be asked at any time.
func (c *Crawl) Progress() Progress { return Progress{} }

// Summary is how a crawl ended on this host.
type Summary struct {
	Reason   string // finished, interrupted, closespider_pagecount, closespider_itemcount, closespider_errorcount, timeout, max_idle_time, nothing_to_do
	Started  time.Time
	Duration time.Duration
	Stats    map[string]int64 // of this process, Scrapy's names
	Total    map[string]int64 // of the whole crawl
	Released int              // leases handed back
	Lost     int              // outcomes refused as late
}
