package engine

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// spellQuery writes the query of a link in the page's charset, as browsers send it and the site reads it: a link "?q=北京" on a
// page in GBK is "?q=%B1%B1%BE%A9" (WHATWG URL, "percent-encode after encoding"). All else of a link is in UTF-8.
func (r *Response) spellQuery(ref string) string {
	if r.Encoding() == utf8Name || isASCII([]byte(ref)) || strings.HasPrefix(r.encoding, "utf-16") {
		return ref
	}
	link, fragment, hasFragment := strings.Cut(ref, "#")
	before, query, ok := strings.Cut(link, "?")
	enc, err := htmlindex.Get(r.encoding)
	if !ok || err != nil {
		return ref
	}
	var b strings.Builder
	b.WriteString(before + "?")
	appendQuery(&b, query, enc.NewEncoder())
	if hasFragment {
		b.WriteString("#" + fragment)
	}
	return b.String()
}

// appendQuery percent-encodes what is not ASCII. A character that the charset has not is sent as its number.
func appendQuery(b *strings.Builder, query string, encoder *encoding.Encoder) {
	for _, c := range query {
		if c < utf8.RuneSelf {
			b.WriteRune(c)
			continue
		}
		encoded, err := encoder.String(string(c))
		if err != nil {
			fmt.Fprintf(b, "%%26%%23%d%%3B", c)
			continue
		}
		for i := range len(encoded) {
			if c := encoded[i]; c > ' ' && c < 0x7f && strings.IndexByte(`"#<>'`, c) < 0 {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(b, "%%%02X", c)
			}
		}
	}
}
