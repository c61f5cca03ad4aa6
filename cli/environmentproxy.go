package cli

import (
	"cmp"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"luacrawl/engine/fetch"
)

// environmentProxy is the choice that HTTP_PROXY, HTTPS_PROXY and NO_PROXY make (or the same in lower case, as curl reads them), nil
// when they name no proxy. In a CGI program HTTP_PROXY is the client's to set, and not believed.
func environmentProxy(environ []string) (func(*url.URL) (*url.URL, error), error) {
	get := func(name string) string {
		return cmp.Or(System{Environ: environ}.getenv(name), System{Environ: environ}.getenv(strings.ToLower(name)))
	}
	cfg := httpproxy.Config{HTTPProxy: get("HTTP_PROXY"), HTTPSProxy: get("HTTPS_PROXY"), NoProxy: get("NO_PROXY")}
	if get("REQUEST_METHOD") != "" {
		cfg.HTTPProxy = ""
	}
	if cfg.HTTPProxy == "" && cfg.HTTPSProxy == "" {
		return nil, nil
	}
	for _, p := range []struct{ name, value string }{{"HTTP_PROXY", cfg.HTTPProxy}, {"HTTPS_PROXY", cfg.HTTPSProxy}} {
		full := p.value
		if !strings.Contains(full, "://") {
			full = "http://" + full
		}
		if _, err := fetch.ParseProxy(full); p.value != "" && err != nil {
			return nil, usagef("environment variable %s: %w", p.name, err)
		}
	}
	return cfg.ProxyFunc(), nil
}
