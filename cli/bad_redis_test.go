package cli_test

import (
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// usedMemory is what a redis-server counts against its maxmemory.
func usedMemory(t *testing.T, redis *redistest.Server) int {
	t.Helper()
	for line := range strings.Lines(redis.Strings("INFO", "memory")[0]) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "used_memory:"); ok {
			used, err := strconv.Atoi(n)
			if err != nil {
				t.Fatal(err)
			}
			return used
		}
	}
	t.Fatal("redis does not tell its memory")
	return 0
}

// rests waits until the number of items has stayed the same for two seconds and says how many there are.
func rests(t *testing.T, redis *redistest.Server) (count int) {
	t.Helper()
	since := time.Now()
	eventually(t, 20*time.Second, "the crawl rests", func() bool {
		n, err := strconv.Atoi(redis.Strings("LLEN", "graph:items")[0])
		if err != nil {
			t.Fatal(err)
		}
		if n != count {
			count, since = n, time.Now()
		}
		return time.Since(since) > 2*time.Second
	})
	return count
}

// A redis-server reaches its maxmemory during a crawl, for longer than leases last, and is then given more.
func TestFullRedisLosesNothing(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, redistest.Options{Args: []string{"--maxmemory-policy", "noeviction"}})
	site := newGraphSite(t, &graphSite{pages: 1500, links: 8, delay: 10 * time.Millisecond})
	f := startFleet(t, 2, "graph.lua", "--redis", redis.URL(), "--seed", site.url("127.0.0.1", 0), "-a", "pad=5000")
	waitItems(t, redis, 200)
	redis.Strings("CONFIG", "SET", "maxmemory", usedMemory(t, redis)+2_000_000)
	for _, p := range f.workers {
		eventually(t, 20*time.Second, "a worker says that redis is full", func() bool { return strings.Contains(p.output.String(), "redis is full") })
	}
	// At rest for longer than a lease of graph.lua lasts.
	if n := rests(t, redis); n >= site.pages {
		t.Fatal("the crawl was over before redis was full: slow the site")
	}
	redis.Strings("CONFIG", "SET", "maxmemory", "0")
	f.wait(60 * time.Second)
	wantItemsOnce(t, redis, site.pages)
	wantNothingLeft(t, redis)
	for i, p := range f.workers {
		for line, want := range map[string]int{
			`level=WARN msg="redis is full: waiting until it has memory again; raise its maxmemory, or take items out of it" redis=redis://127.0.0.1:\d+/0 error="OOM`: 1,
			`level=INFO msg="redis is back" redis=redis://127.0.0.1:\d+/0 after=`:                                                                                      1,
			"graph finished": 1,
		} {
			if n := len(regexp.MustCompile(line).FindAllString(p.output.String(), -1)); n != want {
				t.Errorf("worker %d says %q %d times, want %d:\n%s", i, line, n, want, p.output)
			}
		}
	}
}

// A run that is refused by its Redis says why in one line and ends with 1.
func TestRedisThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, user string
		args       []string
		want       string
	}{
		{"wrong password", ":wr0ng@", []string{"--requirepass", "right"}, `redis refuses the user or password: redis://ADDR/0: WRONGPASS .*; they belong in the URL, as in redis://user:password@host:6379/0`},
		{"unknown user", "nobody:right@", []string{"--requirepass", "right"}, `redis refuses the user or password: redis://ADDR/0: WRONGPASS .*`},
		{"evicts", "", []string{"--maxmemory-policy", "allkeys-lru"}, `redis evicts keys: redis://ADDR/0 has maxmemory-policy allkeys-lru and would lose requests when it is full: set it to noeviction \(CONFIG SET maxmemory-policy noeviction\)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			redis := redistest.Start(t, redistest.Options{Args: c.args})
			p := startLuacrawl(t, "", "run", abs("testdata/spiders/graph.lua"), "--redis", "redis://"+c.user+redis.Addr+"/0")
			p.wantExit(t, 10*time.Second, 1)
			want := "^luacrawl: " + strings.ReplaceAll(c.want, "ADDR", regexp.QuoteMeta(redis.Addr)) + "\n$"
			if got := p.output.String(); !regexp.MustCompile(want).MatchString(got) || strings.Contains(got, "wr0ng") {
				t.Errorf("it says %q, want %s", got, want)
			}
		})
	}
}

// Each outage of a Redis that is killed is said once when it begins and once when it is over.
func TestKilledRedisIsSaidOnce(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, redistest.Options{AppendOnly: true})
	release := make(chan struct{})
	site := newGraphSite(t, &graphSite{pages: 50, links: 2, hook: func(_ http.ResponseWriter, r *http.Request, page int) bool {
		if page == 7 {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		return false
	}})
	f := startFleet(t, 1, "graph.lua", "--redis", redis.URL(), "--seed", site.url("127.0.0.1", 0))
	waitItems(t, redis, 10)
	out := f.workers[0].output
	for i := range 2 {
		redis.Kill()
		eventually(t, 10*time.Second, "redis is missed", func() bool { return strings.Count(out.String(), "redis does not answer: waiting for it") == i+1 })
		redis.Restart()
		eventually(t, 10*time.Second, "redis is back", func() bool { return strings.Count(out.String(), "redis is back") == i+1 })
	}
	close(release)
	f.wait(30 * time.Second)
	wantItemsOnce(t, redis, site.pages)
	wantNothingLeft(t, redis)
	if n := strings.Count(out.String(), "redis does not answer"); n != 2 {
		t.Errorf("said %d times, want twice:\n%s", n, out)
	}
}

// The embedded Redis takes the next port when its own is in use, and says which.
func TestPortTaken(t *testing.T) {
	t.Parallel()
	var taken net.Listener
	eventually(t, 20*time.Second, "port 6379 is ours", func() (ok bool) {
		var err error
		taken, err = net.Listen("tcp", "127.0.0.1:6379")
		return err == nil
	})
	defer taken.Close()
	site := newGraphSite(t, &graphSite{pages: 5})
	p := startLuacrawl(t, "", "run", abs("testdata/spiders/graph.lua"), "--seed", site.url("127.0.0.1", 0))
	said := regexp.MustCompile(`on embedded Redis 127\.0\.0\.1:(\d+), snapshot in \.luacrawl\n(?s:.*)redis-cli -p (\d+) lpush graph:start_urls URL\n`)
	var ports []string
	eventually(t, 10*time.Second, "it says where", func() bool { ports = said.FindStringSubmatch(p.output.String()); return ports != nil })
	if ports[1] == "6379" || ports[1] != ports[2] {
		t.Errorf("it runs on port %s and says to push to %s", ports[1], ports[2])
	}
	eventually(t, 10*time.Second, "all pages", func() bool { return len(site.fetches()) == site.pages })
}
