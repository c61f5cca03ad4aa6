package cli_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// fleet keeps a number of workers alive on one crawl: one that dies is replaced.
type fleet struct {
	t       *testing.T
	spider  string
	args    []string
	environ []string // beside the test's own
	dir     string   // of all workers; "" is one for each
	waits   bool     // for seeds, also when the crawl is finished
	workers []*process
	started int
}

func startFleet(t *testing.T, n int, spider string, args ...string) *fleet {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "spiders", spider))
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, spider: path, args: args}
	f.grow(n)
	return f
}

// grow adds workers.
func (f *fleet) grow(n int) {
	for range n {
		f.workers = append(f.workers, f.start())
	}
}

// start makes a worker whose user agent tells a site which process asks.
func (f *fleet) start() *process {
	f.started++
	args := []string{"run", f.spider, "--set", "user_agent=worker-" + strconv.Itoa(f.started)}
	if !f.waits {
		args = append(args, "--until-done")
	}
	dir := f.dir
	if dir == "" {
		dir = f.t.TempDir()
	}
	return startEnvironment(f.t, "luacrawl", dir, f.environ, append(args, f.args...)...)
}

// killOne kills a worker at random and starts another in its place.
func (f *fleet) killOne() {
	i := rand.IntN(len(f.workers))
	f.workers[i].kill()
	f.workers[i] = f.start()
}

// wait expects all workers to end well by themselves.
func (f *fleet) wait(within time.Duration) {
	f.t.Helper()
	deadline := time.Now().Add(within)
	for _, p := range f.workers {
		p.wantExit(f.t, time.Until(deadline), 0)
	}
}

// wantItemsOnce checks that the items are those of pages 0 to n-1, each once.
func wantItemsOnce(t *testing.T, redis *redistest.Server, n int, without ...int) {
	t.Helper()
	seen := map[string]int{}
	for _, raw := range redis.Strings("LRANGE", "graph:items", "0", "-1") {
		var item struct{ URL string }
		if err := json.Unmarshal([]byte(raw), &item); err != nil {
			t.Fatalf("item %s: %v", raw, err)
		}
		seen[item.URL[strings.LastIndex(item.URL, "/")+1:]]++
	}
	skip := map[int]bool{}
	for _, page := range without {
		skip[page] = true
	}
	lost, twice := 0, 0
	for page := range n {
		switch times := seen[strconv.Itoa(page)]; {
		case times == 0 && !skip[page]:
			lost++
		case times > 1:
			twice++
		}
	}
	if lost > 0 || twice > 0 {
		t.Errorf("%d pages lost, %d stored twice, of %d", lost, twice, n)
	}
}

// wantNothingLeft checks that the crawl has left no work behind.
func wantNothingLeft(t *testing.T, redis *redistest.Server) {
	t.Helper()
	for _, key := range redis.Strings("KEYS", "graph:*") {
		switch name := strings.TrimPrefix(key, "graph:"); {
		case strings.HasPrefix(name, "requests"), name == "delayed", name == "leases", name == "inflight", name == "busy", name == "start_urls", name == "dead":
			t.Errorf("%s is not empty", key)
		}
	}
	if pending := redis.Strings("HMGET", "graph:meta", "pending")[0]; pending != "0" {
		t.Errorf("pending is %s, want 0", pending)
	}
}

func TestKilledWorkersLoseNothing(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, redistest.Options{})
	site := newGraphSite(t, &graphSite{pages: 3000, links: 8, delay: 100 * time.Millisecond})
	f := startFleet(t, 4, "graph.lua", "--redis", redis.URL(), "--seed", site.url("127.0.0.1", 0))
	tick := time.NewTicker(120 * time.Millisecond)
	defer tick.Stop()
	for range 25 {
		<-tick.C
		f.killOne()
	}
	if n := redis.Strings("LRANGE", "graph:items", "0", "-1"); len(n) == site.pages {
		t.Fatal("the crawl was over before the kills: slow the site")
	}
	f.wait(90 * time.Second)
	wantItemsOnce(t, redis, site.pages)
	wantNothingLeft(t, redis)
}

func TestKilledRedisLosesNothing(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, redistest.Options{AppendOnly: true})
	site := newGraphSite(t, &graphSite{pages: 2000, links: 8, delay: 25 * time.Millisecond})
	f := startFleet(t, 3, "graph.lua", "--redis", redis.URL(), "--seed", site.url("127.0.0.1", 0))
	for i := range 3 {
		waitItems(t, redis, (i+1)*400)
		redis.Kill()
		redis.Restart()
	}
	f.wait(90 * time.Second)
	wantItemsOnce(t, redis, site.pages)
	wantNothingLeft(t, redis)
}

func TestRedisSetBackLosesNoPage(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, redistest.Options{AppendOnly: true})
	site := newGraphSite(t, &graphSite{pages: 2000, links: 8, delay: 100 * time.Millisecond})
	f := startFleet(t, 3, "graph.lua", "--redis", redis.URL(), "--seed", site.url("127.0.0.1", 0))
	waitItems(t, redis, 400)
	old := redis.Snapshot()
	<-time.After(2 * time.Second)
	if n := len(redis.Strings("LRANGE", "graph:items", "0", "-1")); n < 500 || n >= site.pages {
		t.Fatalf("%d items at the rollback: the test's speed is off", n)
	}
	redis.Kill()
	redis.Restore(old)
	redis.Restart()
	f.wait(90 * time.Second)
	wantItemsOnce(t, redis, site.pages)
	wantNothingLeft(t, redis)
}

func waitItems(t *testing.T, redis *redistest.Server, n int) {
	t.Helper()
	eventually(t, time.Minute, fmt.Sprintf("%d items", n), func() bool {
		return len(redis.Strings("LRANGE", "graph:items", "0", "-1")) >= n
	})
}

// A page that kills its worker each time is given up after lease_attempts; the rest is crawled.
func TestPageThatKillsWorkersIsDead(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, redistest.Options{})
	const poison, attempts = 50, 3
	deadly := make(chan string, 16)
	site := newGraphSite(t, &graphSite{pages: 300, links: 4, hook: func(w http.ResponseWriter, r *http.Request, page int) bool {
		if page != poison {
			return false
		}
		deadly <- r.UserAgent()
		<-r.Context().Done() // until its worker is dead
		return true
	}})
	f := startFleet(t, 1, "graph.lua", "--redis", redis.URL(), "--seed", site.url("127.0.0.1", 0), "--set", "lease_attempts="+strconv.Itoa(attempts))
	for kills := 0; ; kills++ {
		select {
		case <-deadly:
			f.killOne()
			continue
		case <-f.workers[0].exited:
		case <-time.After(time.Minute):
			t.Fatal("the crawl does not end")
		}
		if kills != attempts {
			t.Errorf("the page killed %d workers, want %d", kills, attempts)
		}
		break
	}
	f.wait(time.Second)
	// The links of the poisonous page are reachable only through it when no other page has them.
	wantItemsOnce(t, redis, site.pages, append(site.linksOf(poison), append(below(poison, site.pages), poison)...)...)
	dead := redis.Strings("LRANGE", "graph:dead", "0", "-1")
	if len(dead) != 1 || !strings.Contains(dead[0], `"reason":"lease_attempts"`) || !strings.Contains(dead[0], "/50") {
		t.Errorf("dead letters: %v", dead)
	}
}

// below are the pages of the tree under a page.
func below(page, n int) (pages []int) {
	for k := 3*page + 1; k <= 3*page+3 && k < n; k++ {
		pages = append(append(pages, k), below(k, n)...)
	}
	return pages
}
