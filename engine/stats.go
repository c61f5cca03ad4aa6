package engine

import (
	"maps"
	"strconv"
	"sync"
)

// Names of counters, Scrapy's where it has one.
const (
	statRequests        = "downloader/request_count"
	statRequestBytes    = "downloader/request_bytes"
	statMethod          = "downloader/request_method_count/"
	statDownloaded      = "downloader/response_count"
	statResponseBytes   = "downloader/response_bytes"
	statStatus          = "downloader/response_status_count/"
	statExceptions      = "downloader/exception_count"
	statException       = "downloader/exception_type_count/"
	statResponses       = "response_received_count"
	statItems           = "item_scraped_count"
	statDropped         = "item_dropped_count"
	statDroppedReason   = "item_dropped_reasons_count/"
	statItemErrors      = "item_error_count"
	statRetries         = "retry/count"
	statRetryReason     = "retry/reason_count/"
	statRetriesOver     = "retry/max_reached"
	statRetryAfter      = "retry/after_count"
	statRedirects       = "redirect/count"
	statIgnored         = "httperror/response_ignored_count"
	statIgnoredStatus   = "httperror/response_ignored_status_count/"
	statSpiderErrors    = "spider_exceptions/count"
	statSpiderError     = "spider_exceptions/"
	statOffsite         = "offsite/filtered"
	statDepth           = "depth/request_ignored_count"
	statURLLength       = "urllength/request_ignored_count"
	statSeedsSkipped    = "seeds/skipped"
	statSeedsBad        = "seeds/bad"
	statFiles           = "file_count"
	statFileStatus      = "file_status_count/"
	statFileErrors      = "file_error_count"
	statFileError       = "file_error_count/"
	statFilesLater      = "file_later_count"
	statHandedBack      = "scheduler/handed_back"
	statRobots          = "robotstxt/request_count"
	statRobotsStatus    = "robotstxt/response_status_count/"
	statRobotsFailed    = "robotstxt/exception_count"
	statRobotsForbidden = "robotstxt/forbidden"
	statRobotsWaited    = "robotstxt/handed_back"
	statCookiesRefused  = "cookies/refused"
	mostDropReasonBytes = 100
)

// statusNames saves building a name for each page.
var statusNames = func() (names [600]string) {
	for i := range names {
		names[i] = statStatus + strconv.Itoa(i)
	}
	return names
}()

func statusStat(status int) string {
	if status >= 0 && status < len(statusNames) {
		return statusNames[status]
	}
	return statStatus + strconv.Itoa(status)
}

// totals are the counters of this process: of outcomes that Redis has taken.
type totals struct {
	mu     sync.Mutex
	counts map[string]int64 // guarded by mu
}

func newTotals() *totals { return &totals{counts: map[string]int64{}} }

func (t *totals) add(stats map[string]int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, by := range stats {
		t.counts[name] += by
	}
}

func (t *totals) get(name string) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[name]
}

func (t *totals) snapshot() map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.counts)
}
