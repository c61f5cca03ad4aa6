package cli_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// fileSite has pages of which each names three files: one of its own, one that it shares with every fifth page, and a copy of that one
// under another URL.
type fileSite struct {
	*httptest.Server
	delay time.Duration

	mu    sync.Mutex
	asked map[string]int // guarded by mu
}

func newFileSite(t *testing.T, delay time.Duration) *fileSite {
	t.Helper()
	s := &fileSite{delay: delay, asked: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked[r.URL.Path]++
		s.mu.Unlock()
		folder, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if folder != "page" {
			select {
			case <-time.After(s.delay):
			case <-r.Context().Done():
			}
			w.Header().Set("Content-Type", "image/png")
			io.WriteString(w, strings.Repeat(strings.TrimPrefix(name, "copy-"), 10_000))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// fileSpider writes a spider whose items have files.
func fileSpider(t *testing.T, s *fileStore, options, urls string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shots.lua")
	text := `local spider = { name = "shots", pipelines = { { "files", order = 100, store = "` + s.store + `"` + options + ` }, { "redis", order = 400 } } }
function spider.parse(response)
  local n = response.url:match("%d+$")
  emit { page = n, file_urls = ` + urls + ` }
end
return spider
`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const threeFiles = `{ response:urljoin("/own/" .. n), response:urljoin("/shared/" .. n % 5), response:urljoin("/shared/copy-" .. n % 5) }`

// shot is an item of such a spider.
type shot struct {
	Page     string
	FileURLs []string `json:"file_urls"`
	Files    []struct{ URL, Path, Checksum, Status string }
}

func shots(t *testing.T, lines []string) map[string]shot {
	t.Helper()
	all := map[string]shot{}
	for _, line := range lines {
		var s shot
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatalf("item %s: %v", line, err)
		}
		if _, twice := all[s.Page]; twice {
			t.Errorf("page %s is there twice", s.Page)
		}
		all[s.Page] = s
	}
	return all
}

// wantWholeFiles checks that each item has its files, and that they hold what they are named by.
func wantWholeFiles(t *testing.T, store *fileStore, all map[string]shot, pages int) {
	t.Helper()
	there := store.all(t)
	if len(all) != pages {
		t.Errorf("%d items, want %d", len(all), pages)
	}
	for page, s := range all {
		if len(s.Files) != 3 || s.Files[1].Path != s.Files[2].Path {
			t.Errorf("page %s has files %+v", page, s.Files)
		}
		for i, f := range s.Files {
			body, ok := there[f.Path]
			sum := sha256.Sum256(body)
			if !ok || hex.EncodeToString(sum[:]) != f.Checksum || !strings.Contains(f.Path, f.Checksum) || !strings.HasSuffix(f.Path, ".png") || f.URL != s.FileURLs[i] {
				t.Errorf("page %s: %+v: there %v", page, f, ok)
			}
		}
	}
}

func seedPages(redis *redistest.Server, site *fileSite, pages int) {
	for n := range pages {
		redis.Strings("LPUSH", "shots:start_urls", fmt.Sprintf("%s/page/%d", site.URL, n))
	}
}

func startShots(t *testing.T, n int, s *fileStore, spider string, redis *redistest.Server, more ...string) (workers []*process) {
	t.Helper()
	for range n {
		args := append([]string{"run", spider, "--until-done", "--redis", redis.URL(), "--data", s.spool, "--set", "lease=2", "--set", "concurrent_requests_per_domain=16"}, more...)
		workers = append(workers, startEnvironment(t, "luacrawl", t.TempDir(), s.environ(), args...))
	}
	return workers
}

func TestFilesAreFetchedOnceInTheFleet(t *testing.T) {
	t.Parallel()
	everyFileStore(t, func(t *testing.T, s *fileStore) {
		const pages = 60
		redis := redistest.Start(t, redistest.Options{})
		site := newFileSite(t, 30*time.Millisecond)
		seedPages(redis, site, pages)
		for _, p := range startShots(t, 2, s, fileSpider(t, s, "", threeFiles), redis) {
			p.wantExit(t, 2*time.Minute, 0)
		}
		wantWholeFiles(t, s, shots(t, redis.Strings("LRANGE", "shots:items", "0", "-1")), pages)
		for path, n := range site.asked {
			if n != 1 {
				t.Errorf("%s was fetched %d times", path, n)
			}
		}
		if kept := s.count(t, "full", ""); kept != pages { // /own/3 and /shared/3 hold the same
			t.Errorf("%d files kept, want %d", kept, pages)
		}
		s.wantNothingHalf(t)
	})
}

func TestKilledWorkersLoseNoFiles(t *testing.T) {
	t.Parallel()
	everyFileStore(t, func(t *testing.T, s *fileStore) {
		const pages = 60
		redis := redistest.Start(t, redistest.Options{})
		site := newFileSite(t, 150*time.Millisecond)
		seedPages(redis, site, pages)
		spider := fileSpider(t, s, "", threeFiles)
		workers := startShots(t, 2, s, spider, redis)
		for kills := range 3 {
			waitUntil(t, func() bool { return s.count(t, "urls", ".json") > 5+10*kills }) // files are there, and more to come
			workers[kills%2].kill()
			workers[kills%2] = startShots(t, 1, s, spider, redis)[0]
		}
		if n := len(redis.Strings("LRANGE", "shots:items", "0", "-1")); n == pages {
			t.Fatal("the crawl was over before the kills: slow the site")
		}
		for _, p := range workers {
			p.wantExit(t, 3*time.Minute, 0)
		}
		wantWholeFiles(t, s, shots(t, redis.Strings("LRANGE", "shots:items", "0", "-1")), pages)
		if dead := redis.Strings("LRANGE", "shots:dead", "0", "-1"); len(dead) > 0 {
			t.Errorf("dead: %q", dead)
		}
	})
}

func waitUntil(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it did not happen within a minute")
		}
	}
}

// badFiles answers with files that no pipeline should take.
func badFiles(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "image/png")
	switch r.URL.Path {
	case "/good", "/target":
		io.WriteString(w, "good")
	case "/moved":
		http.Redirect(w, r, "/target", http.StatusFound)
	case "/huge": // 10 GB, said in the header
		w.Header().Set("Content-Length", "10737418240")
		_, _ = w.Write(make([]byte, 1000))
	case "/endless": // and not said
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 100_000)); err != nil {
				return
			}
		}
	case "/page.html":
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<p>no image")
	case "/cut":
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "only this")
	case "/empty":
	case "/gone":
		w.WriteHeader(http.StatusNotFound)
	case "/loop":
		http.Redirect(w, r, "/loop", http.StatusFound)
	}
}

