package engine

import (
	"errors"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// document is the tree of a page.
type document struct {
	root *html.Node // of type DocumentNode
	mem  *arena     // where its nodes are; nil when they are on the heap
}

// parseDocument builds the tree of a page as a browser without JavaScript does, so that <noscript> is markup. It always gives a
// tree, whatever the markup.
func parseDocument(text string) *document {
	mem := arenas.Get().(*arena)
	if root, ok := growDocument(text, mem); ok {
		return &document{root, mem}
	}
	mem.release()
	root, err := parseHTML(text)
	for _, depth := range []int{128, 32, 8} {
		if err == nil {
			break
		}
		// golang.org/x/net/html refuses a page with more than 512 open elements.
		root, err = parseHTML(string(flatten([]byte(text), depth)))
	}
	if err != nil {
		root = textDocument(text)
	}
	return &document{root: root}
}

// release gives the tree's memory to the next page.
func (d *document) release() {
	if d.mem != nil {
		d.mem.release()
	}
	*d = document{}
}

var errParser = errors.New("the HTML parser failed")

// parseHTML is what the html package makes of a page.
func parseHTML(text string) (root *html.Node, err error) {
	defer func() {
		if recover() != nil {
			err = errParser
		}
	}()
	return html.ParseWithOptions(strings.NewReader(text), html.ParseOptionEnableScripting(false))
}

// textDocument is a body that holds the page's text and nothing else.
func textDocument(text string) *html.Node {
	root := &html.Node{Type: html.DocumentNode}
	at := root
	for _, a := range []atom.Atom{atom.Html, atom.Body} {
		n := &html.Node{Type: html.ElementNode, DataAtom: a, Data: a.String()}
		at.AppendChild(n)
		at = n
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(text))
	for z.Next() != html.ErrorToken {
		if t := z.Token(); t.Type == html.TextToken {
			b.WriteString(t.Data)
		}
	}
	at.AppendChild(&html.Node{Type: html.TextNode, Data: b.String()})
	return root
}

// baseHref is the first <base href>, as it is written.
func (d *document) baseHref() (string, bool) {
	for n := range d.root.Descendants() {
		if n.DataAtom == atom.Base && n.Namespace == "" {
			if href, ok := attrOf(n, "href"); ok {
				return href, true
			}
		}
	}
	return "", false
}

// attrOf finds an attribute, in any namespace: the xlink:href of an svg's link is its href.
func attrOf(n *html.Node, key string) (string, bool) {
	if i := attrIndex(n, key); i >= 0 {
		return n.Attr[i].Val, true
	}
	return "", false
}

// attrIndex is the place of the first attribute of that name, or -1.
func attrIndex(n *html.Node, key string) int {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return i
		}
	}
	return -1
}

// next is the node after n in document order within root, or nil after the last.
func next(n, root *html.Node) *html.Node {
	if n.FirstChild != nil {
		return n.FirstChild
	}
	return nextOver(n, root)
}

// nextOver is next without the nodes below n.
func nextOver(n, root *html.Node) *html.Node {
	for n != root {
		if n.NextSibling != nil {
			return n.NextSibling
		}
		n = n.Parent
	}
	return nil
}

// appendText appends the text below n, in document order.
func appendText(b *strings.Builder, n *html.Node) {
	if n.Type == html.TextNode {
		b.WriteString(n.Data)
		return
	}
	for c := n.FirstChild; c != nil; c = next(c, n) {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
}

// textOf is the text below n. Nothing is copied when it is one piece.
func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	if c := n.FirstChild; c == nil {
		return ""
	} else if c.Type == html.TextNode && c.NextSibling == nil {
		return c.Data
	}
	var b strings.Builder
	appendText(&b, n)
	return b.String()
}
