// Package engine crawls one spider on one host.
package engine

import (
	"errors"
	"net/http"

	"luacrawl/scheduler"
	"luacrawl/scheduler/weburl"
)

// Response is one fetched page as callbacks see it. It belongs to one goroutine and is dead after Release.
type Response struct {
	URL     string
	Status  int
	Header  http.Header
	Body    []byte // Content-Encoding undone
	Request *scheduler.Request
}

// Text is the body as UTF-8.
func (r *Response) Text() string { return string(r.Body) }

// Encoding is the name of the charset that Text was read with, as WHATWG Encoding spells it.
func (r *Response) Encoding() string { return "utf-8" }

// Base is what links of the page are resolved against: <base href>, else URL.
func (r *Response) Base() *weburl.Base { return nil }

// Join resolves a link of the page, as a browser would.
func (r *Response) Join(ref string) (string, error) { return "", errors.New("stub") }

// Select returns the matches of a selector in document order.
func (r *Response) Select(s *Selector) *Selection { return nil }

// Links returns absolute http(s) URLs of a and area elements in document order.
func (r *Response) Links(f LinkFilter) ([]string, error) { return nil, errors.New("stub") }

// Release gives the body back; the response must not be used afterwards.
func (r *Response) Release() {}
