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
		{"cookies_debug", "true", ""},
		{"cookies_debug", 1.0, "want true or false"},
		{"autothrottle_debug", true, ""},
		{"concurrent_requests_total", "5", ""},
		{"concurrent_requests_total", -1.0, "want a whole number from 0"},
		{"user_agent", "x\r\ny", "control characters"},
		{"handle_httpstatus_list", []any{404.0, 410.0}, ""},
		{"handle_httpstatus_list", "404,410", ""},
		{"handle_httpstatus_list", "404,x", "want status codes"},
		{"allow_addresses", []any{"10.0.0.0/8", "::1"}, ""},
		{"allow_addresses", "10.0.0.0/8, 127.0.0.1", ""},
		{"allow_addresses", "", ""},
		{"allow_addresses", "localhost", `want addresses and ranges, as in 10.1.2.3 or 10.0.0.0/8, got "localhost"`},
		{"allow_addresses", 10.0, "want a list of texts"},
		{"allow_addresses", []any{10.0}, "entry 1 is no text"},
		{"resolve", []any{"shop.example=10.0.0.1", "shop.example=[::1]", "münchen.example=10.0.0.2"}, ""},
		{"resolve", "a.example=127.0.0.1,b.example=127.0.0.1", ""},
		{"resolve", "a.example", "want HOST=ADDRESS"},
		{"resolve", "a.example:80=127.0.0.1", "want HOST=ADDRESS"},
		{"resolve", "a.example=b.example", "want HOST=ADDRESS"},
		{"proxies", "http://a:3128,socks5://b", ""},
		{"proxies", []any{"http://me:s3cret@a:3128"}, ""},
		{"proxies", "http://a:3128,b:1080", "entry 2: want a proxy's URL"},
		{"default_request_headers", map[string]any{"accept-language": "de"}, ""},
		{"default_request_headers", `{"Accept-Language": "de"}`, ""},
		{"default_request_headers", "Accept-Language: de", "as JSON here"},
		{"default_request_headers", []any{"x"}, "want a table of headers"},
		{"default_request_headers", map[string]any{"X": "a\r\nb"}, `header "X" cannot be sent`},
		{"default_request_headers", map[string]any{"a b": "x"}, `header "a b" cannot be sent`},
		{"default_request_headers", map[string]any{"host": "x"}, `header "host" belongs to single requests`},
		{"download_slots", map[string]any{"Example.COM": map[string]any{"delay": 2.0, "concurrency": 1.0, "randomize_delay": true}, "b.example": map[string]any{}}, ""},
		{"download_slots", `{"a.example": {"delay": "500ms"}}`, ""},
		{"download_slots", `{}`, ""},
		{"download_slots", "a.example", "as JSON here"},
		{"download_slots", []any{"a.example"}, "want a table of sites"},
		{"download_slots", map[string]any{"a.example": 2.0}, `"a.example": want a table`},
		{"download_slots", map[string]any{"a.example": map[string]any{"delay": -1.0}}, `"a.example": delay: want 0s to 24h`},
		{"download_slots", map[string]any{"a.example": map[string]any{"concurrency": 0.0}}, `"a.example": concurrency: want a whole number from 1`},
		{"download_slots", map[string]any{"a.example": map[string]any{"throttle": 1.0}}, `unknown "throttle": a site has concurrency, delay, randomize_delay`},
		{"download_slots", map[string]any{"a.example": map[string]any{}, "A.example:80": map[string]any{}}, `"a.example" is named twice`},
		{"download_slots", map[string]any{"http://a.example/": map[string]any{}}, `write the host alone, "a.example"`},
		{"closespider_pagecount_per_slot", -1.0, "want a whole number from 0"},
		{"randomize_download_delay", "maybe", "want true or false"},
		{"referrer_policy", "origin", ""},
		{"referrer_policy", "all", "want one of [no-referrer "},
		{"http_auth_domain", "News.example", ""},
		{"http_auth_domain", "https://news.example", "want a domain without scheme"},
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

// No edit of a spider, and nothing that is set while a crawl runs, opens the network that it runs in.
func TestTheGuardIsNotLive(t *testing.T) {
	t.Parallel()
	for _, doc := range engine.SettingDocs() {
		switch doc.Name {
		case "allow_private_addresses", "allow_addresses", "resolve", "proxies", "http_user", "http_pass", "http_auth_domain":
			if doc.Live {
				t.Errorf("%s can be changed while a crawl runs", doc.Name)
			}
		}
	}
	if s := engine.DefaultSettings(); s.AllowPrivateAddresses || s.FetchConfig().AllowPrivate {
		t.Error("private addresses are allowed unasked")
	}
}

func TestPasswordsAreNotShown(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{
		"proxies":   []any{"http://me:s3cret@a:3128", "socks4://me:s3cret@b:1"},
		"http_pass": []any{"s3cret"},
	} {
		s := engine.DefaultSettings()
		if err := s.Apply("--set", map[string]any{name: value}); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCredentialsNeedADomain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values map[string]any
		err    string
	}{
		{map[string]any{"http_user": "me", "http_pass": "x", "http_auth_domain": "news.example"}, ""},
		{map[string]any{"http_user": "me", "http_pass": "x"}, "http_auth_domain is missing"},
		{map[string]any{"http_pass": "x"}, "http_user is missing"},
	} {
		s := engine.DefaultSettings()
		if err := s.Apply("--set", c.values); err != nil {
			t.Fatal(err)
		}
		err := s.Validate()
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: %v", c.values, err)
		}
	}
}
