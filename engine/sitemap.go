package engine

import (
	"context"
	"strings"

	"luacrawl/engine/fetch/robots"
	"luacrawl/engine/sitemap"
	"luacrawl/scheduler/weburl"
)

// Sitemap reads the page as a sitemap, or as a robots.txt that names some, with all its URLs absolute. What is no http(s) URL is left out.
func (r *Response) Sitemap(ctx context.Context) (*sitemap.Sitemap, error) {
	base, err := weburl.ParseBase(r.URL)
	if err != nil {
		return nil, err
	}
	if isRobotsTxt(r.URL) {
		found := &sitemap.Sitemap{}
		for _, url := range resolveAll(base, robots.Parse(r.Body).Sitemaps()) {
			found.Sitemaps = append(found.Sitemaps, sitemap.Entry{Loc: url})
		}
		return found, nil
	}
	found, err := sitemap.Parse(ctx, r.Body)
	if err != nil {
		return nil, err
	}
	found.Pages, found.Sitemaps = resolveEntries(base, found.Pages), resolveEntries(base, found.Sitemaps)
	return found, nil
}

func isRobotsTxt(url string) bool {
	_, path := splitOrigin(url)
	path, _, _ = strings.Cut(path, "?")
	return path == "/robots.txt"
}

func resolveEntries(base *weburl.Base, entries []sitemap.Entry) []sitemap.Entry {
	kept := entries[:0]
	for _, e := range entries {
		if e.Loc = resolveLink(base, e.Loc); e.Loc == "" {
			continue
		}
		e.Alternates = resolveAll(base, e.Alternates)
		kept = append(kept, e)
	}
	return kept
}

func resolveAll(base *weburl.Base, links []string) []string {
	var urls []string
	for _, link := range links {
		if u := resolveLink(base, link); u != "" {
			urls = append(urls, u)
		}
	}
	return urls
}

// resolveLink is the http(s) URL of a link without its fragment, "" for what is none.
func resolveLink(base *weburl.Base, link string) string {
	u, err := base.Resolve(link)
	if err != nil || !weburl.IsHTTP(u) {
		return ""
	}
	return weburl.StripFragment(u)
}

// SiteSitemaps are the sitemaps that the site's robots.txt names, as absolute URLs. known is false when it was not asked for.
func (r *Response) SiteSitemaps() (urls []string, known bool) {
	if r.Sitemaps == nil {
		return nil, false
	}
	base, err := weburl.ParseBase(r.URL)
	if err != nil {
		return nil, true
	}
	root, err := base.Resolve("/")
	if err == nil {
		base, err = weburl.ParseBase(root)
	}
	if err != nil {
		return nil, true
	}
	return resolveAll(base, r.Sitemaps), true
}
