package engine

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
)

const (
	utf8Name = "utf-8"
	// A <meta> counts in the first metaScan bytes and, past them, as long as the head goes on, up to metaScanMax. WHATWG HTML
	// looks at 1,024 bytes first, but browsers start over for a later one as well.
	metaScan    = 8 << 10
	metaScanMax = 64 << 10
)

var utf8BOM = []byte("\xef\xbb\xbf")

// charset is an encoding that WHATWG Encoding knows, under its name there in lower case.
type charset struct {
	name string
	enc  encoding.Encoding // nil for UTF-8
}

// decodeBody returns the body as valid UTF-8 and the name of the charset that it was read with. The result shares the body's
// memory when nothing had to change.
//
// A byte order mark decides. Else the declarations are tried in the order of WHATWG HTML (Content-Type, <meta>, then the XML
// declaration), except that bytes which contradict one give way to the next, and that declared UTF-8 beats all where the bytes
// are it. Without a declaration such bytes are UTF-8 too, and anything else is guessed from its bytes. A few broken characters
// contradict nothing.
func decodeBody(body []byte, contentType string) ([]byte, string) {
	if text, name, ok := decodeBOM(body); ok {
		return text, name
	}
	valid := utf8.Valid(body)
	if valid && (isUTF8(labelIn(contentType)) || quickUTF8(body) && !hiddenWide(body)) {
		return body, utf8Name
	}
	declared := declarations(body, contentType)
	if (len(declared) == 0 || declaresUTF8(declared)) && !hiddenWide(body) && (valid || nearlyUTF8(body)) {
		return toValidUTF8(body), utf8Name
	}
	if text, name, ok := decodeDeclared(declared, body); ok {
		return text, name
	}
	cs := guessCharset(body)
	text, _ := cs.decode(body)
	return text, cs.name
}

// decodeDeclared decodes by the first declaration that the bytes do not contradict. A charset that gives every byte a meaning
// is contradicted by none, so it does not come before one with a few broken characters.
func decodeDeclared(declared []charset, body []byte) (text []byte, name string, ok bool) {
	for _, cs := range declared {
		if cs.enc == nil {
			continue // it does not seem to be UTF-8
		}
		if _, single := cs.enc.(*charmap.Charmap); ok && single {
			continue
		}
		decoded, clean := cs.decode(body)
		if clean {
			return decoded, cs.name, true
		}
		if !ok && nearlyClean(decoded) {
			text, name, ok = decoded, cs.name, true
		}
	}
	if !ok && len(declared) > 0 && !mostlyWrong(declared[0], body) {
		text, _ = declared[0].decode(body)
		return text, declared[0].name, true
	}
	return text, name, ok
}

// decodeBOM decodes a body that starts with a byte order mark, which is dropped.
func decodeBOM(body []byte) ([]byte, string, bool) {
	var label string
	switch {
	case bytes.HasPrefix(body, utf8BOM):
		return toValidUTF8(body[len(utf8BOM):]), utf8Name, true
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		label = "utf-16le"
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		label = "utf-16be"
	default:
		return nil, "", false
	}
	cs, _ := lookupCharset(label)
	text, _ := cs.decode(body[2:])
	return text, cs.name, true
}

// lookupCharset finds an encoding by one of its labels. The ones that WHATWG Encoding replaces by a single U+FFFD are not found.
func lookupCharset(label string) (charset, bool) {
	enc, err := htmlindex.Get(label)
	if err != nil || enc == encoding.Replacement {
		return charset{}, false
	}
	name, err := htmlindex.Name(enc)
	switch {
	case err != nil || name == "replacement":
		return charset{}, false
	case name == utf8Name:
		return charset{name: utf8Name}, true
	case name == "gbk":
		enc = simplifiedchinese.GB18030 // the standard decodes both with this one
	}
	return charset{name, enc}, true
}

// decode returns UTF-8, and whether every byte had a meaning.
func (c charset) decode(body []byte) ([]byte, bool) {
	if c.enc == nil {
		return toValidUTF8(body), utf8.Valid(body)
	}
	text, err := c.enc.NewDecoder().Bytes(body)
	if err != nil {
		return toValidUTF8(body), false
	}
	return text, !bytes.Contains(text, []byte("\uFFFD"))
}

func toValidUTF8(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return bytes.ToValidUTF8(b, []byte("\uFFFD"))
}

func isUTF8(label string) bool {
	cs, ok := lookupCharset(label)
	return ok && cs.enc == nil
}

func declaresUTF8(declared []charset) bool {
	for _, cs := range declared {
		if cs.enc == nil {
			return true
		}
	}
	return false
}

// mostlyWrong reports whether a declared UTF-8 is contradicted by most of the bytes beyond ASCII. A page with a few broken
// characters is not.
func mostlyWrong(cs charset, body []byte) bool {
	if cs.enc != nil {
		return false
	}
	good, bad := countUTF8(body)
	return bad > good
}

// nearlyUTF8 reports whether bytes are UTF-8 but for a few: no other text beyond ASCII looks like that by chance.
func nearlyUTF8(body []byte) bool {
	good, bad := countUTF8(body)
	return good > 4*bad
}

