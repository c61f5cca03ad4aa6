package engine

import (
	"strings"

	"golang.org/x/net/html"
)

// Selection is an ordered list of matches: elements, or strings after ::text and ::attr(name). Matches are looked for when they
// are first needed, and only the first one where that is enough.
type Selection struct {
	page  *Response
	sel   *Selector
	below []*html.Node // elements that are searched; nil means the whole page
	found []match      // the first match, or all of them
	seen  searched
}

// match is an element, a text node, or one attribute of an element.
type match struct {
	node *html.Node
	attr int // 1 + the place of the attribute, or 0 for the node itself
}

type searched int

const (
	searchedNothing searched = iota
	searchedFirst
	searchedAll
)

// Page is the response that the selection belongs to.
func (s *Selection) Page() *Response { return s.page }

// Len is the number of matches.
func (s *Selection) Len() int { return len(s.all()) }

// Select finds matches below the elements of the selection, in document order and each once.
func (s *Selection) Select(sel *Selector) *Selection {
	below := make([]*html.Node, 0, 1)
	for _, m := range s.all() {
		if m.attr == 0 && m.node.Type == html.ElementNode && !within(m.node, below) {
			below = append(below, m.node)
		}
	}
	return &Selection{page: s.page, sel: sel, below: below}
}

// within reports whether n lies in the last of the roots, which come in document order and not within each other.
func within(n *html.Node, roots []*html.Node) bool {
	if len(roots) == 0 {
		return false
	}
	for p := n.Parent; p != nil; p = p.Parent {
		if p == roots[len(roots)-1] {
			return true
		}
	}
	return false
}

// Get returns the first match: the string, or the element's outer HTML. It returns false when there is none.
func (s *Selection) Get() (string, bool) {
	m, ok := s.first()
	if !ok {
		return "", false
	}
	return m.get(), true
}

// GetAll returns Get of each match.
func (s *Selection) GetAll() []string {
	all := s.all()
	values := make([]string, len(all))
	for i, m := range all {
		values[i] = m.get()
	}
	return values
}

// Text is the first match as text: the string, or all text below the element. It is "" when there is none.
func (s *Selection) Text() string {
	m, ok := s.first()
	if !ok {
		return ""
	}
	return m.text()
}

// Attr returns an attribute of the first match, or false when there is no match, it is no element, or has no such attribute.
func (s *Selection) Attr(name string) (string, bool) {
	m, ok := s.first()
	if !ok || m.attr != 0 {
		return "", false
	}
	i := findAttr(m.node, name)
	if i < 0 {
		return "", false
	}
	return m.node.Attr[i].Val, true
}

// Href is the link in the first match: the string itself, or the href of an element.
func (s *Selection) Href() (string, bool) {
	m, ok := s.first()
	if !ok {
		return "", false
	}
	if m.attr == 0 && m.node.Type == html.ElementNode {
		return attrOf(m.node, "href")
	}
	return m.text(), true
}

// At returns the i-th match, from 0, as a selection of one. It is empty when there is none.
func (s *Selection) At(i int) *Selection {
	one := &Selection{page: s.page, seen: searchedAll}
	if all := s.all(); i >= 0 && i < len(all) {
		one.found = all[i : i+1 : i+1]
	}
	return one
}

func (s *Selection) first() (match, bool) {
	if s.seen == searchedNothing {
		s.found, s.seen = s.search(1), searchedFirst
	}
	if len(s.found) == 0 {
		return match{}, false
	}
	return s.found[0], true
}

func (s *Selection) all() []match {
	if s.seen != searchedAll {
		if s.seen == searchedNothing || len(s.found) > 0 {
			s.found = s.search(0)
		}
		s.seen = searchedAll
	}
	return s.found
}

// search looks for matches; limit 0 means all.
func (s *Selection) search(limit int) []match {
	if s.below == nil {
		return s.sel.find(nil, s.page.document().root, limit)
	}
	var found []match
	for _, root := range s.below {
		found = s.sel.find(found, root, limit)
		if limit > 0 && len(found) >= limit {
			break
		}
	}
	return found
}

func (m match) get() string {
	if m.attr == 0 && m.node.Type == html.ElementNode {
		return outerHTML(m.node)
	}
	return m.text()
}

func (m match) text() string {
	if m.attr > 0 {
		return m.node.Attr[m.attr-1].Val
	}
	return textOf(m.node)
}

// findAttr is the place of an attribute, or -1. HTML attributes are in lower case, a few of SVG are not.
func findAttr(n *html.Node, name string) int {
	if i := attrIndex(n, name); i >= 0 {
		return i
	}
	return attrIndex(n, strings.ToLower(name))
}
