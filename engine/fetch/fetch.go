// Package fetch downloads pages over HTTP within limits of time and size.
package fetch

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Config are the limits of a Downloader. The zero value of a field means its default.
type Config struct {
	Timeout     time.Duration // of a whole download; 60 s
	MaxSize     int64         // of a body after decoding, in bytes; 32 MB
	MaxInMemory int64         // of all bodies together; 256 MB
	UserAgent   string
	Concurrency int // connections kept
}

// Downloader fetches pages. It is safe for concurrent use.
type Downloader struct{}

// New makes a Downloader.
func New(cfg Config) *Downloader { return &Downloader{} }

// Request is what to fetch.
type Request struct {
	Method string
	URL    string
	Header http.Header
	Body   []byte
}

// Response is a page that was fetched whole. Redirects are not followed.
type Response struct {
	Status        int
	Header        http.Header
	Body          []byte // Content-Encoding undone
	BytesSent     int64  // request line, headers and body
	BytesReceived int64  // status line, headers and body as on the wire
	Latency       time.Duration
}

// Release gives the body's memory back.
func (r *Response) Release() {}

// Kind says what went wrong with a download.
type Kind string

// Kinds of errors.
const (
	KindTimeout  Kind = "timeout"
	KindDNS      Kind = "dns"
	KindConnect  Kind = "connect"
	KindTLS      Kind = "tls"
	KindBroken   Kind = "broken"    // the connection ended before the page was whole
	KindTooLarge Kind = "too_large" // more than MaxSize
	KindDecode   Kind = "decode"    // Content-Encoding cannot be undone
	KindInvalid  Kind = "invalid"   // the request cannot be sent
	KindCanceled Kind = "canceled"
)

// Error is a download that failed.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return string(e.Kind) + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether another try may succeed.
func (e *Error) Temporary() bool { return false }

// Fetch downloads one page. Every error is an *Error.
func (d *Downloader) Fetch(ctx context.Context, r *Request) (*Response, error) {
	return nil, &Error{KindInvalid, errors.New("stub")}
}

// Close ends idle connections.
func (d *Downloader) Close() {}
