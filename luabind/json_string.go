package luabind

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

func (e *jsonEncoder) string(s string) error {
	if len(e.buf)+len(s) > maxJSONSize {
		return errJSONSize
	}
	e.buf = append(e.buf, '"')
	start, ascii := 0, true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			ascii = ascii && c < utf8.RuneSelf
			continue
		}
		e.buf = appendText(e.buf, s[start:i])
		e.buf = appendJSONEscape(e.buf, c)
		start = i + 1
	}
	if !ascii && !utf8.ValidString(s) {
		return fmt.Errorf("is not UTF-8 at byte %d; decode it first (response.text is decoded, response.body is not)", invalidUTF8(s))
	}
	e.buf = appendText(e.buf, s[start:])
	e.buf = append(e.buf, '"')
	return nil
}

func appendJSONEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
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
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// invalidUTF8 is the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}

// path names the place that is being written, as a script would.
func (e *jsonEncoder) path(root string) string {
	b := []byte(root)
	for _, f := range e.open {
		switch {
		case f.index > 0:
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(f.index), 10)
			b = append(b, ']')
		case isLuaName(f.key):
			b = append(b, '.')
			b = append(b, f.key...)
		default:
			b = append(b, '[')
			b = strconv.AppendQuote(b, clip(f.key))
			b = append(b, ']')
		}
	}
	return clipPath(string(b))
}

func isLuaName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// clip shortens what is shown of a key.
func clip(s string) string {
	if len(s) <= 64 {
		return s
	}
	return s[:61] + "..."
}

// clipPath keeps both ends of a long path.
func clipPath(s string) string {
	if len(s) <= 200 {
		return s
	}
	return strings.ToValidUTF8(s[:100]+" ... "+s[len(s)-95:], "?")
}
