package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"luacrawl/engine/fetch"
	"luacrawl/scheduler/weburl"
)

// This file turns what a layer gives into settings of the network: addresses, names, proxies, headers. Errors do not repeat what may hold
// a password.

// words reads a list of texts: a list, or its entries with commas between them. Empty text is an empty list.
func words(v any) ([]string, error) {
	switch v := v.(type) {
	case string:
		if v == "" {
			return nil, nil
		}
		list := strings.Split(v, ",")
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		return list, nil
	case []any:
		list := make([]string, len(v))
		for i, one := range v {
			word, ok := one.(string)
			if !ok {
				return nil, fmt.Errorf("entry %d is no text", i+1)
			}
			list[i] = strings.TrimSpace(word)
		}
		return list, nil
	}
	return nil, errors.New("want a list of texts")
}

// allowAddresses reads addresses and ranges: 10.1.2.3, 10.0.0.0/8.
func allowAddresses(s *Settings, v any) error {
	list, err := words(v)
	if err != nil {
		return err
	}
	var allowed []netip.Prefix
	for _, word := range list {
		p, err := netip.ParsePrefix(word)
		if err != nil {
			a, e := netip.ParseAddr(word)
			if e != nil || a.Zone() != "" {
				return fmt.Errorf("want addresses and ranges, as in 10.1.2.3 or 10.0.0.0/8, got %q", word)
			}
			a = a.Unmap()
			p = netip.PrefixFrom(a, a.BitLen())
		}
		allowed = append(allowed, p.Masked())
	}
	s.AllowAddresses = allowed
	return nil
}

// resolve reads entries HOST=IP; several of one host are its addresses, best first.
func resolve(s *Settings, v any) error {
	list, err := words(v)
	if err != nil {
		return err
	}
	fixed := map[string][]netip.Addr{}
	for _, word := range list {
		host, address, _ := strings.Cut(word, "=")
		a, err := netip.ParseAddr(strings.Trim(strings.TrimSpace(address), "[]"))
		name, ok := hostName(strings.TrimSpace(host))
		if err != nil || a.Zone() != "" || !ok {
			return fmt.Errorf("want HOST=ADDRESS, as in shop.example=10.1.2.3, got %q", word)
		}
		fixed[name] = append(fixed[name], a.Unmap())
	}
	s.Resolve = fixed
	return nil
}

// hostName is a host as URLs have it: lower case, IDNA; without the dot at the end.
func hostName(word string) (string, bool) {
	if strings.ContainsAny(word, ":/?#@\\") {
		return "", false
	}
	u, err := weburl.Parse("http://" + word + "/")
	return strings.TrimSuffix(weburl.Hostname(u), "."), err == nil
}

func proxies(s *Settings, v any) error {
	list, err := words(v)
	if err != nil {
		return err
	}
	var all []*url.URL
	for i, word := range list {
		u, err := fetch.ParseProxy(word)
		if err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
		all = append(all, u)
	}
	s.Proxies = all
	return nil
}

// defaultHeaders reads a table of names and texts, or the same as a JSON object.
func defaultHeaders(s *Settings, v any) error {
	if text, ok := v.(string); ok {
		v = nil
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return errors.New(`want a table of headers, as JSON here: {"Accept-Language": "de"}`)
		}
	}
	table, ok := v.(map[string]any)
	if !ok {
		return errors.New(`want a table of headers: { ["Accept-Language"] = "de" }`)
	}
	h := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		value, ok := table[name].(string)
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !ok:
			return fmt.Errorf("header %q is no text", name)
		case !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value):
			return fmt.Errorf("header %q cannot be sent: its name or value has characters that headers have not", name)
		case canonical == "Host" || canonical == "Content-Length" || canonical == "Transfer-Encoding":
			return fmt.Errorf("header %q belongs to single requests", name)
		}
		h[canonical] = []string{value}
	}
	s.DefaultRequestHeaders = h
	return nil
}

// secret is text that errors do not repeat. It may be empty.
func secret(field func(*Settings) *string) func(*Settings, any) error {
	return func(s *Settings, v any) error {
		word, ok := v.(string)
		if !ok || strings.ContainsFunc(word, func(r rune) bool { return r < ' ' }) {
			return errors.New("want text without control characters")
		}
		*field(s) = word
		return nil
	}
}

func authDomain(s *Settings, v any) error {
	word, isText := v.(string)
	name, ok := hostName(word)
	if !isText || !ok {
		return fmt.Errorf("want a domain without scheme, port or path, as in news.example, got %v", v)
	}
	s.HTTPAuthDomain = name
	return nil
}

// checkAuth: credentials without a domain would go to every site.
func (s *Settings) checkAuth() error {
	switch {
	case s.HTTPUser != "" && s.HTTPAuthDomain == "":
		return errors.New("setting http_user: http_auth_domain is missing: name the domain that user and password are for; no other gets them")
	case s.HTTPUser == "" && s.HTTPPass != "":
		return errors.New("setting http_pass: http_user is missing")
	}
	return nil
}

// FetchConfig is what the settings say of downloads.
func (s *Settings) FetchConfig() fetch.Config {
	c := fetch.Config{
		Timeout: s.DownloadTimeout, MaxSize: s.DownloadMaxsize, UserAgent: s.UserAgent, Concurrency: s.ConcurrentRequests,
		Header:       s.DefaultRequestHeaders,
		AllowPrivate: s.AllowPrivateAddresses, AllowAddresses: s.AllowAddresses, Resolve: s.Resolve,
		Proxies: s.Proxies,
	}
	if s.HTTPUser != "" {
		c.Auth = fetch.BasicAuth{User: s.HTTPUser, Password: s.HTTPPass, Domain: s.HTTPAuthDomain}
	}
	return c
}
