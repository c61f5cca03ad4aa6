package cli_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

var metricsAddress = regexp.MustCompile(`metrics at (http://\S+)/metrics`)

// served is what a process answers at a path of its --metrics, "" when it does not.
func served(p *process, path string) (int, string) {
	at := metricsAddress.FindStringSubmatch(p.output.String())
	if at == nil {
		return 0, ""
	}
	res, err := http.Get(at[1] + path)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(body)
}

// TestMetricsOfAWorker: what it crawls shows, its health is that of its Redis, a removed spider goes, and an address in use is one clear error.
func TestMetricsOfAWorker(t *testing.T) {
	t.Parallel()
	p := newPushed(t, redistest.Options{}, &graphSite{pages: 100, links: 4})
	version := p.push(p.revision("0"))
	w := p.worker("luacrawl", "--metrics", "127.0.0.1:0")
	eventually(t, 20*time.Second, "the worker runs the spider", func() bool { return p.confirmed(1, version, false) })
	p.seed()
	p.crawled(time.Minute)
	shows := func(line string) func() bool {
		return func() bool {
			_, text := served(w, "/metrics")
			return regexp.MustCompile("(?m)^" + line + "$").MatchString(text)
		}
	}
	for _, line := range []string{
		`luacrawl_pages_total\{spider="graph"\} 100`,
		`luacrawl_responses_total\{spider="graph",status="200"\} 100`,
		`luacrawl_fetch_seconds_count\{spider="graph"\} 100`,
		`luacrawl_callback_seconds_count\{spider="graph"\} [1-9].*`,
		`luacrawl_commit_seconds_count\{spider="graph"\} [1-9].*`,
		`luacrawl_lease_seconds_count\{spider="graph"\} [1-9].*`,
		`luacrawl_pending_requests\{spider="graph"\} 0`,
	} {
		eventually(t, 20*time.Second, line, shows(line))
	}
	if code, text := served(w, "/healthz"); code != http.StatusOK {
		t.Errorf("healthy: %d %q", code, text)
	}
	address := strings.TrimPrefix(metricsAddress.FindStringSubmatch(w.output.String())[1], "http://")
	second := p.worker("luacrawl", "--metrics", address)
	second.wantExit(t, 20*time.Second, 1)
	if out := second.output.String(); !strings.Contains(out, "--metrics: "+address+" is in use by another program") {
		t.Errorf("an address in use: %s", out)
	}
	p.redis.Kill()
	eventually(t, 20*time.Second, "it is not healthy without Redis", func() bool {
		code, text := served(w, "/healthz")
		return code == http.StatusServiceUnavailable && strings.Contains(text, "does not answer")
	})
	eventually(t, 20*time.Second, "it says so", shows("luacrawl_redis_up 0"))
}
