package engine

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// growMaxDepth is below what the html package takes.
const growMaxDepth = 500

// growDocument builds the tree of a page whose elements are nested as its tags are, which most pages are. The tree is the one that
// the html package would build: wherever its rules would make anything else of the tags than what they say (an element left open
// or closed by another, text out of place in a table ...), growDocument gives up and returns false. What those rules look at is
// given in WHATWG HTML, 13.2.6.
func growDocument(text string, mem *arena) (*html.Node, bool) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, false
	}
	if strings.IndexByte(text, '\r') >= 0 {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	root := mem.node()
	root.Type = html.DocumentNode
	g := grower{scanner: scanner{src: text, mem: mem}, root: root}
	for g.pos < len(text) {
		if !g.step() {
			return nil, false
		}
	}
	return root, g.phase >= inBody
}

// grower builds a tree.
type grower struct {
	scanner
	root  *html.Node
	open  []*html.Node
	phase phase
	count [countedAtoms]int // open elements of the kinds that may not nest
}

// phase is where in the page the scan is.
type phase int

const (
	beforeHTML phase = iota
	beforeHead
	inHead
	afterHead
	inBody
	afterBody
	afterHTML
)

func (g *grower) top() *html.Node {
	if len(g.open) == 0 {
		return g.root
	}
	return g.open[len(g.open)-1]
}

// step takes one token.
func (g *grower) step() bool {
	rest := g.src[g.pos:]
	if rest[0] != '<' {
		return g.addText(g.text())
	}
	if len(rest) < 4 {
		return false
	}
	switch {
	case rest[1] == '/':
		return g.endTag() && g.end()
	case rest[1] != '!':
		return g.startTag() && g.start()
	case rest[2] == '-' && rest[3] == '-':
		text, ok := g.comment()
		if ok {
			g.addComment(text)
		}
		return ok
	}
	n, ok := g.doctype()
	if !ok || g.phase != beforeHTML || g.root.LastChild != nil {
		return false
	}
	g.root.AppendChild(n)
	return true
}

func (g *grower) addComment(text string) {
	n := g.mem.node()
	n.Type, n.Data = html.CommentNode, text
	switch g.phase {
	case beforeHTML, afterHTML:
		g.root.AppendChild(n)
	case afterBody:
		g.open[0].AppendChild(n)
	default:
		g.top().AppendChild(n)
	}
}

func (g *grower) addText(text string) bool {
	space := strings.TrimLeft(text, htmlSpace) == ""
	switch g.phase {
	case beforeHTML, beforeHead:
		return space
	case inHead, afterHead, afterBody, afterHTML:
		if !space {
			return false
		}
	}
	at := g.top()
	if kindOf(at.DataAtom)&holdsParts != 0 && !space {
		return false
	}
	if at.FirstChild == nil && (at.DataAtom == atom.Pre || at.DataAtom == atom.Listing) {
		text = trimNewline(text)
	}
	g.appendText(at, text)
	return true
}

func (g *grower) appendText(at *html.Node, text string) {
	if text == "" {
		return
	}
	if last := at.LastChild; last != nil && last.Type == html.TextNode {
		last.Data += text
		return
	}
	n := g.mem.node()
	n.Type, n.Data = html.TextNode, text
	at.AppendChild(n)
}

// addElement adds an element for the start tag read last.
func (g *grower) addElement() *html.Node {
	n := g.mem.node()
	n.Type, n.DataAtom, n.Data, n.Attr = html.ElementNode, g.name, g.data, g.attr
	g.top().AppendChild(n)
	return n
}

func (g *grower) push(n *html.Node) bool {
	g.open = append(g.open, n)
	if c, ok := counted(n.DataAtom); ok {
		g.count[c]++
	}
	return len(g.open) <= growMaxDepth
}

func (g *grower) pop() {
	last := len(g.open) - 1
	if c, ok := counted(g.open[last].DataAtom); ok {
		g.count[c]--
	}
	g.open = g.open[:last]
}

// start takes the start tag read last.
func (g *grower) start() bool {
	switch g.phase {
	case beforeHTML:
		return g.enter(atom.Html, beforeHead)
	case beforeHead:
		return g.enter(atom.Head, inHead)
	case inHead:
		return g.startInHead()
	case afterHead:
		return g.enter(atom.Body, inBody)
	case inBody:
		return g.startInBody()
	}
	return false
}

// enter opens one of the three elements that every page has; this scan wants their tags written.
func (g *grower) enter(tag atom.Atom, then phase) bool {
	if g.name != tag {
		return false
	}
	g.phase = then
	return g.push(g.addElement())
}

func (g *grower) startInHead() bool {
	switch g.name {
	case atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta:
		g.addElement()
		return true
	case atom.Script, atom.Style, atom.Title, atom.Noframes:
		return g.addRaw()
	}
	return false
}

