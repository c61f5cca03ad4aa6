package scheduler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"
)

// WireVersion is the version of the JSON form that Encode writes and DecodeRequest reads.
const WireVersion = 1

// ErrTooLarge says that a request's wire form is longer than MaxMember.
var ErrTooLarge = errors.New("request is too large for the frontier")

// headSize is what a queue puts before the wire form: 12 hex digits of sequence and 2 of attempts.
const headSize = 14

// wire is the JSON form of a Request: defaults left out, what the spider owns apart from what the engine keeps.
type wire struct {
	Version    int             `json:"v"`
	URL        string          `json:"url"`
	Method     string          `json:"method,omitempty"`
	Headers    http.Header     `json:"headers,omitempty"`
	Referer    string          `json:"referer,omitempty"` // in place of headers, for the many that have no other
	Cookies    RequestCookies  `json:"cookies,omitempty"`
	Body       string          `json:"body,omitempty"`
	BodyBase64 []byte          `json:"body_base64,omitempty"`
	Callback   string          `json:"callback,omitempty"`
	Errback    string          `json:"errback,omitempty"`
	Meta       json.RawMessage `json:"meta,omitempty"`
	CbKwargs   json.RawMessage `json:"cb_kwargs,omitempty"`
	Priority   int             `json:"priority,omitempty"`
	DontFilter bool            `json:"dont_filter,omitempty"`
	NotBefore  int64           `json:"not_before,omitempty"` // Unix milliseconds
	Slot       string          `json:"slot,omitempty"`
	State      *wireState      `json:"state,omitempty"`
}

type wireState struct {
	Depth         int    `json:"depth,omitempty"`
	RedirectTimes int    `json:"redirect_times,omitempty"`
	Trail         string `json:"trail,omitempty"`
	RetryTimes    int    `json:"retry_times,omitempty"`
	Throttled     int    `json:"throttled,omitempty"`
	Returned      int    `json:"returned,omitempty"`
	Revision      string `json:"revision,omitempty"`
}

