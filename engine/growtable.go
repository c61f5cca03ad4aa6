package engine

import (
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// startTablePart takes the start tag of a part of a table, with the parts that a page may leave out.
func (g *grower) startTablePart() bool {
	g.closeImplied()
	switch g.name {
	case atom.Td, atom.Th:
		g.closeParts(atom.Td, atom.Th)
		return g.implyBody() && g.implyRow() && g.push(g.addElement())
	case atom.Tr:
		g.closeParts(atom.Td, atom.Th, atom.Tr, atom.Colgroup)
		return g.implyBody() && isTableBody(g.top().DataAtom) && g.push(g.addElement())
	case atom.Tbody, atom.Thead, atom.Tfoot:
		g.closeParts(atom.Td, atom.Th, atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot, atom.Colgroup)
	case atom.Colgroup:
		g.closeParts(atom.Colgroup)
	case atom.Col:
		ok := g.top().DataAtom == atom.Colgroup
		if ok {
			g.addElement()
		}
		return ok
	}
	return g.top().DataAtom == atom.Table && g.push(g.addElement())
}

// closeImplied closes elements whose end tags may be left out.
func (g *grower) closeImplied() {
	for kindOf(g.top().DataAtom)&endImplied != 0 {
		g.pop()
	}
}

// closeParts closes parts of a table, each where the one before it has left it at the top.
func (g *grower) closeParts(parts ...atom.Atom) {
	for slices.Contains(parts, g.top().DataAtom) {
		at := g.top().DataAtom
		g.pop()
		parts = slices.DeleteFunc(parts, func(a atom.Atom) bool { return a == at })
	}
}

// implyBody opens the tbody that a row right in a table is in.
func (g *grower) implyBody() bool {
	return g.top().DataAtom != atom.Table || g.push(g.addImplied(atom.Tbody))
}

// implyRow opens the row that a cell is in.
func (g *grower) implyRow() bool {
	if isTableBody(g.top().DataAtom) {
		return g.push(g.addImplied(atom.Tr))
	}
	return g.top().DataAtom == atom.Tr
}

func (g *grower) addImplied(tag atom.Atom) *html.Node {
	n := g.mem.node()
	n.Type, n.DataAtom, n.Data = html.ElementNode, tag, tag.String()
	g.top().AppendChild(n)
	return n
}