// nearlyClean reports whether decoded text has a few broken characters only.
func nearlyClean(text []byte) bool {
	broken := bytes.Count(text, []byte("\uFFFD"))
	good, _ := countUTF8(text)
	return good-broken > 10*broken
}

// countUTF8 counts the characters beyond ASCII and the bytes that belong to none.
func countUTF8(body []byte) (good, bad int) {
	for len(body) > 0 {
		if body[0] < utf8.RuneSelf {
			body = body[1:]
			continue
		}
		r, n := utf8.DecodeRune(body)
		if r == utf8.RuneError && n == 1 {
			bad++
		} else {
			good++
		}
		body = body[n:]
	}
	return good, bad
}

// declarations lists the known charsets that a page names for itself, the strongest first.
func declarations(body []byte, contentType string) []charset {
	var declared []charset
	if cs, ok := lookupCharset(labelIn(contentType)); ok {
		declared = append(declared, cs)
	}
	if cs, ok := metaCharset(body); ok {
		declared = append(declared, cs)
	}
	if cs, ok := xmlCharset(body); ok {
		declared = append(declared, cs)
	}
	return declared
}

// labelIn finds charset=... in a Content-Type, or in the content of a meta element, as WHATWG HTML extracts it.
func labelIn(s string) string {
	const key = "charset"
	for i := 0; i+len(key) < len(s); i++ {
		if !strings.EqualFold(s[i:i+len(key)], key) {
			continue
		}
		rest := strings.TrimLeft(s[i+len(key):], " \t\n\f\r")
		if !strings.HasPrefix(rest, "=") {
			continue
		}
		rest = strings.TrimLeft(rest[1:], " \t\n\f\r")
		if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
			label, _, _ := strings.Cut(rest[1:], rest[:1])
			return label
		}
		if end := strings.IndexAny(rest, "; \t\n\f\r"); end >= 0 {
			rest = rest[:end]
		}
		return rest
	}
	return ""
}

// metaCharset reads the first <meta> that names a known charset. A page that can be read as ASCII so far is not UTF-16, whatever
// it says.
func metaCharset(body []byte) (charset, bool) {
	body = body[:min(len(body), metaScanMax)]
	if !containsFold(body, "charset") {
		return charset{}, false
	}
	z := html.NewTokenizer(bytes.NewReader(body))
	for read := 0; ; read += len(z.Raw()) {
		switch z.Next() {
		case html.ErrorToken:
			return charset{}, false
		case html.EndTagToken:
			if name, _ := z.TagName(); read > metaScan && string(name) == "head" {
				return charset{}, false
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, hasAttr := z.TagName()
			if read > metaScan && string(name) == "body" {
				return charset{}, false
			}
			if string(name) != "meta" || !hasAttr {
				continue
			}
			if cs, ok := lookupCharset(metaLabel(z)); ok {
				return notUTF16(cs), true
			}
		}
	}
}

// metaLabel reads the charset of the meta element that the tokenizer stands on: charset="...", or the one in content="..." beside
// http-equiv="content-type".
func metaLabel(z *html.Tokenizer) string {
	var label, content string
	pragma := false
	for more := true; more; {
		var key, val []byte
		key, val, more = z.TagAttr()
		switch string(key) {
		case "charset":
			label = string(val)
		case "content":
			content = labelIn(string(val))
		case "http-equiv":
			pragma = strings.EqualFold(string(val), "content-type")
		}
	}
	if label == "" && pragma {
		return content
	}
	return label
}

// notUTF16 is what WHATWG HTML makes of a declaration that is itself written in ASCII.
func notUTF16(cs charset) charset {
	if strings.HasPrefix(cs.name, "utf-16") {
		return charset{name: utf8Name}
	}
	return cs
}

// xmlCharset reads <?xml version="1.0" encoding="..."?> at the very start.
func xmlCharset(body []byte) (charset, bool) {
	if !bytes.HasPrefix(body, []byte("<?xml")) {
		return charset{}, false
	}
	decl, _, ok := strings.Cut(string(body[:min(len(body), 512)]), ">")
	if !ok {
		return charset{}, false
	}
	_, decl, _ = strings.Cut(decl, "encoding")
	decl = strings.TrimLeft(decl, " \t\n\f\r=")
	if decl == "" || (decl[0] != '"' && decl[0] != '\'') {
		return charset{}, false
	}
	label, _, _ := strings.Cut(decl[1:], decl[:1])
	cs, ok := lookupCharset(label)
	return notUTF16(cs), ok
}

// containsFold reports whether b has the lower-case ASCII word in any case.
func containsFold(b []byte, word string) bool {
	lower, upper := word[0], word[0]-'a'+'A'
	for {
		i := bytes.IndexByte(b, lower)
		if j := bytes.IndexByte(b[:max(i, 0)], upper); j >= 0 || i < 0 {
			if i < 0 {
				j = bytes.IndexByte(b, upper)
			}
			i = j
		}
		if i < 0 || len(b)-i < len(word) {
			return false
		}
		if strings.EqualFold(string(b[i:i+len(word)]), word) {
			return true
		}
		b = b[i+1:]
	}
}
