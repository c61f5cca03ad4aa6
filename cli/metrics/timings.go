package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// timings are the histograms of one spider. It is an engine.Observer.
type timings struct{ fetch, callback, lease, commit prometheus.Histogram }

func newTimings(spider string) *timings {
	histogram := func(name, help string, least float64, buckets int) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: name, Help: help, ConstLabels: prometheus.Labels{"spider": spider}, Buckets: prometheus.ExponentialBuckets(least, 2, buckets),
		})
	}
	return &timings{
		fetch:    histogram("luacrawl_fetch_seconds", "Time of a download, whole.", 0.002, 15),                            // to 33 s
		callback: histogram("luacrawl_callback_seconds", "Time of a call into the spider.", 0.0001, 16),                   // to 3.3 s
		lease:    histogram("luacrawl_lease_seconds", "Time of a round trip to Redis that asked for leases.", 0.0001, 16), // to 3.3 s
		commit:   histogram("luacrawl_commit_seconds", "Time of a round trip to Redis that committed pages.", 0.0001, 16),
	}
}

func (t *timings) Fetched(d time.Duration)   { t.fetch.Observe(d.Seconds()) }
func (t *timings) Called(d time.Duration)    { t.callback.Observe(d.Seconds()) }
func (t *timings) Leased(d time.Duration)    { t.lease.Observe(d.Seconds()) }
func (t *timings) Committed(d time.Duration) { t.commit.Observe(d.Seconds()) }

func (t *timings) collect(ch chan<- prometheus.Metric) {
	for _, h := range []prometheus.Histogram{t.fetch, t.callback, t.lease, t.commit} {
		h.Collect(ch)
	}
}
