package engine

import (
	"bytes"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// flattenSight is how many open elements an end tag looks through: a page of end tags that find nothing must not take forever.
const flattenSight = 256

// flatten rewrites a page so that at most about depth elements are open at once. An element that would be nested deeper becomes
// a later sibling of the deepest one, so that no element, attribute or text is lost; only who contains whom changes, and only
// down there.
func flatten(text []byte, depth int) []byte {
	f := flattener{depth: depth, out: make([]byte, 0, len(text)+len(text)/4), count: map[string]int{}}
	z := html.NewTokenizer(bytes.NewReader(text))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return f.out
		}
		raw := z.Raw()
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			raw = append([]byte(nil), raw...) // TagName lowers the case in place
			name, _ := z.TagName()
			f.start(string(name), raw, kind == html.SelfClosingTagToken)
			if f.foreign > 0 || string(name) == "noscript" {
				z.NextIsNotRawText()
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			f.end(string(name))
		default:
			f.out = append(f.out, raw...)
		}
	}
}

// flattener keeps the open elements as the source nests them, which is at least as deep as the tree will be.
type flattener struct {
	depth   int
	out     []byte
	open    []openTag
	count   map[string]int // of open, by name
	written int            // how many of open have their start tag, and no end tag, in out
	foreign int            // how many of open are svg or math
}

type openTag struct {
	name   string
	atom   atom.Atom
	closed bool // its end tag has been written early
}

// start takes a start tag.
func (f *flattener) start(name string, raw []byte, selfClosing bool) {
	a := atom.Lookup([]byte(name))
	if isVoid(a) || isOutline(a) || selfClosing && f.foreign > 0 {
		f.out = append(f.out, raw...)
		return
	}
	for i := len(f.open) - 1; f.written >= f.depth && i >= 0; i-- {
		if !f.open[i].closed {
			f.close(i)
		}
	}
	f.out = append(f.out, raw...)
	f.open = append(f.open, openTag{name: name, atom: a})
	f.count[name]++
	f.written++
	if a == atom.Svg || a == atom.Math {
		f.foreign++
	}
}

// end takes an end tag: everything down to its element is closed. The parser closes most of that by itself, but formatting it
// would open again in what follows. An end tag without an open element is dropped.
func (f *flattener) end(name string) {
	a := atom.Lookup([]byte(name))
	if isOutline(a) || a == atom.Br || a == atom.P && !f.has(name, a) {
		f.out = append(f.out, "</"+name+">"...) // the last two make an element of their own
		return
	}
	if !f.has(name, a) {
		return
	}
	for {
		i := len(f.open) - 1
		top := f.open[i]
		switch {
		case top.closed:
		case top.name == name || kindOf(top.atom)&formatting != 0:
			f.close(i)
		default:
			f.written--
		}
		if top.atom == atom.Svg || top.atom == atom.Math {
			f.foreign--
		}
		f.open = f.open[:i]
		f.count[top.name]--
		if top.name == name {
			return
		}
	}
}

// has reports whether an end tag finds its element open. A table's parts and what is in them do not see past the table.
func (f *flattener) has(name string, a atom.Atom) bool {
	if f.count[name] == 0 {
		return false
	}
	for i := len(f.open) - 1; i >= max(0, len(f.open)-flattenSight); i-- {
		if f.open[i].name == name {
			return true
		}
		switch f.open[i].atom {
		case atom.Table, atom.Template:
			return false
		case atom.Td, atom.Th, atom.Caption:
			if !isTablePart(a) {
				return false
			}
		}
	}
	return false
}

// close writes the end tag of the i-th open element.
func (f *flattener) close(i int) {
	f.out = append(f.out, "</"+f.open[i].name+">"...)
	f.open[i].closed = true
	f.written--
}

// isVoid reports whether an element never has content (WHATWG HTML, 13.1.2, and the obsolete ones).
func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Basefont, atom.Bgsound, atom.Br, atom.Col, atom.Embed, atom.Frame, atom.Hr, atom.Image, atom.Img,
		atom.Input, atom.Keygen, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// isOutline reports whether an element is one that a page has once, whose tags may be left out or repeated.
func isOutline(a atom.Atom) bool {
	return a == atom.Html || a == atom.Head || a == atom.Body || a == atom.Frameset
}

func isTablePart(a atom.Atom) bool {
	switch a {
	case atom.Table, atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption:
		return true
	}
	return false
}
