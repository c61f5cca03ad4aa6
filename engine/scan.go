package engine

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// scanner reads well-formed markup, several times faster than html.Tokenizer. It understands less: on anything unusual it gives
// up (ok is false), and the page is read by the html package instead. What it does read, it reads just as that does.
type scanner struct {
	src  string // has neither NUL nor carriage return
	pos  int
	mem  *arena
	name atom.Atom        // of the tag read last, 0 when it is not a known one
	data string           // its name in lower case
	attr []html.Attribute // of the start tag read last
	self bool             // it ended in "/>"
	mode renderMode       // of the doctype read last
}

// renderMode is the mode of a page, in which the html package follows browsers.
type renderMode int

const (
	quirksMode renderMode = iota // also without a doctype
	standardMode
	unknownMode
)

// text reads up to the next "<". Entities are undone.
func (s *scanner) text() string {
	rest := s.src[s.pos:]
	n := strings.IndexByte(rest, '<')
	if n < 0 {
		n = len(rest)
	}
	s.pos += n
	return unescapeText(rest[:n])
}

// comment reads a comment whose "<!--" lies ahead.
func (s *scanner) comment() (text string, ok bool) {
	text, _, ok = strings.Cut(s.src[s.pos+len("<!--"):], "-->")
	if !ok || strings.HasPrefix(text, ">") || strings.HasPrefix(text, "->") || strings.Contains(text, "--!") {
		return "", false // ends elsewhere, by rules of its own
	}
	s.pos += len("<!--") + len(text) + len("-->")
	return unescapeText(text), true
}

// doctype reads what starts with "<!" and is no comment.
func (s *scanner) doctype() (*html.Node, bool) {
	rest := s.src[s.pos:]
	end := strings.IndexByte(rest, '>')
	if end < 0 || len(rest) < len("<!doctype ") || !strings.EqualFold(rest[:len("<!doctype")], "<!doctype") {
		return nil, false
	}
	s.pos += end + 1
	if name := rest[len("<!doctype"):end]; strings.EqualFold(name, " html") {
		if name == " html" {
			s.mode = standardMode // and quirksMode for HTML: the html package minds the case
		}
		n := s.mem.node()
		n.Type, n.Data = html.DoctypeNode, "html"
		return n, true
	}
	s.mode = unknownMode
	root, err := html.Parse(strings.NewReader(rest[:end+1]))
	if err != nil || root.FirstChild == nil || root.FirstChild.Type != html.DoctypeNode {
		return nil, false
	}
	n := root.FirstChild
	root.RemoveChild(n)
	return n, true
}

// endTag reads an end tag whose "</" lies ahead.
func (s *scanner) endTag() bool {
	s.pos += len("</")
	if !s.tagName() {
		return false
	}
	s.space()
	return s.skip('>')
}

// startTag reads a start tag whose "<" lies ahead.
func (s *scanner) startTag() bool {
	s.pos++
	if !s.tagName() {
		return false
	}
	start := len(s.mem.attrs)
	for {
		spaced := s.space()
		if s.self = s.skip('/'); s.self || s.pos < len(s.src) && s.src[s.pos] == '>' {
			s.attr = s.mem.cut(start)
			return s.skip('>')
		}
		if !spaced || !s.attribute(start) {
			return false
		}
	}
}

// attribute reads one attribute. Of several with one name the first counts.
func (s *scanner) attribute(start int) bool {
	key, ok := s.word(&keyBytes)
	if !ok {
		return false
	}
	value := ""
	if s.skip('=') {
		if value, ok = s.value(); !ok {
			return false
		}
	}
	for i := start; i < len(s.mem.attrs); i++ {
		if s.mem.attrs[i].Key == key {
			return true
		}
	}
	if len(s.mem.attrs)-start > 64 {
		return false // looking for names said twice would take too long
	}
	s.mem.attrs = append(s.mem.attrs, html.Attribute{Key: key, Val: value})
	return true
}

