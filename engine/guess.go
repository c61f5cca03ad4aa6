package engine

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
)

// guessSample is how much text a guess looks at, in bytes: enough for chardet's letter statistics, at about 0.2 ms a page.
const guessSample = 8 << 10

// guessLabels are chardet's names for encodings that WHATWG Encoding has no such label for.
var guessLabels = map[string]string{
	"cp932":          "shift_jis",
	"cp949":          "euc-kr",
	"ks_c_5601-1987": "euc-kr", // chardet means Johab, which no browser reads
	"macintosh":      "macintosh",
	"utf-8-sig":      utf8Name,
}

// guessCharset is for a page that names no charset and is not UTF-8. It never fails: windows-1252, which gives every byte a
// meaning, is what WHATWG HTML falls back to.
func guessCharset(body []byte) charset {
	sample := guessText(body)
	label := detect(sample)
	if l, ok := guessLabels[label]; ok {
		label = l
	}
	cs, ok := lookupCharset(label)
	if !ok || cs.enc == nil {
		cs, _ = lookupCharset("windows-1252")
	}
	if strings.HasPrefix(cs.name, "windows-") || strings.HasPrefix(cs.name, "iso-8859-") {
		if jis, _ := lookupCharset("shift_jis"); hasKana(jis, sample) {
			return jis
		}
	}
	return cs
}

// hasKana reports whether bytes are Japanese in that charset: chardet does not see it in less than about twenty characters of
// Shift_JIS, while text of any other charset hardly ever gives kana.
func hasKana(cs charset, sample []byte) bool {
	text, clean := cs.decode(sample)
	kana, others := 0, 0
	for _, r := range string(text) {
		switch {
		case '\u3040' <= r && r <= '\u30ff':
			kana++
		case r >= utf8.RuneSelf:
			others++
		}
	}
	return clean && 3*kana > others
}

// detect asks chardet, whose tables are not trusted with every input there is.
func detect(sample []byte) (label string) {
	defer func() {
		if recover() != nil {
			label = ""
		}
	}()
	return strings.ToLower(chardet.Detect(sample).Charset)
}

// guessText collects the stretches between tags and line ends that are not plain ASCII. No multibyte encoding uses the bytes of
// "<", ">" and the line feed within a character, except the wide and the escaped ones, which are taken as they are.
func guessText(body []byte) []byte {
	if hiddenWide(body) {
		return body[:min(len(body), guessSample)]
	}
	sample := make([]byte, 0, min(len(body), guessSample))
	for len(body) > 0 && len(sample) < guessSample {
		n := bytes.IndexAny(body, "<>\n") + 1
		if n == 0 {
			n = len(body)
		}
		if part := body[:n]; !isASCII(part) {
			sample = append(sample, part...)
		}
		body = body[n:]
	}
	return sample[:min(len(sample), guessSample)]
}

// hiddenWide reports whether bytes that pass as UTF-8 look like UTF-16 without a byte order mark, or like ISO-2022-JP.
func hiddenWide(body []byte) bool {
	if len(body) >= 2 && (body[0] == 0) != (body[1] == 0) {
		return true
	}
	i := bytes.IndexByte(body, 0x1b)
	return i >= 0 && (bytes.Contains(body[i:], []byte("\x1b$B")) || bytes.Contains(body[i:], []byte("\x1b$@")))
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
