// Package engine crawls one spider on one host.
package engine

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"luacrawl/engine/fetch/robots"
	"luacrawl/scheduler"
	"luacrawl/scheduler/weburl"
)

// Response is one fetched page as callbacks see it. It belongs to one goroutine and is dead after Release.
//
// Text, tree and base URL are made when they are first asked for. Strings that its methods return are copies that outlive it.
type Response struct {
	URL     string
	Status  int
	Header  http.Header
	Body    []byte // Content-Encoding undone
	Request *scheduler.Request

	Crawler  string            // the name by which sites call this crawler
	Sitemaps []string          // that the site's robots.txt names, as it does; nil when it was not asked for
	Obeyed   robots.Directives // of the page: what they forbid is not taken from its callback

	latency  time.Duration // from sending to the end of the header
	free     func()        // gives Body back; may be nil
	released bool

	decoded  []byte // Body as UTF-8, and Body itself where that is possible; nil before its first use
	encoding string
	text     *string
	doc      *document
	base     *weburl.Base
	baseErr  error
}

// Text is the body as UTF-8. Bytes without a meaning in the page's charset are U+FFFD, and a byte order mark is dropped.
func (r *Response) Text() string {
	if r.text == nil {
		text := string(r.utf8())
		r.text = &text
	}
	return *r.text
}

// Encoding is the name of the charset that Text was read with, as WHATWG Encoding has it, in lower case ("utf-8", "gbk").
func (r *Response) Encoding() string {
	r.utf8()
	return r.encoding
}

// utf8 is the body as UTF-8, for reading only.
func (r *Response) utf8() []byte {
	if r.encoding == "" {
		r.decoded, r.encoding = decodeBody(r.Body, r.Header.Get("Content-Type"))
	}
	return r.decoded
}

// document is the page's tree.
func (r *Response) document() *document {
	if r.doc == nil {
		r.doc = parseDocument(r.Text())
	}
	return r.doc
}

// Base is what links of the page are resolved against: its first <base href>, else URL. It is nil when URL cannot be read.
func (r *Response) Base() *weburl.Base {
	if r.base == nil && r.baseErr == nil {
		r.base, r.baseErr = r.findBase()
	}
	return r.base
}

func (r *Response) findBase() (*weburl.Base, error) {
	own, err := weburl.ParseBase(r.URL)
	if err != nil {
		return nil, fmt.Errorf("page %q: %w", r.URL, err)
	}
	if !mentionsTag(r.utf8(), "base") {
		return own, nil
	}
	href, ok := r.document().baseHref()
	if !ok {
		return own, nil
	}
	// A base that cannot be used, or could make a link into a script, counts for nothing (WHATWG HTML, "set the frozen base URL").
	u, err := own.Resolve(strings.Trim(href, htmlSpace))
	if err != nil || !weburl.IsHTTP(u) {
		return own, nil
	}
	if base, err := weburl.ParseBase(u); err == nil {
		return base, nil
	}
	return own, nil
}

// Join resolves a link of the page, as a browser would.
func (r *Response) Join(ref string) (string, error) {
	base := r.Base()
	if base == nil {
		return "", r.baseErr
	}
	u, err := base.Resolve(r.spellQuery(ref))
	if err != nil {
		return "", fmt.Errorf("link %q on %s: %w", ref, r.URL, err)
	}
	return u, nil
}

// Select returns the matches of a selector in document order.
func (r *Response) Select(s *Selector) *Selection {
	return &Selection{page: r, sel: s}
}

// Release gives the body back; the response must not be used afterwards.
func (r *Response) Release() {
	if r.released {
		return
	}
	if r.free != nil {
		r.free()
	}
	if r.doc != nil {
		r.doc.release()
	}
	*r = Response{URL: r.URL, Status: r.Status, Request: r.Request, released: true, encoding: utf8Name}
}

// Released reports whether Release has been called.
func (r *Response) Released() bool { return r.released }

// mentionsTag reports whether the source has a start tag of that name, or something that looks like one.
func mentionsTag(text []byte, tag string) bool {
	for {
		i := bytes.IndexByte(text, '<')
		if i < 0 || len(text)-i <= len(tag)+1 {
			return false
		}
		text = text[i+1:]
		if equalFold(text[:len(tag)], tag) {
			return true
		}
	}
}

// equalFold compares with a lower-case ASCII word.
func equalFold(b []byte, word string) bool {
	for i := range len(word) {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
