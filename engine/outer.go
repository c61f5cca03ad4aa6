package engine

import (
	"strings"

	"golang.org/x/net/html"
)

// outerHTML is an element as HTML.
func outerHTML(n *html.Node) string {
	var b strings.Builder
	if err := html.Render(&b, n); err != nil {
		b.Reset()
		top := &html.Node{Type: html.DocumentNode}
		appendRenderable(top, n)
		_ = html.Render(&b, top)
	}
	return b.String()
}

// appendRenderable appends a copy of n that html.Render takes. It refuses content in elements that have none in HTML, while in
// an svg or math they may: there a <link> that is not closed holds all that follows. In the copy that comes after it.
func appendRenderable(to, n *html.Node) {
	c := &html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace, Attr: n.Attr}
	to.AppendChild(c)
	if !isVoid(n.DataAtom) {
		to = c
	}
	for child := range n.ChildNodes() {
		appendRenderable(to, child)
	}
}
