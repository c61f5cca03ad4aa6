package engine

import (
	"net/http"
	"strings"
	"testing"

	"luacrawl/scheduler"
)

// Rows after the examples of W3C Referrer Policy, section 3.
func TestReferrerPolicies(t *testing.T) {
	t.Parallel()
	const page, origin = "https://u:p@a.example/x?y#z", "https://a.example/"
	const full = "https://a.example/x?y"
	same, other, plain := "https://a.example/2", "https://b.example/", "http://a.example/"
	for _, c := range []struct{ policy, same, other, plain string }{
		{"no-referrer", "", "", ""},
		{"no-referrer-when-downgrade", full, full, ""},
		{"same-origin", full, "", ""},
		{"origin", origin, origin, origin},
		{"strict-origin", origin, origin, ""},
		{"origin-when-cross-origin", full, origin, origin},
		{"strict-origin-when-cross-origin", full, origin, ""},
		{"unsafe-url", full, full, full},
	} {
		for target, want := range map[string]string{same: c.same, other: c.other, plain: c.plain} {
			if got := newReferrer(page, "").to(target, c.policy); got != want {
				t.Errorf("%s to %s: %q, want %q", c.policy, target, got, want)
			}
		}
	}
	if got := newReferrer("http://a.example/?"+strings.Repeat("x", 5000), "").to("http://a.example/", "unsafe-url"); got != "http://a.example/" {
		t.Errorf("a long one: %q", got)
	}
	if got := newReferrer("http://a.example/x", "").to("http://a.example.evil.example/", "same-origin"); got != "" {
		t.Errorf("another host that begins alike: %q", got)
	}
	for page, want := range map[string]string{
		"http://a.example/@a.example/":               "http://a.example/@a.example/",
		"http://a.example?@a.example/":               "http://a.example?@a.example/",
		"https://a.example:pw@a.example/x":           "https://a.example/x",
		"https://a.example@a.example/x?y@z":          "https://a.example/x?y@z",
		"https://a.example:pw@a.example:8443/x":      "https://a.example:8443/x",
		"https://u:p@a.example:pw@a.example/x?u@v#w": "https://a.example/x?u@v",
		"https://u@[::1]:8443/x":                     "https://[::1]:8443/x",
	} {
		if got := newReferrer(page, "").full; got != want {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
}

func TestRefer(t *testing.T) {
	t.Parallel()
	settings := DefaultSettings()
	p := &page{Settings: &settings}
	resp := func(policy ...string) *Response {
		return &Response{URL: "https://a.example/x", Header: http.Header{"Referrer-Policy": policy}}
	}
	own := http.Header{"X": {"1"}}
	for _, c := range []struct {
		name string
		resp *Response
		r    scheduler.Request
		want string
	}{
		{"default", resp(), scheduler.Request{URL: "https://b.example/"}, "https://a.example/x"},
		{"beside other headers", resp(), scheduler.Request{URL: "https://b.example/", Headers: own}, "https://a.example/x"},
		{"its own", resp(), scheduler.Request{URL: "https://b.example/", Headers: http.Header{"Referer": {"y"}}}, "y"},
		{"the page's policy", resp("origin"), scheduler.Request{URL: "https://b.example/"}, "https://a.example/"},
		{"the last policy that is known", resp("no-referrer, Origin, new-policy"), scheduler.Request{URL: "https://b.example/"}, "https://a.example/"},
		{"the request's policy", resp("origin"), scheduler.Request{URL: "https://b.example/", Meta: []byte(`{"referrer_policy":"no-referrer"}`)}, ""},
		{"a policy that is none", resp("origin"), scheduler.Request{URL: "https://b.example/", Meta: []byte(`{"referrer_policy":"x"}`)}, "https://a.example/"},
		{"downgrade", resp(), scheduler.Request{URL: "http://b.example/"}, ""},
		{"no page", nil, scheduler.Request{URL: "http://b.example/"}, ""},
	} {
		r := c.r
		p.leadsFrom(c.resp)
		headers := r.Headers
		if of := p.from.headersOf(); of != nil {
			if full := of(&r); full != nil {
				headers = full
			}
		}
		if got := headers.Get("Referer"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if len(own) != 1 {
		t.Errorf("a header of the spider was changed: %v", own)
	}
	settings.RefererEnabled = false
	p.leadsFrom(resp())
	if p.from.headersOf() != nil {
		t.Error("turned off: it is told")
	}
}

func TestReferAgain(t *testing.T) {
	t.Parallel()
	settings := DefaultSettings()
	p := &page{Settings: &settings}
	for _, c := range []struct{ referer, target, policy, want string }{
		{"https://a.example/x", "https://b.example/", "", "https://a.example/x"},
		{"https://a.example/x", "http://b.example/", "", ""},
		{"https://a.example/x", "https://b.example/", "origin-when-cross-origin", "https://a.example/"},
		{"mine", "http://b.example/", "", "mine"},
		{"", "http://b.example/", "", ""},
	} {
		before := http.Header{"X": {"1"}}
		if c.referer != "" {
			before.Set("Referer", c.referer)
		}
		r := scheduler.Request{URL: c.target, Headers: before, Meta: []byte(`{"referrer_policy":"` + c.policy + `"}`)}
		if p.referAgain(&r); r.Headers.Get("Referer") != c.want || r.Headers.Get("X") != "1" || before.Get("Referer") != c.referer {
			t.Errorf("%+v: %v, before %v", c, r.Headers, before)
		}
	}
}
