package engine

import (
	"slices"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

// find appends the matches below root, in document order and each once.
func (s *Selector) find(found []match, root *html.Node, limit int) []match {
	if len(s.parts) == 1 && s.parts[0].take == takeElement {
		switch m := s.parts[0].match.(type) {
		case *simple:
			return m.find(found, root, limit)
		case goquery.Matcher:
			return findElements(found, m, root, limit)
		}
	}
	w := walk{parts: s.parts, found: found, deep: make([]span, len(s.parts))}
	w.element(root, true)
	for n := root.FirstChild; n != nil; n = next(n, root) {
		if limit > 0 && len(w.found) >= limit {
			return w.found[:limit]
		}
		w.node(n, root)
	}
	return w.found
}

// findElements leaves elements to goquery.
func findElements(found []match, m goquery.Matcher, root *html.Node, limit int) []match {
	if limit == 1 {
		m = goquery.SingleMatcher(m)
	}
	for _, n := range goquery.NewDocumentFromNode(root).FindMatcher(m).Nodes {
		if limit > 0 && len(found) >= limit {
			break
		}
		found = append(found, match{node: n})
	}
	return found
}

// find is Selector.find for a simple selector.
func (s *simple) find(found []match, root *html.Node, limit int) []match {
	for n := root.FirstChild; n != nil; n = next(n, root) {
		if n.DataAtom != s.atom && s.tag != "" || !s.Match(n) {
			continue
		}
		found = append(found, match{node: n})
		if len(found) == limit {
			break
		}
	}
	return found
}

// walk is one pass over a tree for all selectors of a group.
type walk struct {
	parts []part
	found []match
	deep  []span // for each deep part: the match that the walk is in
}

// span is a stretch of the document from a match to the node after its last descendant.
type span struct {
	in  bool
	end *html.Node
}

// node takes one node below root.
func (w *walk) node(n, root *html.Node) {
	for i := range w.deep {
		if w.deep[i].in && w.deep[i].end == n {
			w.deep[i] = span{}
		}
	}
	switch n.Type {
	case html.TextNode:
		if w.takesText(n.Parent, n.Parent == root) {
			w.found = append(w.found, match{node: n})
		}
	case html.ElementNode:
		for i := range w.parts {
			p := &w.parts[i]
			if p.deep && !w.deep[i].in && p.match.Match(n) {
				w.deep[i] = span{true, nextOver(n, root)}
			}
		}
		w.element(n, false)
	}
}

// element takes an element and its attributes. Of the root only what a pseudo-element alone asks for is taken.
func (w *walk) element(n *html.Node, isRoot bool) {
	start := len(w.found)
	for i := range w.parts {
		p := &w.parts[i]
		if p.take == takeText || isRoot && !p.self || !isRoot && !w.matches(i, n) {
			continue
		}
		m := match{node: n}
		if p.take == takeAttr {
			m.attr = findAttr(n, p.attr) + 1
			if m.attr == 0 {
				continue
			}
		}
		if !slices.Contains(w.found[start:], m) {
			w.found = append(w.found, m)
		}
	}
}

// takesText reports whether text nodes right below n are wanted.
func (w *walk) takesText(n *html.Node, isRoot bool) bool {
	for i := range w.parts {
		p := &w.parts[i]
		if p.take == takeText && (p.self || !isRoot && w.matches(i, n)) {
			return true
		}
	}
	return false
}

// matches reports whether a part takes from n.
func (w *walk) matches(i int, n *html.Node) bool {
	p := &w.parts[i]
	return p.match == nil || w.deep[i].in || !p.deep && p.match.Match(n)
}
