package engine

import "golang.org/x/net/html/atom"

// closeFor closes the item or option before the one that begins.
func (g *grower) closeFor() bool {
	switch g.name {
	case atom.Li:
		return g.closeItem(atom.Li, atom.Li)
	case atom.Dd, atom.Dt:
		return g.closeItem(atom.Dd, atom.Dt)
	case atom.Option, atom.Optgroup:
		if g.count[countSelect] == 0 {
			return kindOf(g.top().DataAtom)&endImplied == 0
		}
		return g.closeOption()
	}
	return true
}

// closeOption closes options, and groups of them before another group. They must be right inside of their select.
func (g *grower) closeOption() bool {
	before := len(g.open)
	for at := g.top().DataAtom; kindOf(at)&endImplied != 0 && !(at == atom.Optgroup && g.name == atom.Option); at = g.top().DataAtom {
		g.pop()
	}
	at := g.top()
	return len(g.open) == before || at.DataAtom == atom.Select || at.DataAtom == atom.Optgroup && at.Parent.DataAtom == atom.Select
}

// closeItem closes an open a or b, if there is one before the list that the new item belongs to.
func (g *grower) closeItem(a, b atom.Atom) bool {
	plain := true // only paragraphs so far
	for i := len(g.open) - 1; i >= 0; i-- {
		switch at := g.open[i].DataAtom; at {
		case a, b:
			for plain && len(g.open) > i {
				g.pop()
			}
			return plain
		case atom.Ul, atom.Ol, atom.Dl, atom.Td, atom.Th, atom.Body, atom.Li, atom.Dd, atom.Dt:
			return true
		case atom.P:
		default:
			plain = false
		}
	}
	return false
}
