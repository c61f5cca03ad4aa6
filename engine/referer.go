package engine

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"luacrawl/scheduler"
	"luacrawl/scheduler/weburl"
)

// referrerPolicies are the values of setting referrer_policy, of the meta key and of the header Referrer-Policy (W3C Referrer Policy).
var referrerPolicies = []string{
	"no-referrer", "no-referrer-when-downgrade", "same-origin", "origin", "strict-origin", "origin-when-cross-origin",
	"strict-origin-when-cross-origin", "unsafe-url",
}

// maxReferer is the longest Referer in bytes; a longer one is cut to its origin, as browsers do.
const maxReferer = 4096

// referrer is a page as the requests that it leads to tell of it.
type referrer struct {
	full, origin string      // without user and fragment; origin ends in a slash
	policy       string      // where a request's meta names none
	full1        http.Header // headers of requests that have no others, made on first use and shared: nobody changes them
	origin1      http.Header
}

func newReferrer(pageURL, policy string) *referrer {
	scheme, _, _ := strings.Cut(pageURL, "://")
	host := weburl.Host(pageURL)
	f := &referrer{origin: scheme + "://" + host + "/", policy: policy}
	f.full = weburl.StripFragment(pageURL)
	if origin, path := splitOrigin(f.full); len(origin)+len(path) < len(f.full) { // there is a user
		f.full = origin + path
	}
	if len(f.full) > maxReferer {
		f.full = f.origin
	}
	return f
}

// to is the Referer of a request for target; "" is none.
func (f *referrer) to(target, policy string) string {
	same := strings.HasPrefix(target, f.origin)
	downgrade := strings.HasPrefix(f.full, "https:") && !strings.HasPrefix(target, "https:")
	switch policy {
	case "no-referrer":
		return ""
	case "same-origin":
		if !same {
			return ""
		}
	case "origin":
		return f.origin
	case "strict-origin":
		if downgrade {
			return ""
		}
		return f.origin
	case "origin-when-cross-origin":
		if !same {
			return f.origin
		}
	case "strict-origin-when-cross-origin":
		switch {
		case downgrade:
			return ""
		case !same:
			return f.origin
		}
	case "unsafe-url":
	default: // no-referrer-when-downgrade
		if downgrade {
			return ""
		}
	}
	return f.full
}

// leadsFrom makes resp the page that the requests of the next call tell of as their Referer, as Scrapy does. With nil they tell of none.
func (p *page) leadsFrom(resp *Response) {
	p.from = nil
	if p.Settings.RefererEnabled && resp != nil {
		p.from = newReferrer(resp.URL, p.referrerPolicy(resp))
	}
}

// headersOf is headers, or nil for a page of which nothing is told. Most requests of a page are duplicates, so they are asked for theirs
// when they are sent.
func (f *referrer) headersOf() func(*scheduler.Request) http.Header {
	if f == nil {
		return nil
	}
	return f.headers
}

// headers are those of a request with its Referer, by its own policy, the page's or the setting's; nil when it goes as it is: it has one,
// or none is due. The request is not touched: the script may have kept it.
func (f *referrer) headers(r *scheduler.Request) http.Header {
	if _, has := r.Headers["Referer"]; has {
		return nil
	}
	value := f.to(r.URL, requestPolicy(r, f.policy))
	switch {
	case value == "":
		return nil
	case len(r.Headers) > 0:
		return withReferer(r.Headers, value)
	case value == f.full:
		if f.full1 == nil {
			f.full1 = withReferer(nil, value)
		}
		return f.full1
	}
	if f.origin1 == nil {
		f.origin1 = withReferer(nil, value)
	}
	return f.origin1
}

func withReferer(h http.Header, value string) http.Header {
	full := make(http.Header, len(h)+1)
	maps.Copy(full, h)
	full["Referer"] = []string{value}
	return full
}

// referrerPolicy is the last policy in the response's header that we know, else the setting's.
func (p *page) referrerPolicy(resp *Response) string {
	policy := p.Settings.ReferrerPolicy
	for _, line := range resp.Header["Referrer-Policy"] {
		for word := range strings.SplitSeq(line, ",") {
			if word = strings.ToLower(strings.TrimSpace(word)); slices.Contains(referrerPolicies, word) {
				policy = word
			}
		}
	}
	return policy
}

func requestPolicy(r *scheduler.Request, otherwise string) string {
	var policy string
	if metaValue(r, "referrer_policy", &policy) && slices.Contains(referrerPolicies, policy) {
		return policy
	}
	return otherwise
}

// referAgain does for a redirect's target what its policy says of the page that the first request came from.
func (p *page) referAgain(next *scheduler.Request) {
	from := next.Headers.Get("Referer")
	if !p.Settings.RefererEnabled || !weburl.IsHTTP(from) {
		return
	}
	value := newReferrer(from, "").to(next.URL, requestPolicy(next, p.Settings.ReferrerPolicy))
	if value == from {
		return
	}
	next.Headers = withReferer(next.Headers, value)
	if value == "" {
		delete(next.Headers, "Referer")
	}
}
