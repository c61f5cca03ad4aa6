package scheduler

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"
)

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
	ReasonSinkRefused     = "sink_refused"
	ReasonWrongType       = "wrong_type" // the queue's key holds another type
	ReasonPurged          = "purged"     // a person has purged the requests of its revision
)

// DeadLetter is a seed, a request or an item that was given up, as S:dead holds it.
type DeadLetter struct {
	Kind     string          `json:"kind"`
	Reason   string          `json:"reason"`
	Error    string          `json:"error,omitempty"`
	Detail   string          `json:"detail,omitempty"` // of a script's error: the source line with a caret, the traceback
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

// Describe fills in which seed or request a letter is about.
func (d *DeadLetter) Describe(l Lease) {
	switch {
	case l.Seed != nil:
		d.Seed = string(l.Seed)
	case l.Request != nil:
		d.URL, d.Callback = l.Request.URL, l.Request.Callback
		d.Request, _ = l.Request.Encode() // it came from a queue, so it has a wire form
	default:
		d.Request = l.Raw
	}
}

// encode returns the letter's JSON, with what every letter has filled in.
func (d DeadLetter) encode(worker, revision string) []byte {
	if d.Worker == "" {
		d.Worker = worker
	}
	if d.Revision == "" {
		d.Revision = revision
	}
	if d.Time == 0 {
		d.Time = time.Now().Unix()
	}
	if !utf8.ValidString(d.Seed) {
		d.Seed, d.SeedB64 = "", []byte(d.Seed)
	}
	d.Request, d.Item = valid(d.Request), valid(d.Item)
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.Encode(d) // cannot fail: raw parts are valid JSON
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// valid returns raw JSON, or what is not JSON as a JSON string.
func valid(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || json.Valid(raw) {
		return raw
	}
	quoted, _ := json.Marshal(string(raw))
	return quoted
}
