package weburl

import "strings"

// Which bytes w3lib leaves alone in the parts of a URL.
var (
	paramsSafe = safe(letters + digits + "-._~" + reserved + "|%")
	pathSafe   = safe(strings.Replace(letters+digits+"-._~"+reserved+"|%", "#", "", 1))
	formSafe   = safe(letters + digits + "-._~")
)

func safe(bytes string) *[256]bool {
	var t [256]bool
	for _, c := range []byte(bytes) {
		t[c] = true
	}
	return &t
}

const upperHex = "0123456789ABCDEF"

func appendEscape(out []byte, c byte) []byte {
	return append(out, '%', upperHex[c>>4], upperHex[c&15])
}

func appendByte(out []byte, c byte, safe *[256]bool) []byte {
	if safe[c] {
		return append(out, c)
	}
	return appendEscape(out, c)
}

func appendEscaped(out []byte, s string, safe *[256]bool) []byte {
	for i := range len(s) {
		out = appendByte(out, s[i], safe)
	}
	return out
}

// appendForm writes a query argument as an HTML form would: a space is a plus sign.
func appendForm(out []byte, s string) []byte {
	for i := range len(s) {
		if s[i] == ' ' {
			out = append(out, '+')
			continue
		}
		out = appendByte(out, s[i], formSafe)
	}
	return out
}

// decodeForm undoes plus signs and escapes; what is no escape stays.
func decodeForm(s string) string {
	if !strings.ContainsAny(s, "+%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '+' {
			c = ' '
		} else if decoded, ok := unescape(s[i:]); ok {
			c = decoded
			i += 2
		}
		out = append(out, c)
	}
	return string(out)
}

// unescape reads the escape that s begins with, if it does.
func unescape(s string) (c byte, ok bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	high, ok1 := hexValue(s[1])
	low, ok2 := hexValue(s[2])
	return high<<4 | low, ok1 && ok2
}

func hexValue(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
