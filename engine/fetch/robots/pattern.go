package robots

import "strings"

// normalizePattern gives the form of a rule's path in which patterns are compared: "*" is a wildcard and stands alone, "$" at the
// end is the end, and all else is literal, with percent-encoding as RFC 9309, 2.2.2 wants it.
func normalizePattern(s string) string {
	if n := len(s) - 1; n >= 0 && s[n] == '$' {
		return normalize(s[:n], true) + "$"
	}
	return normalize(s, true)
}

// normalizePath gives the form of a path and query in which they are compared. Bytes outside of ASCII stay as they are and so
// match nothing that names them: a URL is asked about as it is sent, and is sent percent-encoded.
func normalizePath(s string) string {
	s, _, _ = strings.Cut(s, "#")
	if s == "" || s[0] != '/' {
		s = "/" + s
	}
	return normalize(s, false)
}

func normalize(s string, pattern bool) string {
	var out []byte // nil as long as nothing differs from s
	query := false
	for i := 0; i < len(s); {
		piece, n := next(s[i:], pattern, query)
		query = query || s[i] == '?'
		if pattern && piece == "*" && i > 0 && s[i-1] == '*' {
			piece = ""
		}
		if out == nil && piece != s[i:i+n] {
			out = append(make([]byte, 0, len(s)+16), s[:i]...)
		}
		if out != nil {
			out = append(out, piece...)
		}
		i += n
	}
	if out == nil {
		return s
	}
	return string(out)
}

// next gives the normal form of what s begins with, and how many bytes that is.
func next(s string, pattern, query bool) (string, int) {
	c := s[0]
	switch {
	case c == '%' && len(s) > 2 && isHex(s[1]) && isHex(s[2]):
		v := unhex(s[1])<<4 | unhex(s[2])
		if isPlain(v) || query && (v == '/' || v == '?') {
			return string(rune(v)), 3
		}
		return escape(v), 3
	case c == '*' && pattern, c >= 0x80 && !pattern, c == '%', isPlain(c):
		return s[:1], 1
	case c != '*' && c != '$' && strings.IndexByte(reserved, c) >= 0:
		return s[:1], 1
	}
	return escape(c), 1
}

// reserved is RFC 3986's set; encoded and not, its members differ, but for those that isPlain lets pass.
const reserved = ":/?#[]@!$&'()*+,;="

// isPlain reports whether c is the same with percent-encoding and without: RFC 3986's unreserved characters, and three that
// browsers send in either form and that divide nothing.
func isPlain(c byte) bool {
	return isLetter(c) || isDigit(c) || strings.IndexByte("-._~:@'", c) >= 0
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

func escape(c byte) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{'%', digits[c>>4], digits[c&15]})
}
