package luabind_test

import (
	"encoding/json"
	"testing"

	"luacrawl/engine"
	"luacrawl/engine/fetch/robots"
	"luacrawl/luabind/luabindtest"
	"luacrawl/scheduler"
)

// emitted calls parse of a spider, whose chunk gets the response, with a response, and gives its items.
func emitted(t *testing.T, chunk string, change func(*engine.Response)) (items []string, out *engine.Output) {
	t.Helper()
	f := luabindtest.Spider(t, luabindtest.Files{luabindtest.Main: "local spider = { name = 'a' }\nfunction spider.parse(response) " + chunk + " end\nreturn spider"})
	page := luabindtest.Response(&scheduler.Request{URL: "http://site.test/a/b"}, "")
	defer page.Release()
	change(page)
	out, err := f.Spider.Parse(t.Context(), page)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range out.Items {
		items = append(items, string(item))
	}
	return items, out
}

func TestResponseRobots(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		header   []string
		body     string
		sitemaps []string
		want     string
	}{
		{"nothing", nil, "", nil, `{"noarchive": false, "nofollow": false, "noindex": false}`},
		{"header", []string{"noindex", "other: nofollow"}, "", nil, `{"noarchive": false, "nofollow": false, "noindex": true}`},
		{"meta", nil, `<html><head><META NAME="robots" content="nofollow"><meta name=bot content=noarchive><meta name="other" content="noindex">`, nil, `{"noarchive": true, "nofollow": true, "noindex": false}`},
		{"both", []string{"bot: none"}, `<meta name="robots" content="index, follow">`, nil, `{"noarchive": false, "nofollow": true, "noindex": true}`},
		{"a date", []string{"unavailable_after: 2025-12-03"}, "", nil, `{"noarchive": false, "nofollow": false, "noindex": false, "unavailable_after": 1764720000}`},
		{"sitemaps", nil, "", []string{"http://other.test/s.xml.gz", "s.xml#x", "javascript:x", "/s2.xml"},
			`{"noarchive": false, "nofollow": false, "noindex": false, "sitemaps": ["http://other.test/s.xml.gz", "http://site.test/s.xml", "http://site.test/s2.xml"]}`},
	} {
		items, _ := emitted(t, `emit(response:robots())`, func(r *engine.Response) {
			r.Body, r.Crawler, r.Sitemaps = []byte(c.body), "bot", c.sitemaps
			r.Header["X-Robots-Tag"] = c.header
		})
		if len(items) != 1 || !sameJSON(t, items[0], c.want) {
			t.Errorf("%s: %s, want %s", c.name, items, c.want)
		}
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var both [2]any
	for i, text := range []string{a, b} {
		if err := json.Unmarshal([]byte(text), &both[i]); err != nil {
			t.Fatal(err)
		}
	}
	x, _ := json.Marshal(both[0])
	y, _ := json.Marshal(both[1])
	return string(x) == string(y)
}

func TestResponseSitemap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, url, body, want string }{
		{"urlset", "http://site.test/map/s.xml", `<urlset><url><loc>http://site.test/1</loc><lastmod>2025</lastmod></url><url><loc>../2#x</loc><link rel="alternate" href="/de/2"/></url><url><loc>mailto:x</loc></url></urlset>`,
			`{"sitemaps": {}, "urls": [{"lastmod": "2025", "loc": "http://site.test/1"}, {"alternates": ["http://site.test/de/2"], "loc": "http://site.test/2"}]}`},
		{"index", "http://site.test/s.xml", `<sitemapindex><sitemap><loc>http://site.test/s.xml.gz</loc></sitemap></sitemapindex>`, `{"sitemaps": [{"loc": "http://site.test/s.xml.gz"}], "urls": {}}`},
		{"robots.txt", "http://site.test/robots.txt?x", "User-agent: *\nDisallow: /\nSitemap: /s.xml\nSitemap: http://other.test/t.xml\n", `{"sitemaps": [{"loc": "http://site.test/s.xml"}, {"loc": "http://other.test/t.xml"}], "urls": {}}`},
		{"cut off", "http://site.test/s.xml", `<urlset><url><loc>http://site.test/1</loc></url><url`, `{"cut": "XML syntax error on line 1: unexpected EOF", "sitemaps": {}, "urls": [{"loc": "http://site.test/1"}]}`},
		{"none", "http://site.test/s.xml", `<html>`, `{"error": "no sitemap: neither <urlset> nor <sitemapindex>"}`},
	} {
		items, _ := emitted(t, `local map, err = response:sitemap() emit(map or { error = err })`, func(r *engine.Response) { r.URL, r.Body = c.url, []byte(c.body) })
		if len(items) != 1 || !sameJSON(t, items[0], c.want) {
			t.Errorf("%s: %s, want %s", c.name, items, c.want)
		}
	}
}

// TestObeyedDirectives: items and requests that the page forbids are counted and go no further, so no pipeline sees them.
func TestObeyedDirectives(t *testing.T) {
	t.Parallel()
	const chunk = `emit { a = 1 } emit { b = 2 } emit(request { url = "http://site.test/1" }) emit { request { url = "http://site.test/2" }, request { url = "http://site.test/3" } }`
	for _, c := range []struct {
		obeyed          robots.Directives
		items, requests int
		stats           map[string]int64
	}{
		{robots.Directives{}, 2, 3, nil},
		{robots.Directives{NoArchive: true}, 2, 3, nil},
		{robots.Directives{NoIndex: true}, 0, 3, map[string]int64{"robotstxt/noindex": 2}},
		{robots.Directives{NoFollow: true}, 2, 0, map[string]int64{"robotstxt/nofollow": 3}},
		{robots.Directives{NoFollow: true, NoIndex: true}, 0, 0, map[string]int64{"robotstxt/nofollow": 3, "robotstxt/noindex": 2}},
	} {
		items, out := emitted(t, chunk, func(r *engine.Response) { r.Obeyed = c.obeyed })
		if len(items) != c.items || len(out.Requests) != c.requests || len(out.Stats) != len(c.stats) {
			t.Errorf("%+v: items %s, %d requests, counters %v", c.obeyed, items, len(out.Requests), out.Stats)
		}
		for name, n := range c.stats {
			if out.Stats[name] != n {
				t.Errorf("%+v: %s is %d, want %d", c.obeyed, name, out.Stats[name], n)
			}
		}
	}
	f := luabindtest.Spider(t, luabindtest.Files{luabindtest.Main: `local spider = { name = 'a' } function spider.parse(response) emit { a = 1 } end function spider.process_item(item) error("it was seen") end return spider`})
	page := luabindtest.Response(&scheduler.Request{URL: "http://site.test/"}, "")
	page.Obeyed.NoIndex = true
	out, err := f.Spider.Parse(t.Context(), page)
	if err != nil || len(out.Failed)+len(out.Items) > 0 {
		t.Errorf("%+v, %v", out, err)
	}
}
