package cli_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// startWaiting starts a worker that waits for seeds, and returns when it does.
func startWaiting(t *testing.T, redis *redistest.Server, args ...string) *process {
	t.Helper()
	spider, err := filepath.Abs(filepath.Join("testdata", "spiders", "graph.lua"))
	if err != nil {
		t.Fatal(err)
	}
	p := startLuacrawl(t, "", append([]string{"run", spider, "--redis", redis.URL()}, args...)...)
	eventually(t, 10*time.Second, "the worker waits", func() bool { return strings.Contains(p.output.String(), "lpush graph:start_urls") })
	return p
}

func TestSeedOfAWaitingRunIsFetchedWithinASecond(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, redistest.Options{})
	site := newGraphSite(t, &graphSite{pages: 3})
	startWaiting(t, redis)
	for i := range 3 {
		redis.Strings("LPUSH", "graph:start_urls", site.url("127.0.0.1", 0)+fmt.Sprintf("?%d", i))
		eventually(t, time.Second, "the seed is fetched", func() bool { return site.fetches()[fmt.Sprintf("%s/0", site.host())] > i })
	}
}

func TestSeedsOfEachType(t *testing.T) {
	t.Parallel()
	const bad = "no url at all"
	for _, c := range []struct {
		name    string
		push    func(redis *redistest.Server, urls []string)
		ordered bool
	}{
		{"list", func(r *redistest.Server, urls []string) {
			r.Strings("RPUSH", "graph:start_urls", urls[0], urls[1], bad, urls[2])
		}, true},
		{"set", func(r *redistest.Server, urls []string) {
			r.Strings("SADD", "graph:start_urls", urls[2], urls[0], bad, urls[1])
		}, false},
		{"zset", func(r *redistest.Server, urls []string) {
			r.Strings("ZADD", "graph:start_urls", "1", urls[2], "30", urls[0], "5", bad, "20", urls[1])
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			redis := redistest.Start(t, redistest.Options{})
			var mu sync.Mutex
			var order []string
			site := newGraphSite(t, &graphSite{pages: 1, hook: func(_ http.ResponseWriter, r *http.Request, _ int) bool {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, r.URL.RawQuery)
				return false
			}})
			var urls []string
			for _, q := range []string{"a", "b", "c"} {
				urls = append(urls, site.url("127.0.0.1", 0)+"?"+q)
			}
			c.push(redis, urls)
			startWaiting(t, redis, "--set", "concurrent_requests=1")
			eventually(t, 10*time.Second, "three items", func() bool { return len(redis.Strings("LRANGE", "graph:items", "0", "-1")) == 3 })
			if got := strings.Join(order, ""); c.ordered && got != "abc" {
				t.Errorf("crawled in the order %s, want abc", got)
			}
			eventually(t, 5*time.Second, "a dead letter", func() bool { return len(redis.Strings("LRANGE", "graph:dead", "0", "-1")) == 1 })
			if dead := redis.Strings("LRANGE", "graph:dead", "0", "-1")[0]; !strings.Contains(dead, bad) || !strings.Contains(dead, `"reason":"bad_seed"`) {
				t.Errorf("dead letter %s", dead)
			}
		})
	}
}

func TestInterruptedRunResumes(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"embedded", "redis"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			site := newGraphSite(t, &graphSite{pages: 400, links: 6, delay: 10 * time.Millisecond})
			spider, err := filepath.Abs(filepath.Join("testdata", "spiders", "graph.lua"))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			args := []string{"run", spider, "--until-done", "--seed", site.url("127.0.0.1", 0), "--output", "items.jsonl"}
			if where == "redis" {
				args = append(args, "--redis", redistest.Start(t, redistest.Options{}).URL())
			}
			first := startLuacrawl(t, dir, args...)
			eventually(t, 20*time.Second, "a hundred pages", func() bool { return len(site.fetches()) > 100 })
			if err := first.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			first.wantExit(t, 20*time.Second, 130)
			if n := len(site.fetches()); n == site.pages {
				t.Fatal("the crawl was over before the interrupt")
			}
			second := startLuacrawl(t, dir, args...)
			second.wantExit(t, 60*time.Second, 0)
			if !strings.Contains(second.output.String(), "Resuming crawl (") {
				t.Errorf("the second run does not say that it resumes:\n%s", second.output)
			}
			wantEachFetchedOnce(t, site)
			raw, err := os.ReadFile(filepath.Join(dir, "items.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
			slices.Sort(lines)
			if n := len(slices.Compact(lines)); n != site.pages {
				t.Errorf("%d different items in the output, want %d", n, site.pages)
			}
		})
	}
}

func wantEachFetchedOnce(t *testing.T, site *graphSite) {
	t.Helper()
	fetches := site.fetches()
	if len(fetches) != site.pages {
		t.Errorf("%d pages fetched, want %d", len(fetches), site.pages)
	}
	for path, n := range fetches {
		if n != 1 {
			t.Errorf("%s was fetched %d times", path, n)
		}
	}
}

// SIGTERM lets running pages finish, hands back what cannot finish within the grace period, and leaves no lease behind.
func TestTermDrainsWithinGrace(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, redistest.Options{})
	stuck := make(chan struct{}, 8)
	release := make(chan struct{})
	site := newGraphSite(t, &graphSite{pages: 200, links: 4, delay: 20 * time.Millisecond, hook: func(_ http.ResponseWriter, r *http.Request, page int) bool {
		if page != 7 {
			return false
		}
		stuck <- struct{}{}
		select {
		case <-release:
			return false
		case <-r.Context().Done():
			return true
		}
	}})
	f := startFleet(t, 1, "graph.lua", "--redis", redis.URL(), "--seed", site.url("127.0.0.1", 0), "--set", "grace=1")
	<-stuck
	waitItems(t, redis, 20)
	if err := f.workers[0].Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	f.workers[0].wantExit(t, 5*time.Second, 130)
	if left := redis.Strings("ZRANGE", "graph:leases", "0", "-1"); len(left) > 0 {
		t.Errorf("%d leases were not handed back", len(left))
	}
	close(release)
	f.workers[0] = f.start()
	f.wait(30 * time.Second)
	wantItemsOnce(t, redis, site.pages)
	wantNothingLeft(t, redis)
	for path, n := range site.fetches() {
		if n != 1 && !strings.HasSuffix(path, "/7") {
			t.Errorf("%s was fetched %d times", path, n)
		}
	}
}
