package engine_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"luacrawl/engine"
	"luacrawl/engine/fetch/robots"
	"luacrawl/scheduler/redistest"
)

// TestDirectivesOfPages: what a page says by header and by meta, to all crawlers and to this one, is found whatever else is on it, and
// obeyed only when that was asked for.
func TestDirectivesOfPages(t *testing.T) {
	t.Parallel()
	pages := map[string]struct {
		header, body string
		want         robots.Directives
	}{
		"/plain":   {"", "<meta name=viewport content=noindex><p>noindex", robots.Directives{}},
		"/header":  {"noindex", "", robots.Directives{NoIndex: true}},
		"/own":     {"mybot: nofollow, other: noindex", "", robots.Directives{NoFollow: true}},
		"/meta":    {"", `<head><meta name="ROBOTS" content="none">`, robots.Directives{NoIndex: true, NoFollow: true}},
		"/ownmeta": {"noarchive", `<p><meta content="nofollow" name="MyBot"></p>`, robots.Directives{NoFollow: true, NoArchive: true}},
		"/gone":    {"unavailable_after: 2001-01-01", "", robots.Directives{NoIndex: true}},
		"/json":    {"", `{"html": "<meta"}`, robots.Directives{}},
		"/bytes":   {"\x80noindex\xff", "\x00<meta \xff", robots.Directives{}},
	}
	base := serveAll(t, func(w http.ResponseWriter, r *http.Request) {
		p := pages[r.URL.Path]
		if p.header != "" {
			w.Header().Set("X-Robots-Tag", p.header)
		}
		_, _ = io.WriteString(w, p.body)
	})
	for _, obey := range []bool{false, true} {
		var mu sync.Mutex
		got := map[string]robots.Directives{}
		spider := passing()
		spider.callbacks["parse"] = func(r *engine.Response) (*engine.Output, error) {
			mu.Lock()
			defer mu.Unlock()
			r.Obeyed.UnavailableAfter = robots.Directives{}.UnavailableAfter
			got[strings.TrimPrefix(r.URL, base)] = r.Obeyed
			return &engine.Output{Revision: "rev1"}, nil
		}
		want, seeds := map[string]robots.Directives{}, []string{}
		for path, p := range pages {
			seeds = append(seeds, base+path)
			if want[path] = p.want; !obey {
				want[path] = robots.Directives{}
			}
		}
		s := openSettings()
		s.RobotsMetaObey, s.UserAgent = obey, "MyBot/1.0 (+http://a.test)"
		fleet(t, redistest.URL(t, "miniredis"), spider, 1, s, seeds...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("robots_meta_obey %v: %s", obey, diff)
		}
	}
}

// TestSitemapsOfASite: a page knows the sitemaps that its site's robots.txt names, on the worker that has asked for it and on those that
// have it from Redis.
func TestSitemapsOfASite(t *testing.T) {
	t.Parallel()
	lines := "User-agent: other\nDisallow: /\nSitemap: /a.xml\nSitemap: https://other.test/b.xml.gz\nSitemap: http://[\nSitemap: /" + strings.Repeat("x", 3000) + "\n"
	base, asked := robotsSite(t, text(lines))
	var mu sync.Mutex
	var found [][]string
	spider := passing()
	spider.callbacks["parse"] = func(r *engine.Response) (*engine.Output, error) {
		mu.Lock()
		defer mu.Unlock()
		urls, known, err := r.SiteSitemaps(t.Context())
		if err != nil {
			t.Error(err)
		}
		if !known {
			urls = []string{"unknown"}
		}
		found = append(found, urls)
		return &engine.Output{Revision: "rev1"}, nil
	}
	url := redistest.URL(t, "miniredis")
	fleet(t, url, spider, 1, obeyingSettings(), base+"/folder/1")
	fleet(t, url, spider, 1, obeyingSettings(), base+"/folder/2") // it knows nothing but what is in Redis
	fleet(t, url, spider, 1, openSettings(), base+"/folder/3")    // and this one does not ask
	want := []string{base + "/a.xml", "https://other.test/b.xml.gz"}
	if diff := cmp.Diff([][]string{want, want, {"unknown"}}, found); diff != "" {
		t.Error(diff)
	}
	if paths, _ := asked.list(); strings.Count(strings.Join(paths, " "), "/robots.txt") != 1 {
		t.Errorf("asked for %v", paths)
	}
}
