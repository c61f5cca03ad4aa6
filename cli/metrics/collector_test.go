package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"luacrawl/cli/host"
	"luacrawl/engine"
)

// kit is a collector of made-up spiders, served.
type kit struct {
	*Collector
	t       *testing.T
	url     string
	spiders []host.Watched
	sick    error
}

func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{t: t}
	k.Collector = NewCollector("v1.2.3", func() time.Time { return time.Time{} })
	k.Watch(func() []host.Watched { return k.spiders })
	s, err := Listen("127.0.0.1:0", k.Collector, func(context.Context) error { return k.sick })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	k.url = "http://" + s.Address()
	return k
}

func (k *kit) get(path string) (int, string) {
	k.t.Helper()
	res, err := http.Get(k.url + path)
	if err != nil {
		k.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		k.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func (k *kit) families() map[string]*dto.MetricFamily {
	k.t.Helper()
	_, text := k.get("/metrics")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		k.t.Fatalf("%v in\n%s", err, text)
	}
	return families
}

// values are a family's, by the labels in their order without the spider's name.
func values(f *dto.MetricFamily, spider string) map[string]float64 {
	all := map[string]float64{}
	for _, m := range f.GetMetric() {
		var labels []string
		ours := false
		for _, l := range m.GetLabel() {
			if l.GetName() == "spider" {
				ours = l.GetValue() == spider
			} else {
				labels = append(labels, l.GetValue())
			}
		}
		if ours {
			all[strings.Join(labels, " ")] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}

func (k *kit) run(spider string, stats map[string]int64) engine.Observer {
	k.spiders = append(k.spiders, host.Watched{
		Status: host.Status{Spider: spider, Revision: strings.Repeat("ab", 32), Progress: engine.Progress{Pending: 7, InFlight: 3, Paused: true}}, Stats: stats,
	})
	return k.Observe(spider)
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	o := k.run("news", map[string]int64{
		"response_received_count": 10, "downloader/response_status_count/200": 9, "downloader/response_status_count/404": 1,
		"downloader/response_status_count/made up": 2, "downloader/response_status_count/7x7": 3, "retry/reason_count/timeout": 4, "retry/reason_count/503": 5,
		"retry/reason_count/made up": 6, "a script's own": 8, "downloader/request_method_count/GET": 11, "downloader/request_method_count/BREW": 1,
	})
	for range 3 {
		o.Fetched(time.Second)
	}
	o.Called(time.Millisecond)
	o.Committed(time.Millisecond)
	got := k.families()
	for name, want := range map[string]map[string]float64{
		"luacrawl_pages_total":        {"": 10},
		"luacrawl_items_total":        {"": 0},
		"luacrawl_responses_total":    {"200": 9, "404": 1, "other": 5},
		"luacrawl_retries_total":      {"timeout": 4, "503": 5, "other": 6},
		"luacrawl_requests_total":     {"GET": 11, "other": 1},
		"luacrawl_pending_requests":   {"": 7},
		"luacrawl_in_flight_requests": {"": 3},
		"luacrawl_paused":             {"": 1},
		"luacrawl_revision_info":      {"abababababab": 1},
		"luacrawl_fetch_seconds":      {"": 3},
		"luacrawl_callback_seconds":   {"": 1},
		"luacrawl_commit_seconds":     {"": 1},
		"luacrawl_lease_seconds":      {"": 0},
	} {
		if diff := cmp.Diff(want, values(got[name], "news")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, name := range []string{"go_goroutines", "process_cpu_seconds_total", "luacrawl_redis_up", "luacrawl_build_info"} {
		if got[name] == nil {
			t.Errorf("there is no %s", name)
		}
	}
}

// TestDroppedSpiderLeavesNoSeries: what the process no longer runs is gone, histograms included, and begins anew when it comes back.
func TestDroppedSpiderLeavesNoSeries(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.run("stays", nil)
	k.run("goes", map[string]int64{"response_received_count": 1}).Fetched(time.Second)
	if values(k.families()["luacrawl_fetch_seconds"], "goes")[""] != 1 {
		t.Error("the spider is not shown while it runs")
	}
	gone := k.spiders
	k.spiders = k.spiders[:1]
	if _, text := k.get("/metrics"); strings.Contains(text, `"goes"`) || !strings.Contains(text, `"stays"`) {
		t.Errorf("after it was dropped:\n%s", text)
	}
	k.spiders = gone
	k.Observe("goes")
	if n, shown := values(k.families()["luacrawl_fetch_seconds"], "goes")[""]; !shown || n != 0 {
		t.Errorf("%v downloads when it came back, shown %v", n, shown)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	if code, text := k.get("/healthz"); code != http.StatusOK || text != "ok\n" {
		t.Errorf("%d %q", code, text)
	}
	k.sick = errors.New("redis does not answer")
	if code, text := k.get("/healthz"); code != http.StatusServiceUnavailable || text != "redis does not answer\n" {
		t.Errorf("%d %q", code, text)
	}
}

func TestAddressInUse(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	address := strings.TrimPrefix(k.url, "http://")
	if _, err := Listen(address, k.Collector, nil); err == nil || !strings.Contains(err.Error(), address+" is in use by another program") {
		t.Errorf("got %v", err)
	}
	if _, err := Listen("nowhere", k.Collector, nil); err == nil || !strings.Contains(err.Error(), "give HOST:PORT") {
		t.Errorf("got %v", err)
	}
}

// TestPromtool asks Prometheus' own judge where it is installed.
func TestPromtool(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Log("promtool is not installed")
		return
	}
	k := newKit(t)
	k.run("news", nil)
	_, text := k.get("/metrics")
	check := exec.Command(promtool, "check", "metrics")
	check.Stdin = strings.NewReader(text)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestBoardShowsWhatThereIs: every metric that the Grafana board names exists.
func TestBoardShowsWhatThereIs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/fleet/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(text) {
		t.Fatal("the board is no JSON")
	}
	k := newKit(t)
	k.run("news", map[string]int64{"downloader/exception_type_count/dns": 1, "downloader/response_status_count/200": 1, "retry/reason_count/dns": 1})
	known := k.families()
	names := regexp.MustCompile(`\b(luacrawl|go|process)_[a-z_]+`).FindAllString(string(text), -1)
	if len(names) < 10 {
		t.Errorf("the board names %v only", names)
	}
	for _, name := range names {
		family := name
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if trimmed := strings.TrimSuffix(name, suffix); known[trimmed].GetType() == dto.MetricType_HISTOGRAM {
				family = trimmed
			}
		}
		if known[family] == nil {
			t.Errorf("the board shows %s, which does not exist", name)
		}
	}
}

// TestObserverAllocatesNothing: it is told of every page.
func TestObserverAllocatesNothing(t *testing.T) {
	o := NewCollector("", func() time.Time { return time.Time{} }).Observe("news")
	if n := testing.AllocsPerRun(100, func() { o.Fetched(time.Second); o.Called(time.Millisecond) }); n > 0 {
		t.Errorf("%.0f allocations a page", n)
	}
}
