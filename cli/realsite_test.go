package cli_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// sitesFolder is where real pages are laid out: LUACRAWL_SITES, or luacrawl-sites in the user's cache folder; "" when they are not. In it
// www/SITE has the pages, data/SITE.expect the URLs that a crawl of the .html links from SITE/index.html fetches, data/SITE.dead the dead links.
func sitesFolder() string {
	folder := os.Getenv("LUACRAWL_SITES")
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		folder = filepath.Join(cache, "luacrawl-sites")
	}
	if _, err := os.Stat(filepath.Join(folder, "data", "jdk.expect")); err != nil {
		return ""
	}
	return folder
}

// realSite serves the pages of one of the sites.
func realSite(t *testing.T, folder, name string, p *pace) *savedSite {
	t.Helper()
	files := http.Dir(filepath.Join(folder, "www"))
	var mu sync.Mutex
	fetched := map[string]int{} // guarded by mu
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		fetched[r.URL.Path]++
		mu.Unlock()
		p.wait(r)
		file, err := files.Open(r.URL.Path)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil || info.IsDir() {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, r.URL.Path, info.ModTime(), file)
	}))
	t.Cleanup(server.Close)
	return &savedSite{
		seed:  server.URL + "/" + name + "/index.html",
		links: `{ allow = { [[\.html$]] }, same_host = true }`,
		pages: listed(t, filepath.Join(folder, "data", name+".expect")),
		dead:  len(listed(t, filepath.Join(folder, "data", name+".dead"))),
		fetches: func() map[string]int {
			mu.Lock()
			defer mu.Unlock()
			return maps.Clone(fetched)
		},
	}
}

// listed are the paths of the URLs in a file, one a line.
func listed(t *testing.T, file string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]int{}
	for line := range strings.Lines(string(text)) {
		u, err := url.Parse(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		paths[u.Path] = 1
	}
	return paths
}
