package engine

import "golang.org/x/net/html/atom"

// kind is what the parsing rules of WHATWG HTML say about an element in the body.
type kind uint

const (
	void       kind = 1 << iota // has no content
	rawText                     // has text only
	closesP                     // closes an open paragraph
	formatting                  // is opened again after an end tag out of place
	heading
	endImplied // its end tag may be left out
	tablePart  // belongs right inside of a table or of one of its parts
	holdsParts // has such parts right inside, and nothing else
	refused    // has rules of its own that growDocument does not know
)

func kindOf(a atom.Atom) kind {
	switch a {
	case atom.Area, atom.Br, atom.Embed, atom.Img, atom.Keygen, atom.Wbr, atom.Input, atom.Param, atom.Source, atom.Track, atom.Base,
		atom.Basefont, atom.Bgsound, atom.Link, atom.Meta:
		return void
	case atom.Hr:
		return void | closesP
	case atom.Script, atom.Style, atom.Title, atom.Textarea, atom.Iframe, atom.Noembed, atom.Noframes:
		return rawText
	case atom.Xmp:
		return rawText | closesP
	case atom.P, atom.Li, atom.Dd, atom.Dt:
		return closesP | endImplied
	case atom.Option, atom.Optgroup, atom.Rb, atom.Rp, atom.Rt, atom.Rtc:
		return endImplied
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return closesP | heading
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl,
		atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Header, atom.Hgroup, atom.Listing, atom.Main,
		atom.Menu, atom.Nav, atom.Ol, atom.Pre, atom.Search, atom.Section, atom.Summary, atom.Ul:
		return closesP
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong,
		atom.Tt, atom.U:
		return formatting
	case atom.Table:
		return closesP | holdsParts
	case atom.Td, atom.Th, atom.Caption:
		return tablePart
	case atom.Colgroup, atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr, atom.Col:
		return tablePart | holdsParts
	case atom.Html, atom.Head, atom.Body, atom.Frameset, atom.Frame, atom.Template, atom.Math, atom.Plaintext, atom.Image:
		return refused
	}
	return 0
}

func isTableBody(a atom.Atom) bool { return a == atom.Tbody || a == atom.Thead || a == atom.Tfoot }

// Places in grower.count.
const (
	countP = iota
	countA
	countNobr
	countButton
	countForm
	countSelect
	countedAtoms
)

// counted is the place of an element that must not be open twice, or not around certain others.
func counted(a atom.Atom) (int, bool) {
	switch a {
	case atom.P:
		return countP, true
	case atom.A:
		return countA, true
	case atom.Nobr:
		return countNobr, true
	case atom.Button:
		return countButton, true
	case atom.Form:
		return countForm, true
	case atom.Select:
		return countSelect, true
	}
	return 0, false
}