func TestBadFilesCostOnlyThemselves(t *testing.T) {
	t.Parallel()
	everyFileStore(t, func(t *testing.T, s *fileStore) {
		redis := redistest.Start(t, redistest.Options{})
		site := httptest.NewServer(http.HandlerFunc(badFiles))
		t.Cleanup(site.Close)
		spider := fileSpider(t, s, `, max_size = "1MB", types = { "image/*" }`, `{ response:urljoin("/huge"), response:urljoin("/endless"), response:urljoin("/page.html"), response:urljoin("/cut"),
      response:urljoin("/empty"), response:urljoin("/gone"), response:urljoin("/loop"), "no URL", "ftp://x/", "http://127.0.0.1:1/x", response:urljoin("/moved"), response:urljoin("/good") }`)
		p := startShots(t, 1, s, spider, redis, "--seed", site.URL+"/1", "--set", "retry_times=1")[0]
		p.wantExit(t, 2*time.Minute, 0)
		all := shots(t, redis.Strings("LRANGE", "shots:items", "0", "-1"))
		var got []string
		for _, f := range all["1"].Files {
			got = append(got, strings.TrimPrefix(f.URL, site.URL)+" "+f.Status)
		}
		if want := []string{"/moved downloaded", "/good downloaded"}; !slices.Equal(got, want) {
			t.Errorf("files %q, want %q\n%s", got, want, p.output)
		}
		for name, want := range map[string]string{
			"file_error_count": "10", "file_error_count/too_large": "2", "file_error_count/wrong_type": "1", "file_error_count/broken": "1", "file_error_count/empty": "1",
			"file_error_count/http_status": "1", "file_error_count/too_many_redirects": "1", "file_error_count/invalid_url": "2", "file_status_count/downloaded": "2", "item_scraped_count": "1",
		} {
			if got := redis.Strings("HMGET", "shots:stats", name); got[0] != want {
				t.Errorf("%s is %q, want %s", name, got, want)
			}
		}
		if kept := s.count(t, "full", ""); kept != 1 { // both hold the same
			t.Errorf("%d files kept", kept)
		}
		s.wantNothingHalf(t)
	})
}

func TestStoreThatTakesNothing(t *testing.T) {
	t.Parallel()
	everyFileStore(t, func(t *testing.T, s *fileStore) {
		redis := redistest.Start(t, redistest.Options{})
		site := newFileSite(t, 0)
		mend := s.fail(t)
		seedPages(redis, site, 3)
		p := startShots(t, 1, s, fileSpider(t, s, "", threeFiles), redis)[0]
		waitUntil(t, func() bool { return strings.Contains(p.output.String(), "takes nothing") })
		mend()
		p.wantExit(t, 2*time.Minute, 0)
		wantWholeFiles(t, s, shots(t, redis.Strings("LRANGE", "shots:items", "0", "-1")), 3)
		if n := strings.Count(p.output.String(), "takes nothing"); n != 1 {
			t.Errorf("it was said %d times:\n%s", n, p.output)
		}
		for path, n := range site.asked {
			if n != 1 {
				t.Errorf("%s was fetched %d times", path, n)
			}
		}
		s.wantNothingHalf(t)
	})
}
