package weburl

import "testing"

func TestParts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		url, host, hostname, domain string
		http                        bool
	}{
		{"http://www.news.co.uk/a?b#c", "www.news.co.uk", "www.news.co.uk", "news.co.uk", true},
		{"https://u:p@a.b.example:8443/@x", "a.b.example:8443", "a.b.example", "b.example", true},
		{"https://h.example?q=a@b/c", "h.example", "h.example", "h.example", true},
		{"http://[::1]:81/", "[::1]:81", "[::1]", "[::1]", true},
		{"http://[::1]/", "[::1]", "[::1]", "[::1]", true},
		{"http://127.0.0.1:80/", "127.0.0.1:80", "127.0.0.1", "127.0.0.1", true},
		{"http://localhost/", "localhost", "localhost", "localhost", true},
		{"http://co.uk/", "co.uk", "co.uk", "co.uk", true},
		{"http://www.example.com./", "www.example.com.", "www.example.com.", "example.com.", true},
		{"http://a..b/", "a..b", "a..b", "a..b", true},
		{"http://me.github.io/", "me.github.io", "me.github.io", "me.github.io", true},
		{"ftp://h.example/", "h.example", "h.example", "h.example", false},
		{"mailto:a@b.example", "", "", "", false},
		{"", "", "", "", false},
	} {
		if got := Host(tc.url); got != tc.host {
			t.Errorf("Host(%q) = %q, want %q", tc.url, got, tc.host)
		}
		if got := Hostname(tc.url); got != tc.hostname {
			t.Errorf("Hostname(%q) = %q, want %q", tc.url, got, tc.hostname)
		}
		if got := Domain(Hostname(tc.url)); got != tc.domain {
			t.Errorf("Domain(%q) = %q, want %q", Hostname(tc.url), got, tc.domain)
		}
		if got := IsHTTP(tc.url); got != tc.http {
			t.Errorf("IsHTTP(%q) = %v", tc.url, got)
		}
	}
	if got := StripFragment("http://h.example/a?b#c#d"); got != "http://h.example/a?b" {
		t.Errorf("StripFragment = %q", got)
	}
}
