package scheduler

import (
	"crypto/sha1"
	"encoding/hex"
	"net/http"
	"unicode/utf16"
	"unicode/utf8"

	"luacrawl/scheduler/weburl"
)

// Fingerprint is scrapy-redis' fingerprint of a request: the SHA1 of method, canonical URL and body.
type Fingerprint [sha1.Size]byte

// String returns the 40 hex digits that the duplicate filter holds.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// Fingerprint computes the request's fingerprint, bit-identical to scrapy-redis' request_fingerprint
// (RFPDupeFilter, since 0.8): the SHA1 of Python's json.dumps({"method", "url", "body"}, sort_keys=True).
//
// A request for a file of an item has another one than the page of that URL: neither keeps the other from being fetched.
func (r *Request) Fingerprint() Fingerprint {
	if r.Callback == FilesCallback {
		return fingerprint(FilesCallback+" "+r.Method, weburl.Canonicalize(r.URL), r.Body)
	}
	return fingerprint(r.Method, weburl.Canonicalize(r.URL), r.Body)
}

// fingerprint builds the JSON text by hand: encoding/json escapes and spaces it differently from Python.
// Short requests allocate nothing.
func fingerprint(method, canonical string, body []byte) Fingerprint {
	if method == "" {
		method = http.MethodGet
	}
	var stack [512]byte
	b := append(stack[:0], `{"body": "`...)
	b = hex.AppendEncode(b, body)
	b = append(b, `", "method": "`...)
	b = appendPython(b, method)
	b = append(b, `", "url": "`...)
	b = appendPython(b, canonical)
	b = append(b, `"}`...)
	return sha1.Sum(b)
}

// appendPython appends s as Python's json.dumps does with ensure_ascii.
func appendPython(b []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c <= '~' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		r, size := utf8.DecodeRuneInString(s[i:])
		b = appendEscape(b, r)
		i += size
		start = i
	}
	return append(b, s[start:]...)
}

func appendEscape(b []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	}
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return appendUnit(appendUnit(b, high), low)
	}
	return appendUnit(b, r)
}

// appendUnit appends one UTF-16 unit as \u and four hexadecimal digits.
func appendUnit(b []byte, u rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[u>>12&15], digits[u>>8&15], digits[u>>4&15], digits[u&15])
}
