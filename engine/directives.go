package engine

import (
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"luacrawl/engine/fetch/robots"
)

// Counters of what Response.Obeyed has kept back.
const (
	StatNoIndex  = "robotstxt/noindex"
	StatNoFollow = "robotstxt/nofollow"
)

// Directives is what the page says to crawlers about itself, in X-Robots-Tag headers and <meta> elements, to all of them or to Crawler.
func (r *Response) Directives() robots.Directives {
	d := robots.ParseHeader(r.Header.Values("X-Robots-Tag"), r.Crawler)
	if !mentionsTag(r.utf8(), "meta") {
		return d
	}
	root := r.document().root
	for n := root; n != nil; n = next(n, root) {
		if n.DataAtom != atom.Meta || n.Type != html.ElementNode {
			continue
		}
		name, _ := attrOf(n, "name")
		content, _ := attrOf(n, "content")
		d = d.Merge(robots.ParseMeta(name, content, r.Crawler))
	}
	return d
}

// heedDirectives decides what of the page's callback is taken.
func (p *page) heedDirectives(resp *Response) {
	if !p.Settings.RobotsMetaObey {
		return
	}
	resp.Obeyed = resp.Directives()
	resp.Obeyed.NoIndex = !resp.Obeyed.MayIndex(time.Now())
}
