package scheduler

import (
	"encoding/json"
	"time"
)

// Lease is one request or one seed handed to this worker for a time. Its ID is the fence: a commit
// under an ID that has expired stores nothing.
type Lease struct {
	ID       string
	Slot     string
	Attempts int      // leases of it that ended without an outcome
	Request  *Request // nil for a seed or when Err is set
	Seed     []byte   // the raw seed; nil for a request
	Err      error    // the member could not be read; Raw has it
	Raw      []byte
}

// Outcome is everything that one lease caused. It is committed as a whole or not at all.
type Outcome struct {
	Lease    Lease
	Items    [][]byte // flat JSON
	Children []Child
	Dead     []DeadLetter
	Stats    map[string]int64 // counters to raise, with Scrapy's names
	Hold     time.Duration    // keep off the slot for so long (Retry-After); 0 means no
}

// Child is a request that an outcome adds to the frontier.
type Child struct {
	Request *Request
	Force   bool          // add it even if it was seen before (a retry, a handing back); it is recorded all the same
	Delay   time.Duration // due so long after the commit, by Redis' clock
}

// Kinds of dead letters.
const (
	DeadRequest = "request"
	DeadSeed    = "seed"
	DeadItem    = "item"
)

// Reasons of dead letters.
const (
	ReasonAttempts        = "lease_attempts"   // its lease ended too often: it may be killing workers
	ReasonUnreadable      = "unreadable"       // a member of a queue that is none of ours
	ReasonBadSeed         = "bad_seed"         // make_request_from_data could not use it
	ReasonCallbackError   = "callback_error"   // the callback raised
	ReasonUnknownCallback = "unknown_callback" // no revision at hand has the callback
	ReasonDownload        = "download_error"   // retries used up
	ReasonTooLarge        = "request_too_large"
	ReasonProcessItem     = "process_item_error"
	ReasonWrongType       = "wrong_type" // the queue's key holds another type
)

// DeadLetter is a seed, a request or an item that was given up, as S:dead holds it.
type DeadLetter struct {
	Kind     string          `json:"kind"`
	Reason   string          `json:"reason"`
	Error    string          `json:"error,omitempty"`
	URL      string          `json:"url,omitempty"`
	Callback string          `json:"callback,omitempty"`
	Request  json.RawMessage `json:"request,omitempty"` // wire form
	Seed     string          `json:"seed,omitempty"`    // UTF-8, else in seed_base64
	SeedB64  []byte          `json:"seed_base64,omitempty"`
	Item     json.RawMessage `json:"item,omitempty"`
	Attempts int             `json:"attempts,omitempty"`
	Worker   string          `json:"worker,omitempty"`
	Revision string          `json:"revision,omitempty"`
	Time     int64           `json:"time,omitempty"` // Unix seconds
}