// Encode returns the wire form: JSON without what is default (method GET, callback parse), a body that is not UTF-8 as base64.
// ErrTooLarge says that it is longer than a queue takes; other errors name the field that JSON cannot carry.
func (r *Request) Encode() ([]byte, error) {
	w, err := r.wire()
	if err != nil {
		return nil, err
	}
	if b, ok := w.appendPlain(make([]byte, 0, 256)); ok && len(b) <= MaxMember-headSize {
		return b, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(w); err != nil {
		return nil, fmt.Errorf("encoding request %s: %w", r.URL, err)
	}
	b := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if len(b) > MaxMember-headSize {
		return nil, fmt.Errorf("%w: %d bytes, at most %d; carry less in meta, cb_kwargs or body", ErrTooLarge, len(b), MaxMember-headSize)
	}
	return b, nil
}

func (r *Request) wire() (*wire, error) {
	if r.URL == "" {
		return nil, errors.New("encoding request: it has no url")
	}
	if err := r.checkText(); err != nil {
		return nil, fmt.Errorf("encoding request %q: %w", r.URL, err)
	}
	w := &wire{
		Version: WireVersion, URL: r.URL, Headers: r.Headers, Cookies: r.Cookies, Errback: r.Errback,
		Meta: object(r.Meta), CbKwargs: object(r.CbKwargs), Priority: r.Priority, DontFilter: r.DontFilter, Slot: r.Slot,
	}
	if referer := r.Headers["Referer"]; len(r.Headers) == 1 && len(referer) == 1 && referer[0] != "" {
		w.Headers, w.Referer = nil, referer[0]
	}
	if r.Method != http.MethodGet {
		w.Method = r.Method
	}
	if r.Callback != "parse" {
		w.Callback = r.Callback
	}
	if utf8.Valid(r.Body) {
		w.Body = string(r.Body)
	} else {
		w.BodyBase64 = r.Body
	}
	if !r.NotBefore.IsZero() {
		w.NotBefore = r.NotBefore.UnixMilli()
	}
	s := wireState{r.Depth, r.RedirectTimes, r.Trail, r.RetryTimes, r.Throttled, r.Returned, r.Revision}
	if s != (wireState{}) {
		w.State = &s
	}
	return w, nil
}

// checkText finds what encoding/json would silently change.
func (r *Request) checkText() error {
	for name, values := range r.Headers {
		for _, v := range values {
			if !utf8.ValidString(name) || !utf8.ValidString(v) {
				return fmt.Errorf("header %q is not UTF-8", name)
			}
		}
	}
	for _, c := range r.Cookies {
		for _, s := range []string{c.Name, c.Value, c.Domain, c.Path} {
			if !utf8.ValidString(s) {
				return fmt.Errorf("cookie %q is not UTF-8", c.Name)
			}
		}
	}
	switch {
	case !isObject(r.Meta):
		return errors.New("meta is not a JSON object in UTF-8")
	case !isObject(r.CbKwargs):
		return errors.New("cb_kwargs is not a JSON object in UTF-8")
	case !utf8.ValidString(r.URL):
		return errors.New("url is not UTF-8")
	}
	return nil
}

// isObject reports that raw is none or looks like a JSON object; encoding/json checks the rest.
func isObject(raw json.RawMessage) bool {
	b := object(raw)
	return b == nil || b[0] == '{' && utf8.Valid(b)
}

// object returns the JSON text of an object, or nil for none.
func object(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "{}" {
		return nil
	}
	return raw
}

// plain says what encoding/json found without the names of our types.
func plain(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	if wrong.Field == "" {
		return fmt.Errorf("it is a JSON %s", wrong.Value)
	}
	return fmt.Errorf("%s holds a JSON %s", wrong.Field, wrong.Value)
}

// DecodeRequest reads a wire form. Fields that it does not know are passed over; a version that it does not know,
// and what is no request at all, is an error that says so.
func DecodeRequest(b []byte) (*Request, error) {
	if r, ok := readPlain(string(b)); ok {
		return r, nil
	}
	return decodeRequest(b)
}

func decodeRequest(b []byte) (*Request, error) {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return nil, fmt.Errorf("not a request in JSON: %w", plain(err))
	}
	if w.Version != WireVersion {
		return nil, fmt.Errorf("request of version %d: this luacrawl reads version %d", w.Version, WireVersion)
	}
	if w.URL == "" {
		return nil, errors.New("request has no url")
	}
	r := &Request{
		URL: w.URL, Method: w.Method, Headers: w.Headers, Cookies: w.Cookies, Callback: w.Callback, Errback: w.Errback,
		Meta: object(w.Meta), CbKwargs: object(w.CbKwargs), Priority: w.Priority, DontFilter: w.DontFilter, Slot: w.Slot,
	}
	switch {
	case w.Referer == "":
	case len(w.Headers) == 0:
		r.Headers = http.Header{"Referer": {w.Referer}}
	default:
		return nil, errors.New("request has both headers and referer")
	}
	if err := r.checkText(); err != nil {
		return nil, err
	}
	switch {
	case w.Body != "" && w.BodyBase64 != nil:
		return nil, errors.New("request has both body and body_base64")
	case w.Body != "":
		r.Body = []byte(w.Body)
	case len(w.BodyBase64) > 0:
		r.Body = w.BodyBase64
	}
	if w.NotBefore > 0 {
		r.NotBefore = time.UnixMilli(w.NotBefore)
	}
	if s := w.State; s != nil {
		r.Depth, r.RedirectTimes, r.Trail, r.RetryTimes = s.Depth, s.RedirectTimes, s.Trail, s.RetryTimes
		r.Throttled, r.Returned, r.Revision = s.Throttled, s.Returned, s.Revision
	}
	return r, nil
}