// value reads the value of an attribute.
func (s *scanner) value() (string, bool) {
	rest := s.src[s.pos:]
	if rest == "" {
		return "", false
	}
	if q := rest[0]; q == '"' || q == '\'' {
		n := strings.IndexByte(rest[1:], q)
		if n < 0 {
			return "", false
		}
		s.pos += n + 2
		return unescapeAttr(rest[1 : n+1])
	}
	n := 0
	for n < len(rest) && !valueEnd[rest[n]] {
		n++
	}
	if n == 0 || rest[0] == '=' || n == len(rest) || rest[n] != '>' && !isSpace(rest[n]) {
		return "", false
	}
	s.pos += n
	return unescapeAttr(rest[:n])
}

// tagName reads the name of a tag.
func (s *scanner) tagName() bool {
	if s.pos == len(s.src) || !nameStart(s.src[s.pos]) {
		return false
	}
	name, ok := s.word(&nameBytes)
	if !ok {
		return false
	}
	s.name, s.data = atom.Lookup([]byte(name)), name
	if s.name != 0 {
		s.data = s.name.String()
	}
	return true
}

func nameStart(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// word reads bytes of a class and lowers their case. It must be followed by white space or by one of = / >.
func (s *scanner) word(class *[256]bool) (string, bool) {
	start, upper := s.pos, false
	for s.pos < len(s.src) && class[s.src[s.pos]] {
		upper = upper || 'A' <= s.src[s.pos] && s.src[s.pos] <= 'Z'
		s.pos++
	}
	if s.pos == start || s.pos == len(s.src) || !wordEnd[s.src[s.pos]] {
		return "", false
	}
	word := s.src[start:s.pos]
	if upper {
		word = strings.ToLower(word)
	}
	return word, true
}

// raw reads the content of an element that has no markup in it, and its end tag.
func (s *scanner) raw(tag atom.Atom) (string, bool) {
	start, name := s.pos, tag.String()
	for {
		n := strings.Index(s.src[s.pos:], "</")
		if n < 0 {
			return "", false
		}
		s.pos += n
		after := s.src[s.pos+len("</"):]
		if len(after) <= len(name) || !strings.EqualFold(after[:len(name)], name) || !tagEnd[after[len(name)]] {
			s.pos++
			continue
		}
		text := s.src[start:s.pos]
		switch tag {
		case atom.Script:
			if strings.Contains(text, "<!--") {
				return "", false // may hide its own end tag
			}
		case atom.Title, atom.Textarea:
			text = unescapeText(text)
		}
		return text, s.endTag()
	}
}

// space skips white space and reports whether there was some.
func (s *scanner) space() bool {
	start := s.pos
	for s.pos < len(s.src) && isSpace(s.src[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\f' }

// skip skips one byte, if it lies ahead.
func (s *scanner) skip(c byte) bool {
	if s.pos < len(s.src) && s.src[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// Classes of bytes.
var (
	nameBytes = byteClass("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:")
	keyBytes  = byteClass("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:.@")
	wordEnd   = byteClass(" \n\t\f=/>")
	tagEnd    = byteClass(" \n\t\f/>")
	valueEnd  = byteClass(" \n\t\f>\"'<`")
)

func byteClass(members string) (class [256]bool) {
	for i := range len(members) {
		class[members[i]] = true
	}
	return class
}

func unescapeText(s string) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	return html.UnescapeString(s)
}

// unescapeAttr undoes the entities of an attribute. Their rules differ from those of text where the semicolon is missing
// (href="?a=1&copy=2"), which is left to the html package unless it is no entity in either.
func unescapeAttr(s string) (string, bool) {
	rest := s
	for {
		i := strings.IndexByte(rest, '&')
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		n := 0
		for n < len(rest) && (nameBytes[rest[n]] || rest[n] == '#') {
			n++
		}
		closed := n < len(rest) && rest[n] == ';'
		if n == 0 || rest[0] == '#' || closed && slices.Contains(plainEntities, rest[:n]) {
			continue // the same in both
		}
		if name := rest[:min(n+1, len(rest))]; html.UnescapeString("&"+name) != "&"+name {
			return "", false
		}
	}
	return unescapeText(s), true
}

var plainEntities = []string{"amp", "quot", "lt", "gt", "nbsp", "apos"}
