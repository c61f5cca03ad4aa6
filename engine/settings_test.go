package engine_test

import (
	"strings"
	"testing"
	"time"

	"luacrawl/engine"
)

func TestApply(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		value any
		err   string // "" for none
	}{
		{"download_delay", 0.5, ""},
		{"download_delay", "500ms", ""},
		{"download_delay", -1.0, "want 0s to 24h0m0s"},
		{"download_delay", "soon", `want a number, got "soon"`},
		{"download_delay", true, "want a number, got true"},
		{"download_maxsize", "8MB", ""},
		{"download_maxsize", "8 parsecs", "want a number"},
		{"concurrent_requests", 16.0, ""},
		{"concurrent_requests", "16", ""},
		{"concurrent_requests", 1.5, "want a whole number from 1 to 10000"},
		{"concurrent_requests", 0.0, "want a whole number from 1 to 10000"},
		{"partition", "domain", ""},
		{"partition", "planet", "want one of [host domain none]"},
		{"dupefilter_debug", "true", ""},
		{"dupefilter_debug", "perhaps", "want true or false"},
		{"user_agent", "x\r\ny", "control characters"},
		{"handle_httpstatus_list", []any{404.0, 410.0}, ""},
		{"handle_httpstatus_list", "404,410", ""},
		{"handle_httpstatus_list", "404,x", "want status codes"},
		{"concurent_requests", 1.0, `unknown setting "concurent_requests": did you mean "concurrent_requests"?`},
		{"zzz", 1.0, `unknown setting "zzz"; README.md lists the settings`},
	} {
		s := engine.DefaultSettings()
		err := s.Apply("spiders/a.lua", map[string]any{c.name: c.value})
		switch {
		case c.err == "" && err != nil:
			t.Errorf("%s = %v: %v", c.name, c.value, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || !strings.HasPrefix(err.Error(), "spiders/a.lua: ")):
			t.Errorf("%s = %v: error %v, want %q", c.name, c.value, err, c.err)
		}
	}
}

func TestApplyUnits(t *testing.T) {
	t.Parallel()
	s := engine.DefaultSettings()
	if err := s.Apply("--set", map[string]any{"lease": "2m", "grace": 1.5, "download_maxsize": "1MB"}); err != nil {
		t.Fatal(err)
	}
	if s.Lease != 2*time.Minute || s.Grace != 1500*time.Millisecond || s.DownloadMaxsize != 1<<20 {
		t.Errorf("lease %v, grace %v, download_maxsize %d", s.Lease, s.Grace, s.DownloadMaxsize)
	}
}

func TestWhatIsNotBuiltIsRefused(t *testing.T) {
	t.Parallel()
	for _, values := range []map[string]any{{"robotstxt_obey": true}, {"allow_private_addresses": false}} {
		s := engine.DefaultSettings()
		if err := s.Apply("--set", values); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "not built yet") {
			t.Errorf("%v: %v", values, err)
		}
	}
}

func TestCheckLive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value, err string }{
		{"download_delay", "2", ""},
		{"concurrent_requests_per_domain", "4", ""},
		{"log_level", "debug", ""},
		{"retry_times", "5", ""},
		{"download_dely", "2", `did you mean "download_delay"?`},
		{"download_delay", "fast", `setting download_delay: want a number, got "fast"`},
		{"log_level", "7", "setting log_level: want one of"},
		{"partition", "none", "setting partition: it decides where in redis a request lies"},
		{"items_key", "x", "it decides where in redis"},
		{"robotstxt_obey", "false", "setting robotstxt_obey: it guards others"},
		{"allow_private_addresses", "true", "it guards others"},
		{"lease", "30", "all workers of a crawl agree on it"},
		{"download_timeout", "30", "a worker takes it when it starts"},
	} {
		err := engine.CheckLive(c.name, c.value)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s=%s: %v, want %q", c.name, c.value, err, c.err)
		}
	}
	for _, name := range engine.LiveSettings() {
		if err := engine.CheckLive(name, "1"); err != nil && strings.Contains(err.Error(), "takes it when") {
			t.Error(err)
		}
	}
}
