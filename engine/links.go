package engine

import (
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"luacrawl/scheduler/weburl"
)

// LinkFilter says which links of a page to take. The zero value takes all of them, each URL once.
type LinkFilter struct {
	Allow, Deny []*Pattern // unanchored, on the absolute URL without fragment; no Allow allows all
	SameHost    bool       // host and port of the page's URL
	Restrict    *Selector  // only links inside its matches, and the matches themselves
	All         bool       // keep repeated URLs
}

// Links returns the absolute http(s) URLs of a and area elements in document order, without fragments. It fails only when the
// page's own URL cannot be read; a link that cannot is left out, as a browser would not follow it either.
func (r *Response) Links(f LinkFilter) ([]string, error) {
	base := r.Base()
	if base == nil {
		return nil, r.baseErr
	}
	c := linkCollector{LinkFilter: f, page: r, base: base, urls: make([]string, 0, 64)}
	c.here = c.pageOrigin(r.URL)
	if !f.All {
		c.seen = seenPool.Get().(map[string]struct{})
		defer func() { clear(c.seen); seenPool.Put(c.seen) }()
	}
	for _, root := range r.linkRoots(f.Restrict) {
		c.collect(root)
	}
	return c.urls, nil
}

// linkRoots are the subtrees to look in, none within another.
func (r *Response) linkRoots(restrict *Selector) []*html.Node {
	if restrict == nil {
		return []*html.Node{r.document().root}
	}
	var roots []*html.Node
	for _, m := range r.Select(restrict).all() {
		if m.attr == 0 && m.node.Type == html.ElementNode && !within(m.node, roots) {
			roots = append(roots, m.node)
		}
	}
	return roots
}

var seenPool = sync.Pool{New: func() any { return make(map[string]struct{}, 256) }}

// linkCollector takes the links of one page.
type linkCollector struct {
	LinkFilter
	page *Response
	base *weburl.Base
	here origin
	urls []string
	// seen has the URLs taken or refused, and the hrefs that led to them. The two do not get in each other's way: an href that is
	// a normalised URL stands for itself.
	seen map[string]struct{}
}

// collect takes the links of root and below.
func (c *linkCollector) collect(root *html.Node) {
	for n := root; n != nil; n = next(n, root) {
		if n.DataAtom != atom.A && n.DataAtom != atom.Area || n.Type != html.ElementNode {
			continue
		}
		if href, ok := attrOf(n, "href"); ok {
			c.href(href)
		}
	}
}

// href takes one link.
func (c *linkCollector) href(href string) {
	href = strings.Trim(href, htmlSpace)
	if i := strings.IndexByte(href, '#'); i >= 0 {
		href = href[:i]
	}
	if otherScheme(href) || c.isSeen(href) {
		return
	}
	u, err := c.base.Resolve(c.page.spellQuery(href))
	if err != nil || !weburl.IsHTTP(u) {
		return
	}
	if u != href && c.isSeen(u) || !c.wants(u) {
		return
	}
	c.urls = append(c.urls, u)
}

// isSeen reports whether s was seen before, and remembers it.
func (c *linkCollector) isSeen(s string) bool {
	if c.seen == nil {
		return false
	}
	n := len(c.seen)
	c.seen[s] = struct{}{}
	return len(c.seen) == n
}

// wants applies the filter to an absolute URL.
func (c *linkCollector) wants(u string) bool {
	if c.SameHost && !c.here.has(u) {
		return false
	}
	if len(c.Allow) > 0 && !anyMatch(c.Allow, u) {
		return false
	}
	return !anyMatch(c.Deny, u)
}

// otherScheme reports whether href is spelled with a scheme that is not followed (javascript:, mailto: ...), which spares reading
// it as a URL. An odd spelling that gets past here is found out after that.
func otherScheme(href string) bool {
	for i := range len(href) {
		c := href[i] | 0x20
		switch {
		case 'a' <= c && c <= 'z', i > 0 && '0' <= href[i] && href[i] <= '9', i > 0 && strings.IndexByte("+-.", href[i]) >= 0:
		case i > 0 && href[i] == ':':
			return !strings.EqualFold(href[:i], "http") && !strings.EqualFold(href[:i], "https")
		default:
			return false
		}
	}
	return false
}

// origin is a host with its port, to compare URLs with.
type origin struct {
	prefix string // what most URLs of the host start with
	host   string
}

// pageOrigin is the origin of the page itself, whatever its <base> says.
func (c *linkCollector) pageOrigin(page string) origin {
	if u, err := weburl.Parse(page); err == nil {
		page = u
	}
	o := origin{host: weburl.Host(page)}
	if i := strings.Index(page, "://"); i >= 0 {
		if end := strings.IndexByte(page[i+3:], '/'); end >= 0 {
			o.prefix = page[:i+3+end+1]
		}
	}
	return o
}

// has reports whether a normalised URL is on the host. http and https with their own ports are one host.
func (o origin) has(u string) bool {
	return o.prefix != "" && strings.HasPrefix(u, o.prefix) || weburl.Host(u) == o.host
}
