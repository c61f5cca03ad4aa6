// Package metrics shows what a process does to Prometheus.
package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"luacrawl/cli/host"
	"luacrawl/engine"
	"luacrawl/scheduler"
)

// Collector gathers the metrics of a process when it is asked for them: counters and gauges from what its spiders say then, and histograms from
// what their crawls have told since they began. A spider that the process no longer runs is left out, with all its series.
type Collector struct {
	registry *prometheus.Registry
	down     func() time.Time // since when Redis does not answer; zero when it does

	mu      sync.Mutex
	ask     func() []host.Watched // guarded by mu
	timings map[string]*timings   // guarded by mu; by spider
}

// NewCollector makes a Collector without spiders. version is that of luacrawl.
func NewCollector(version string, down func() time.Time) *Collector {
	c := &Collector{registry: prometheus.NewRegistry(), down: down, ask: func() []host.Watched { return nil }, timings: map[string]*timings{}}
	c.registry.MustRegister(c, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "luacrawl_build_info", Help: "1; the version of luacrawl.", ConstLabels: prometheus.Labels{"version": version}}, func() float64 { return 1 }),
	)
	return c
}

// Watch says how to ask what the spiders do.
func (c *Collector) Watch(ask func() []host.Watched) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ask = ask
}

// Observe is what a spider's crawls tell.
func (c *Collector) Observe(spider string) engine.Observer {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timings[spider] == nil {
		c.timings[spider] = newTimings(spider)
	}
	return c.timings[spider]
}

var (
	spiderLabel  = []string{"spider"}
	pendingDesc  = prometheus.NewDesc("luacrawl_pending_requests", "Requests that wait in the whole fleet, as last heard.", spiderLabel, nil)
	inFlightDesc = prometheus.NewDesc("luacrawl_in_flight_requests", "Leases that this process holds.", spiderLabel, nil)
	pausedDesc   = prometheus.NewDesc("luacrawl_paused", "1 while the spider is paused in the whole fleet.", spiderLabel, nil)
	idleDesc     = prometheus.NewDesc("luacrawl_idle", "1 while this process waits for seeds of the spider.", spiderLabel, nil)
	brokenDesc   = prometheus.NewDesc("luacrawl_revision_broken", "1 while the newest revision cannot be run here and an older one, or none, is.", spiderLabel, nil)
	revisionDesc = prometheus.NewDesc("luacrawl_revision_info", "1; the revision of the spider that runs here, 12 hex digits.", []string{"spider", "revision"}, nil)
	redisUpDesc  = prometheus.NewDesc("luacrawl_redis_up", "1 while Redis answers this process.", nil, nil)
)

// Describe is the prometheus.Collector's.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{pendingDesc, inFlightDesc, pausedDesc, idleDesc, brokenDesc, revisionDesc, redisUpDesc} {
		ch <- d
	}
	for _, k := range counters {
		ch <- k.desc
	}
}

// Collect is the prometheus.Collector's.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	ask := c.ask
	c.mu.Unlock()
	gauge(ch, redisUpDesc, c.down().IsZero())
	runs := map[string]bool{}
	for _, s := range ask() {
		runs[s.Spider] = true
		collectSpider(ch, s)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for spider, t := range c.timings {
		if !runs[spider] {
			delete(c.timings, spider)
			continue
		}
		t.collect(ch)
	}
}

func collectSpider(ch chan<- prometheus.Metric, s host.Watched) {
	for _, k := range counters {
		k.collect(ch, s.Spider, s.Stats)
	}
	ch <- prometheus.MustNewConstMetric(pendingDesc, prometheus.GaugeValue, float64(s.Progress.Pending), s.Spider)
	ch <- prometheus.MustNewConstMetric(inFlightDesc, prometheus.GaugeValue, float64(s.Progress.InFlight), s.Spider)
	gauge(ch, pausedDesc, s.Progress.Paused, s.Spider)
	gauge(ch, idleDesc, s.Progress.Idle, s.Spider)
	gauge(ch, brokenDesc, s.Broken != "", s.Spider)
	if s.Revision != "" {
		gauge(ch, revisionDesc, true, s.Spider, scheduler.ShortRevision(s.Revision))
	}
}

func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, on bool, labels ...string) {
	value := 0.0
	if on {
		value = 1
	}
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}
