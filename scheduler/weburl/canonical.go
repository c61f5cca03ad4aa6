package weburl

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Canonicalize returns the canonical form of a URL that scrapy-redis' fingerprint is made of: w3lib's
// canonicalize_url with its defaults. The path's escapes are decoded where that is harmless and else written in upper
// case, query arguments are sorted by name and value and written as a form would, the fragment is dropped; dot
// segments and ports stay. Any string is taken and none is refused.
//
// It is not idempotent for a path in which decoding makes a new escape (%2541, %%41): w3lib decodes one level each
// time, and a shared filter needs the same answer.
func Canonicalize(raw string) string {
	if n, ok := canonicalPrefix(raw); ok {
		return raw[:n]
	}
	return canonicalizeAny(raw)
}

// canonicalPrefix reports whether raw is canonical up to its fragment, and where that starts.
func canonicalPrefix(raw string) (n int, ok bool) {
	if !IsHTTP(raw) {
		return 0, false
	}
	i := strings.IndexByte(raw, ':') + len("://")
	for i < len(raw) && (classes[raw[i]]&hostByte != 0 || raw[i] == ':') {
		i++
	}
	if i == len(raw) || raw[i] != '/' || raw[i-1] == ':' || raw[i-1] == '/' {
		return 0, false
	}
	for ; i < len(raw); i++ {
		if classes[raw[i]]&canonicalByte != 0 {
			continue
		}
		switch raw[i] {
		case '#':
			return i, true
		case '?':
			return canonicalQuery(raw, i+1)
		}
		return 0, false
	}
	return i, true
}

// canonicalQuery does the same for a query that starts at i: name=value pairs of unreserved characters in order.
func canonicalQuery(raw string, i int) (n int, ok bool) {
	var before string
	for {
		start, equals := i, -1
		for i < len(raw) && (classes[raw[i]]&unreserved != 0 || raw[i] == '=' && equals < 0) {
			if raw[i] == '=' {
				equals = i - start
			}
			i++
		}
		pair := raw[start:i]
		if equals < 0 || comparePairs(before, pair) > 0 {
			return 0, false
		}
		switch {
		case i == len(raw) || raw[i] == '#':
			return i, true
		case raw[i] != '&':
			return 0, false
		}
		before, i = pair, i+1
	}
}

// comparePairs orders two name=value pairs by name, then value.
func comparePairs(a, b string) int {
	aName, aValue, _ := strings.Cut(a, "=")
	bName, bValue, _ := strings.Cut(b, "=")
	return cmp.Or(strings.Compare(aName, bName), strings.Compare(aValue, bValue))
}

// canonicalizeAny follows w3lib step by step.
func canonicalizeAny(raw string) string {
	s := split(trim(raw))
	out := make([]byte, 0, len(raw)+16)
	if s.scheme != "" {
		out = append(append(out, s.scheme...), ':')
	}
	if s.netloc != "" {
		out = append(append(out, "//"...), canonicalNetloc(s.netloc)...)
	}
	out = appendPath(out, s.path)
	if s.params != "" {
		out = appendEscaped(append(out, ';'), s.params, paramsSafe)
	}
	return string(appendQuery(out, s.query))
}

// trim drops control characters and spaces at both ends, tabs and line ends anywhere.
func trim(raw string) string {
	raw = strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	if !strings.ContainsAny(raw, "\t\r\n") {
		return raw
	}
	return strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(raw)
}

type parts struct{ scheme, netloc, path, params, query string }

// split takes a URL apart as Python's urlparse does, save that a backslash is a slash in http, as for browsers.
// The fragment is dropped.
func split(u string) (s parts) {
	u = StripFragment(u)
	u, s.query, _ = strings.Cut(u, "?")
	if colon := strings.IndexByte(u, ':'); colon > 0 && isScheme(u[:colon]) {
		s.scheme, u = strings.ToLower(u[:colon]), u[colon+1:]
	}
	web := s.scheme == "http" || s.scheme == "https"
	if web {
		u = strings.ReplaceAll(u, `\`, "/")
	}
	if strings.HasPrefix(u, "//") {
		end := strings.IndexByte(u[2:], '/')
		if end < 0 {
			end = len(u) - 2
		}
		s.netloc, u = u[2:2+end], u[2+end:]
	}
	s.path = u
	if web || s.scheme == "ftp" || s.scheme == "sftp" || s.scheme == "" {
		last := strings.LastIndexByte(u, '/') + 1
		if semicolon := strings.IndexByte(u[last:], ';'); semicolon >= 0 {
			s.path, s.params = u[:last+semicolon], u[last+semicolon+1:]
		}
	}
	return s
}

func isScheme(s string) bool {
	return isPlain(s, schemeByte) && !strings.ContainsRune(digits+"+-.", rune(s[0]))
}

// canonicalNetloc writes the host in lower case and, unless that fails, in ASCII by the rules of 2003 (sharp s is ss),
// as Python's idna codec does. The user's name and password stay as they are; w3lib would send odd ones through
// that codec too.
func canonicalNetloc(netloc string) string {
	at := strings.LastIndexByte(netloc, '@') + 1
	host := strings.TrimRight(netloc[at:], ":")
	if !isASCII(host) {
		name, port, colon := strings.Cut(host, ":")
		if ascii, err := idna2003.ToASCII(name); err == nil && utf8.ValidString(name) {
			host = ascii
			if colon {
				host += ":" + port
			}
		}
	}
	return netloc[:at] + strings.ToLower(host)
}

var idna2003 = idna.New(idna.MapForLookup(), idna.Transitional(true), idna.StrictDomainName(false), idna.CheckHyphens(false))

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

func appendPath(out []byte, path string) []byte {
	if path == "" {
		return append(out, '/')
	}
	for i := 0; i < len(path); i++ {
		c := path[i]
		if decoded, ok := unescape(path[i:]); ok {
			c = decoded
			i += 2
			if c == '/' || c == '?' { // these would change the URL's meaning
				out = appendEscape(out, c)
				continue
			}
		}
		out = appendByte(out, c, pathSafe)
	}
	return out
}

func appendQuery(out []byte, query string) []byte {
	var pairs [][2]string
	for pair := range strings.SplitSeq(query, "&") {
		if pair != "" {
			name, value, _ := strings.Cut(pair, "=")
			pairs = append(pairs, [2]string{decodeForm(name), decodeForm(value)})
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int {
		return cmp.Or(strings.Compare(a[0], b[0]), strings.Compare(a[1], b[1]))
	})
	separator := byte('?')
	for _, pair := range pairs {
		out = appendForm(append(out, separator), pair[0])
		out = appendForm(append(out, '='), pair[1])
		separator = '&'
	}
	return out
}
