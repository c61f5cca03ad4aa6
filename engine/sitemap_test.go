package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"luacrawl/engine/sitemap"
)

// expiring is a context that ends when it has been asked so many times.
type expiring struct {
	context.Context
	left int
}

func (c *expiring) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// A sitemap is as long as its site makes it: reading one ends with its call, whatever it is at.
func TestSitemapEndsWithItsContext(t *testing.T) {
	t.Parallel()
	const many = 10_000
	pages := "<urlset>" + strings.Repeat("<url><loc>/x</loc></url>", many) + "</urlset>"
	alternates := "<urlset><url><loc>/x</loc>" + strings.Repeat(`<link rel="alternate" href="/y"/>`, 999) + "</url></urlset>"
	var sitemaps strings.Builder
	for i := range many {
		fmt.Fprintf(&sitemaps, "Sitemap: /%d\n", i)
	}
	for name, c := range map[string]struct {
		url, body string
		looks     int // at the context, at least, beside the parser's
	}{
		"pages":      {"https://a.example/s.xml", pages, many / resolveEvery},
		"index":      {"https://a.example/s.xml", strings.NewReplacer("urlset", "sitemapindex", "url>", "sitemap>").Replace(pages), many / resolveEvery},
		"alternates": {"https://a.example/s.xml", alternates, 999 / resolveEvery},
		"robots.txt": {"https://a.example/robots.txt", sitemaps.String(), 1000 / resolveEvery}, // more of them are not kept
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &Response{URL: c.url, Body: []byte(c.body)}
			parser := 0
			if name != "robots.txt" {
				ctx := &expiring{t.Context(), many * 10}
				if _, err := sitemap.Parse(ctx, r.Body); err != nil {
					t.Fatal(err)
				}
				parser = many*10 - ctx.left
			}
			all := &expiring{t.Context(), many * 10}
			if _, err := r.Sitemap(all); err != nil {
				t.Fatal(err)
			}
			if looks := many*10 - all.left - parser; looks < c.looks {
				t.Errorf("%d looks at the context, want %d", looks, c.looks)
			}
			for _, left := range []int{parser, parser + c.looks - 1} {
				if found, err := r.Sitemap(&expiring{t.Context(), left}); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("after %d looks: %v, %v", left, found, err)
				}
			}
		})
	}
	r := &Response{URL: "https://a.example/x", Sitemaps: []string{"/x"}}
	if urls, _, err := r.SiteSitemaps(&expiring{t.Context(), 0}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("sitemaps of the site: %v, %v", urls, err)
	}
}
