// Package sitemap reads sitemaps (sitemaps.org, 0.9): lists of pages, and of other sitemaps, as XML, gzipped or not. It does no I/O.
package sitemap

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/html/charset"
)

// What one sitemap may hold, by the protocol, and what one of its tags and texts may take.
const (
	MaxEntries = 50_000
	MaxSize    = 50 << 20
	maxToken   = 1 << 20
	maxText    = 8 << 10 // of a URL or a date
	maxOthers  = 1000    // alternates of a page
)

// Sitemap is what a sitemap lists.
type Sitemap struct {
	Pages    []Entry
	Sitemaps []Entry // of an index
	Cut      error   // why the rest of it was not read; nil when all was
}

// Entry is a page or a sitemap. Nothing has checked that its texts are URLs and a date.
type Entry struct {
	Loc        string
	LastMod    string   // as it is written, "" for none
	Alternates []string // the same page in other languages
}

// Parse reads a sitemap. A body that is damaged, too large or too long gives what was read until there, with Cut set. It fails for
// what does not begin as a sitemap, and when ctx ends.
func Parse(ctx context.Context, body []byte) (*Sitemap, error) { return parse(ctx, body, MaxSize) }

func parse(ctx context.Context, body []byte, most int) (*Sitemap, error) {
	r := &reader{from: bytes.NewReader(body), most: most, left: most}
	if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("no sitemap: %w", err)
		}
		r.from = unpacked
	}
	p := &parser{xml: xml.NewDecoder(r), bytes: r}
	p.xml.Strict, p.xml.Entity, p.xml.CharsetReader = false, xml.HTMLEntity, charset.NewReaderLabel
	err := p.run(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case p.rooted || p.entries() > 0:
		p.found.Cut = err
		return &p.found, nil
	case err != nil:
		return nil, fmt.Errorf("no sitemap: %w", err)
	default:
		return nil, errors.New("no sitemap: neither <urlset> nor <sitemapindex>")
	}
}

// parser goes through the tags of a sitemap. Elements are known by their names without prefix and their depth below an entry.
type parser struct {
	xml    *xml.Decoder
	bytes  *reader
	found  Sitemap
	rooted bool   // there was a urlset or a sitemapindex
	open   bool   // and its end is still to come
	kind   string // of the entry: url or sitemap, "" outside
	depth  int    // below the entry
	entry  Entry
	text   *string // what the text of the element that is read is for
}

// checkEvery is how many tokens are read between two looks at the context.
const checkEvery = 256

func (p *parser) run(ctx context.Context) error {
	for n := 0; ; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p.bytes.token = maxToken
		token, err := p.xml.RawToken() // which keeps no record of open elements, so depth costs nothing
		if err != nil {
			if errors.Is(err, io.EOF) && p.kind == "" && !p.open {
				return nil
			}
			if errors.Is(err, io.EOF) {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if isEntry(t.Name.Local) && p.entries() == MaxEntries {
				return fmt.Errorf("it has more than %d entries", MaxEntries)
			}
			p.start(t)
		case xml.EndElement:
			p.end(t.Name.Local)
		case xml.CharData:
			if p.text != nil && len(*p.text)+len(t) <= maxText {
				*p.text += string(t)
			}
		}
	}
}

func (p *parser) entries() int { return len(p.found.Pages) + len(p.found.Sitemaps) }

func isEntry(name string) bool { return name == "url" || name == "sitemap" }

func isRoot(name string) bool { return name == "urlset" || name == "sitemapindex" }

func (p *parser) start(t xml.StartElement) {
	switch name := t.Name.Local; {
	case isEntry(name):
		p.kind, p.depth, p.entry, p.text = name, 0, Entry{}, nil
		return
	case isRoot(name):
		p.rooted, p.open = true, true
		return
	case p.kind == "":
		return
	}
	p.depth++
	p.text = nil
	if p.depth > 1 { // of an image or a video of the page
		return
	}
	switch t.Name.Local {
	case "loc":
		p.text = &p.entry.Loc
	case "lastmod":
		p.text = &p.entry.LastMod
	case "link":
		p.alternate(t.Attr)
	}
}

// alternate takes <xhtml:link rel="alternate" href="...">.
func (p *parser) alternate(attrs []xml.Attr) {
	href, isAlternate := "", false
	for _, a := range attrs {
		switch a.Name.Local {
		case "href":
			href = strings.TrimSpace(a.Value)
		case "rel":
			isAlternate = strings.EqualFold(a.Value, "alternate")
		}
	}
	if isAlternate && href != "" && len(href) <= maxText && len(p.entry.Alternates) < maxOthers {
		p.entry.Alternates = append(p.entry.Alternates, href)
	}
}

func (p *parser) end(name string) {
	p.text = nil
	if isRoot(name) {
		p.open = false
	}
	if name != p.kind {
		p.depth--
		return
	}
	p.entry.Loc, p.entry.LastMod = strings.TrimSpace(p.entry.Loc), strings.TrimSpace(p.entry.LastMod)
	switch {
	case p.entry.Loc == "":
	case p.kind == "url":
		p.found.Pages = append(p.found.Pages, p.entry)
	case p.kind == "sitemap":
		p.found.Sitemaps = append(p.found.Sitemaps, p.entry)
	}
	p.kind = ""
}

// reader gives most bytes, and maxToken of them for one token.
type reader struct {
	from  io.Reader
	most  int
	left  int // of most
	token int // of the token
	buf   [4096]byte
	at, n int
	err   error // of from
}

// ReadByte makes it an io.ByteReader, so that the decoder reads no further than it needs.
func (r *reader) ReadByte() (byte, error) {
	if r.at == r.n {
		if r.err != nil {
			return 0, r.err
		}
		for r.n, r.at = 0, 0; r.n == 0; {
			if r.n, r.err = r.from.Read(r.buf[:]); r.n == 0 && r.err != nil {
				return 0, r.err
			}
		}
	}
	if r.left == 0 {
		return 0, fmt.Errorf("it has more than %d MB", r.most>>20)
	}
	if r.token == 0 {
		return 0, fmt.Errorf("one tag or text of it has more than %d KB", maxToken>>10)
	}
	c := r.buf[r.at]
	r.at, r.left, r.token = r.at+1, r.left-1, r.token-1
	return c, nil
}

// Read is for what decodes a charset; it fills its own buffer, so a token may be larger by that.
func (r *reader) Read(b []byte) (n int, err error) {
	for n < len(b) && n < len(r.buf) {
		if b[n], err = r.ReadByte(); err != nil {
			if n > 0 {
				return n, nil
			}
			return 0, err
		}
		n++
	}
	return n, nil
}
