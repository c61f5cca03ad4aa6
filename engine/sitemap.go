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
		urls, err := resolveAll(ctx, base, robots.Parse(r.Body).Sitemaps())
		if err != nil {
			return nil, err
		}
		found := &sitemap.Sitemap{}
		for _, url := range urls {
			found.Sitemaps = append(found.Sitemaps, sitemap.Entry{Loc: url})
		}
		return found, nil
	}
	found, err := sitemap.Parse(ctx, r.Body)
	if err != nil {
		return nil, err
	}
	if found.Pages, err = resolveEntries(ctx, base, found.Pages); err != nil {
		return nil, err
	}
	if found.Sitemaps, err = resolveEntries(ctx, base, found.Sitemaps); err != nil {
		return nil, err
	}
	return found, nil
}

func isRobotsTxt(url string) bool {
	_, path := splitOrigin(url)
	path, _, _ = strings.Cut(path, "?")
	return path == "/robots.txt"
}

// resolveEvery is how many links are made absolute between two looks at the context.
const resolveEvery = 256

func resolveEntries(ctx context.Context, base *weburl.Base, entries []sitemap.Entry) ([]sitemap.Entry, error) {
	kept := entries[:0]
	for i, e := range entries {
		if i%resolveEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if e.Loc = resolveLink(base, e.Loc); e.Loc == "" {
			continue
		}
		var err error
		if e.Alternates, err = resolveAll(ctx, base, e.Alternates); err != nil {
			return nil, err
		}
		kept = append(kept, e)
	}
	return kept, nil
}

func resolveAll(ctx context.Context, base *weburl.Base, links []string) ([]string, error) {
	var urls []string
	for i, link := range links {
		if i%resolveEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if u := resolveLink(base, link); u != "" {
			urls = append(urls, u)
		}
	}
	return urls, nil
}

// resolveLink is the http(s) URL of a link without its fragment, "" for what is none.
func resolveLink(base *weburl.Base, link string) string {
	u, err := base.Resolve(link)
	if err != nil || !weburl.IsHTTP(u) {
		return ""
	}
	return weburl.StripFragment(u)
}

// SiteSitemaps are the sitemaps that the site's robots.txt names, as absolute URLs. known is false when it was not asked for. It fails when
// ctx ends.
func (r *Response) SiteSitemaps(ctx context.Context) (urls []string, known bool, err error) {
	if r.Sitemaps == nil {
		return nil, false, nil
	}
	base, err := weburl.ParseBase(r.URL)
	if err != nil {
		return nil, true, nil
	}
	root, err := base.Resolve("/")
	if err == nil {
		base, err = weburl.ParseBase(root)
	}
	if err != nil {
		return nil, true, nil
	}
	urls, err = resolveAll(ctx, base, r.Sitemaps)
	return urls, true, err
}