// addRaw adds an element whose content is text whatever it looks like.
func (g *grower) addRaw() bool {
	n := g.addElement()
	text, ok := g.raw(n.DataAtom)
	if n.DataAtom == atom.Textarea {
		text = trimNewline(text)
	}
	g.appendText(n, text)
	return ok
}

// trimNewline drops the line break that may follow a start tag without being part of the text.
func trimNewline(text string) string {
	return strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
}

// startInBody takes a start tag in the body, after closing what it closes. Where it would close more than that, or be taken
// elsewhere, what is left open does not fit it, and the page is given up.
func (g *grower) startInBody() bool {
	if g.top().Namespace != "" {
		return g.startInSVG()
	}
	k := kindOf(g.name)
	if k&tablePart != 0 {
		return g.startTablePart()
	}
	if k&refused != 0 {
		return false
	}
	if kindOf(g.top().DataAtom)&holdsParts != 0 {
		return (g.name == atom.Script || g.name == atom.Style) && g.top().DataAtom != atom.Colgroup && g.addRaw()
	}
	if !g.closeFor() || k&closesP != 0 && !g.closeP() || !g.nests() {
		return false
	}
	switch {
	case k&rawText != 0:
		return g.addRaw()
	case k&void != 0:
		g.addElement()
		return true
	case g.name == atom.Svg:
		return g.addForeign()
	}
	n := g.addElement()
	if k&formatting != 0 {
		slices.SortFunc(n.Attr, compareAttr) // as the html package leaves them
	}
	return g.push(n)
}

// closeP closes the paragraph that a block ends.
func (g *grower) closeP() bool {
	if g.count[countP] == 0 {
		return true
	}
	if g.name == atom.Table && g.mode != standardMode {
		return g.mode == quirksMode // where a table may be in a paragraph
	}
	if g.top().DataAtom != atom.P {
		return false
	}
	g.pop()
	return g.count[countP] == 0
}

// nests reports whether an element may open here without closing another.
func (g *grower) nests() bool {
	top := g.top().DataAtom
	switch g.name {
	case atom.A:
		return g.count[countA] == 0
	case atom.Nobr:
		return g.count[countNobr] == 0
	case atom.Button:
		return g.count[countButton] == 0
	case atom.Form:
		return g.count[countForm] == 0
	case atom.Select, atom.Input, atom.Hr:
		return g.count[countSelect] == 0
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return kindOf(top)&heading == 0
	case atom.Rb, atom.Rtc, atom.Rp, atom.Rt:
		return kindOf(top)&endImplied == 0
	}
	return true
}

// end takes the end tag read last. It must be that of the element opened last, but for elements whose end tag may be left out.
func (g *grower) end() bool {
	switch g.phase {
	case beforeHTML, beforeHead, afterHead, afterHTML:
		return false
	case afterBody:
		g.phase = afterHTML
		return g.name == atom.Html
	}
	if g.name == atom.P && g.count[countP] == 0 {
		return g.addEmptyP()
	}
	if k := kindOf(g.name); g.top().Namespace == "" && (k&(closesP|tablePart) != 0 || g.name == atom.Select) {
		g.closeBefore()
	}
	if g.name == atom.Body {
		return g.endBody()
	}
	if n := g.top(); n.DataAtom != g.name || n.Data != g.data {
		return false
	}
	if g.name == atom.Head {
		g.phase = afterHead
	}
	g.pop()
	return true
}

// endBody closes nothing: white space that follows goes where it would have gone before.
func (g *grower) endBody() bool {
	if g.phase != inBody {
		return false
	}
	g.phase = afterBody
	for _, n := range g.open[2:] {
		if kindOf(n.DataAtom)&endImplied == 0 || n.Namespace != "" {
			return false
		}
	}
	return true
}

// addEmptyP adds the paragraph that an end tag of none makes.
func (g *grower) addEmptyP() bool {
	at := g.top()
	if at.Namespace != "" || kindOf(at.DataAtom)&holdsParts != 0 || g.phase != inBody {
		return false
	}
	g.addImplied(atom.P)
	return true
}

// closeBefore closes what an end tag closes on the way to its element.
func (g *grower) closeBefore() {
	for at := g.top().DataAtom; at != g.name && kindOf(at)&endImplied != 0; at = g.top().DataAtom {
		g.pop()
	}
	switch g.name {
	case atom.Tr:
		g.closeParts(atom.Td, atom.Th)
	case atom.Tbody, atom.Thead, atom.Tfoot:
		g.closeParts(atom.Td, atom.Th, atom.Tr)
	case atom.Table:
		g.closeParts(atom.Td, atom.Th, atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot)
	}
}

func compareAttr(a, b html.Attribute) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Val, b.Val))
}
