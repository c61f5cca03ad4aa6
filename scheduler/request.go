// Package scheduler is the Redis side of a crawl: the frontier, its leases, the duplicate filter, seeds, items and stats.
package scheduler

import (
	"encoding/json"
	"net/http"
	"time"
)

// MaxMember is the largest request that a frontier takes, in bytes of its wire form.
const MaxMember = 64 << 10

// FilesCallback is the callback of a request for a file of an item. No function of a spider has such a name.
const FilesCallback = "@files"

// Request is one page to fetch, as a frontier holds it.
type Request struct {
	URL      string         // absolute http(s) URL, normalised as WHATWG URL has it
	Method   string         // upper case; "" means GET
	Headers  http.Header    // what the spider asked for, beside the defaults
	Cookies  RequestCookies // merged into the request's jar before it is sent
	Body     []byte
	Callback string // the spider's function for the response; "" means parse
	Errback  string // the spider's function for a failure; "" means none

	Meta     json.RawMessage // the spider's own JSON object, or nil
	CbKwargs json.RawMessage // JSON object of named arguments for the callback, or nil

	Priority   int       // higher is fetched first within a slot
	DontFilter bool      // skip the duplicate check; the request is recorded all the same
	NotBefore  time.Time // zero: at once
	Slot       string    // its unit of politeness, as SlotName gives it; "" is that of its URL

	// What the engine keeps. A spider may read it and cannot set it.
	Depth         int    // links followed from the seed
	RedirectTimes int    // redirects behind this request
	Trail         string // what they were of and with which cookies, as the engine writes it
	RetryTimes    int    // failed downloads behind this request
	Throttled     int    // answers 429 that do not count among them
	Returned      int    // times it was handed back because its callback was unknown
	Revision      string // revision of the spider that made it
}
