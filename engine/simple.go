package engine

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// simple is a selector of one of the shapes that most are of: tag, tag[attr], .class, tag.class, #id, tag#id. Matching
// one costs a comparison for most elements, where cascadia goes through three interface calls.
type simple struct {
	tag  string // lower case; "" for any
	atom atom.Atom
	attr string // an attribute that must be there
	key  string // "class" or "id", with value
	val  string
}

// parseSimple reads a selector of these shapes. Anything else, escapes and odd names included, is cascadia's.
func parseSimple(css string) (*simple, bool) {
	tag, rest := cutName(css)
	s := &simple{tag: strings.ToLower(tag)}
	s.atom = atom.Lookup([]byte(s.tag))
	if rest == "" {
		return s, tag != ""
	}
	name, after := cutName(rest[1:])
	if name == "" {
		return nil, false
	}
	switch {
	case rest[0] == '[' && after == "]":
		s.attr = strings.ToLower(name)
		return s, true
	case rest[0] == '.' && after == "":
		s.key, s.val = "class", name
		return s, true
	case rest[0] == '#' && after == "":
		s.key, s.val = "id", name
		return s, true
	}
	return nil, false
}

// cutName cuts a plain ASCII name off the front.
func cutName(s string) (name, rest string) {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '-' && c != '_' && (c < '0' || c > '9')) {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// Match reports whether n matches.
func (s *simple) Match(n *html.Node) bool {
	if n.Type != html.ElementNode || n.DataAtom != s.atom && s.tag != "" || s.tag != "" && n.Data != s.tag {
		return false
	}
	if s.attr != "" {
		return attrIndex(n, s.attr) >= 0
	}
	if s.key == "" {
		return true
	}
	for i := range n.Attr {
		if n.Attr[i].Key == s.key && (n.Attr[i].Val == s.val || s.key == "class" && hasWord(n.Attr[i].Val, s.val)) {
			return true
		}
	}
	return false
}

// hasWord reports whether a list of words, divided by white space, has the word.
func hasWord(list, word string) bool {
	for len(list) >= len(word) {
		end := strings.IndexAny(list, htmlSpace)
		if end < 0 {
			return list == word
		}
		if list[:end] == word {
			return true
		}
		list = list[end+1:]
	}
	return false
}
