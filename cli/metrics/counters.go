package metrics

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// other stands for label values that are none of the known ones, so that what a script or a server makes up adds no series.
const other = "other"

// counter is a family of counters: a counter of the crawl, or all that begin with a name and end with the value of a label.
type counter struct {
	stat  string // Scrapy's name, with a slash at its end when the label follows
	label string // "" for none
	value func(string) string
	desc  *prometheus.Desc
}

func newCounter(stat, name, help, label string, value func(string) string) counter {
	labels := []string{"spider"}
	if label != "" {
		labels = append(labels, label)
	}
	return counter{stat, label, value, prometheus.NewDesc(name, help, labels, nil)}
}

var counters = []counter{
	newCounter("response_received_count", "luacrawl_pages_total", "Pages that were given to the spider, or ignored for their status.", "", nil),
	newCounter("downloader/request_method_count/", "luacrawl_requests_total", "Requests that were sent, by method.", "method", oneOf("GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS")),
	newCounter("downloader/request_bytes", "luacrawl_request_bytes_total", "Bytes of requests that were sent.", "", nil),
	newCounter("downloader/response_status_count/", "luacrawl_responses_total", "Responses that were received, by status.", "status", status),
	newCounter("downloader/response_bytes", "luacrawl_response_bytes_total", "Bytes of responses as they were received.", "", nil),
	newCounter("downloader/exception_type_count/", "luacrawl_download_errors_total", "Downloads that failed without a response, by reason.", "reason", reason),
	newCounter("retry/reason_count/", "luacrawl_retries_total", "Requests that are tried again, by reason: a status or the kind of an error.", "reason", reason),
	newCounter("retry/max_reached", "luacrawl_retries_exhausted_total", "Requests that were given up after their retries.", "", nil),
	newCounter("redirect/count", "luacrawl_redirects_total", "Redirects that became requests.", "", nil),
	newCounter("httperror/response_ignored_status_count/", "luacrawl_ignored_responses_total", "Responses that callbacks do not get, by status.", "status", status),
	newCounter("item_scraped_count", "luacrawl_items_total", "Items that were stored.", "", nil),
	newCounter("item_dropped_count", "luacrawl_items_dropped_total", "Items that process_item dropped.", "", nil),
	newCounter("item_error_count", "luacrawl_item_errors_total", "Items whose process_item raised.", "", nil),
	newCounter("spider_exceptions/count", "luacrawl_callback_errors_total", "Callbacks and errbacks that raised.", "", nil),
	newCounter("offsite/filtered", "luacrawl_offsite_requests_total", "Requests outside of allowed_domains.", "", nil),
	newCounter("depth/request_ignored_count", "luacrawl_too_deep_requests_total", "Requests past depth_limit.", "", nil),
	newCounter("urllength/request_ignored_count", "luacrawl_too_long_requests_total", "Requests past urllength_limit.", "", nil),
	newCounter("seeds/skipped", "luacrawl_seeds_skipped_total", "Seeds of which the spider made nothing.", "", nil),
	newCounter("seeds/bad", "luacrawl_seeds_bad_total", "Seeds that could not be used.", "", nil),
	newCounter("scheduler/handed_back", "luacrawl_handed_back_total", "Requests handed back because their callback is one of another revision.", "", nil),
}

// collect sends the family's counters of one spider.
func (c counter) collect(ch chan<- prometheus.Metric, spider string, stats map[string]int64) {
	if c.label == "" {
		ch <- prometheus.MustNewConstMetric(c.desc, prometheus.CounterValue, float64(stats[c.stat]), spider)
		return
	}
	sums := map[string]int64{}
	for name, n := range stats {
		if tail, ok := strings.CutPrefix(name, c.stat); ok {
			sums[c.value(tail)] += n
		}
	}
	for value, n := range sums {
		ch <- prometheus.MustNewConstMetric(c.desc, prometheus.CounterValue, float64(n), spider, value)
	}
}

func oneOf(known ...string) func(string) string {
	return func(s string) string {
		if slices.Contains(known, s) {
			return s
		}
		return other
	}
}

// status keeps what may be a status of HTTP.
func status(s string) string {
	if len(s) != 3 || s[0] < '1' || s[0] > '5' || strings.Trim(s, "0123456789") != "" {
		return other
	}
	return s
}

var downloadError = oneOf("timeout", "dns", "connect", "tls", "broken", "too_large", "decode", "invalid", "canceled")

// reason is why a download failed or is tried again.
func reason(s string) string {
	if s := status(s); s != other {
		return s
	}
	return downloadError(s)
}
