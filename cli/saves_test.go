package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// pace lets requests through one at a time: so many a second, and no more than were granted, so that a site lasts as long as its test on
// any machine.
type pace struct {
	every time.Duration

	mu      sync.Mutex
	next    time.Time     // when the next may pass; guarded by mu
	granted int           // requests that may pass; guarded by mu
	free    bool          // all may pass at once; guarded by mu
	waiting int           // requests that nothing is granted to; guarded by mu
	changed chan struct{} // closed and replaced when one of the two changes; guarded by mu
}

func newPace(perSecond, granted int) *pace {
	return &pace{every: time.Second / time.Duration(perSecond), granted: granted, changed: make(chan struct{})}
}

func (p *pace) wait(r *http.Request) {
	for {
		at, changed := p.place()
		if changed == nil {
			answersAfter(r, time.Until(at))
			return
		}
		select {
		case <-changed:
			p.left()
		case <-r.Context().Done():
			p.left()
			return
		}
	}
}

func (p *pace) left() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting--
}

// hold lets nothing pass until n requests wait: no page is at work then. It gives back what was granted.
func (p *pace) hold(t *testing.T, n int) (granted int) {
	t.Helper()
	p.mu.Lock()
	granted, p.granted = p.granted, 0
	p.mu.Unlock()
	eventually(t, 2*time.Minute, "the crawl waits", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.waiting == n
	})
	return granted
}

// place is when a request may pass, or a channel that is closed when it may ask again.
func (p *pace) place() (at time.Time, changed chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	switch {
	case p.free:
		return now, nil
	case p.granted == 0:
		p.waiting++
		return now, p.changed
	}
	p.granted--
	if p.next.Before(now) {
		p.next = now
	}
	at = p.next
	p.next = p.next.Add(p.every)
	return at, nil
}

func (p *pace) grant(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.granted += n
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *pace) letGo() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = true
	close(p.changed)
	p.changed = make(chan struct{})
}

// savedSite is a site that is crawled while its spider is edited.
type savedSite struct {
	seed    string
	links   string         // options of response:links
	pages   map[string]int // path -> 1 of the pages that give an item
	dead    int            // links that are followed and answer 404
	fetches func() map[string]int
}

// madeUpSite has n pages, all linked from the first, so that what the crawl knows of them does not grow.
func madeUpSite(t *testing.T, n int, p *pace) *savedSite {
	t.Helper()
	site := newGraphSite(t, &graphSite{pages: n, hook: func(w http.ResponseWriter, r *http.Request, page int) bool {
		p.wait(r)
		for i := range n {
			if page == 0 {
				fmt.Fprintf(w, `<a href="/%d">%d</a>`, i, i)
			}
		}
		return page == 0
	}})
	s := &savedSite{seed: site.url("127.0.0.1", 0), pages: map[string]int{}, fetches: func() map[string]int {
		paths := map[string]int{}
		for at, n := range site.fetches() {
			paths[at[strings.Index(at, "/"):]] = n
		}
		return paths
	}}
	for i := range n {
		s.pages[fmt.Sprint("/", i)] = 1
	}
	return s
}

// TestManySaves edits a crawl of about 200 pages a second again and again, every fifth time badly. Every page is fetched once, no callback fails,
// and what the process holds does not grow. The long form (LUACRAWL_SOAK) is 200 saves, on the pages of the Java API too if they are laid out.
func TestManySaves(t *testing.T) {
	t.Parallel()
	saves := 20
	soak := os.Getenv("LUACRAWL_SOAK") != ""
	if soak {
		saves = 200
	}
	t.Run("made up", func(t *testing.T) {
		p := newPace(pagesASecond, pagesAtFirst)
		manySaves(t, madeUpSite(t, 1000+saves*pagesASave, p), p, saves)
	})
	folder := sitesFolder()
	if !soak || folder == "" {
		t.Logf("not on the pages of the Java API: LUACRAWL_SOAK %v, laid out in %q", soak, folder)
		return
	}
	t.Run("jdk", func(t *testing.T) {
		p := newPace(pagesASecond, pagesAtFirst)
		manySaves(t, realSite(t, folder, "jdk", p), p, saves)
	})
}

const (
	pagesASecond = 200
	pagesASave   = 44 // a save each 220 ms
	pagesAtFirst = 250
)

func manySaves(t *testing.T, site *savedSite, p *pace, saves int) {
	e := newEditableOf(t, site.links)
	const atOnce = 16
	run := e.run("luacrawl-measured", "--until-done", "--seed", site.seed, "--set", fmt.Sprint("concurrent_requests=", atOnce),
		"--set", "callback_timeout=5m", "--set", "download_timeout=10m") // pages of 2 MB on a machine that is busy, under the race detector
	reloads := func() int { return strings.Count(run.output.String(), "\nreloaded, revision ") }
	held := func(version string) (heap, goroutines int) {
		granted := p.hold(t, atOnce)
		defer p.grant(granted)
		before := reloads()
		e.spider(version) // how many VMs the generation before it has is a matter of load
		eventually(t, time.Minute, "an edit is told", func() bool { return reloads() > before })
		return run.least(t)
	}
	eventually(t, time.Minute, "the crawl runs", func() bool { return len(site.fetches()) > 50 })
	tick := time.NewTicker(time.Second * pagesASave / pagesASecond)
	defer tick.Stop()
	var heap, goroutines, known int
	start, before := time.Now(), len(site.fetches())
	for i := 1; i <= saves; i++ {
		<-tick.C
		e.saveAgain(i)
		p.grant(pagesASave)
		if i%5 == 0 { // the next save would mend it before it is seen on a machine that is busy
			eventually(t, time.Minute, "a broken edit is told", func() bool { return strings.Count(run.output.String(), "not reloaded, revision ") == i/5 })
		}
		if i == 10 {
			heap, goroutines = held("tenth")
			known = e.known()
		}
	}
	took := time.Since(start)
	rate := float64(len(site.fetches())-before) / took.Seconds()
	heapAfter, goroutinesAfter := held("last")
	known = e.known() - known
	p.grant(pagesAtFirst)
	eventually(t, time.Minute, "the last edit is in effect", func() bool { return e.last().Spider == "last" })
	p.letGo()
	run.wantExit(t, 10*time.Minute, 0)

	t.Logf("%d saves in %v, %d broken; %d reloads, %d spiders and %d modules seen in items; %.0f pages a second, %d pages", saves, took.Round(time.Second), saves/5,
		reloads(), e.versions("spider"), e.versions("module"), rate, len(site.pages))
	t.Logf("heap after the tenth save %d KB, at the end %d KB; goroutines %d and %d; %d more pages are known", heap>>10, heapAfter>>10, goroutines, goroutinesAfter, known)
	if reloads() < saves/2 {
		t.Errorf("%d reloads are told of %d saves:\n%s", reloads(), saves, run.output)
	}
	wantNoGrowth(t, [2]int{heap, heapAfter}, [2]int{goroutines, goroutinesAfter})
	wantSavedSite(t, site, e.redis)
}

// saveAgain is the i-th save: every fifth is broken, every second one is of the module too.
func (e *editable) saveAgain(i int) {
	e.t.Helper()
	switch version := fmt.Sprint("v", i); {
	case i%5 == 0:
		e.save("graph.lua", "return {{ -- "+version)
	case i%2 == 0:
		e.module(version)
		fallthrough // a module alone does not mend the spider
	default:
		e.spider(version)
	}
}

// known is how many pages the crawl knows of.
func (e *editable) known() int {
	e.t.Helper()
	n, err := strconv.Atoi(e.redis.Strings("SCARD", "graph:dupefilter")[0])
	if err != nil {
		e.t.Fatal(err)
	}
	return n
}

// versions is how many values a field has in the items.
func (e *editable) versions(field string) int {
	e.t.Helper()
	seen := map[string]bool{}
	for _, raw := range e.redis.Strings("LRANGE", "graph:items", "0", "-1") {
		item := map[string]string{}
		if err := json.Unmarshal([]byte(raw), &item); err != nil {
			e.t.Fatalf("item %s: %v", raw, err)
		}
		seen[item[field]] = true
	}
	return len(seen)
}

func wantNoGrowth(t *testing.T, heap, goroutines [2]int) {
	t.Helper()
	if heap[1] > heap[0]+heap[0]/10 {
		t.Errorf("the live heap grew from %d to %d bytes", heap[0], heap[1])
	}
	if goroutines[1] > goroutines[0]+4 {
		t.Errorf("goroutines grew from %d to %d", goroutines[0], goroutines[1])
	}
}

// wantSavedSite checks that every page was fetched once and stored once, and that no callback failed.
func wantSavedSite(t *testing.T, site *savedSite, redis *redistest.Server) {
	t.Helper()
	fetches := site.fetches()
	if len(fetches) != len(site.pages)+site.dead {
		t.Errorf("%d pages were asked for, want %d and %d dead links", len(fetches), len(site.pages), site.dead)
	}
	for path, n := range fetches {
		if n != 1 {
			t.Errorf("%s was fetched %d times", path, n)
		}
	}
	items := map[string]int{}
	for _, raw := range redis.Strings("LRANGE", "graph:items", "0", "-1") {
		var item struct{ URL string }
		if err := json.Unmarshal([]byte(raw), &item); err != nil {
			t.Fatalf("item %s: %v", raw, err)
		}
		_, path, _ := strings.Cut(strings.TrimPrefix(item.URL, "http://"), "/")
		items["/"+path]++
	}
	for path := range site.pages {
		if items[path] != 1 {
			t.Errorf("%s has %d items", path, items[path])
		}
	}
	if len(items) != len(site.pages) {
		t.Errorf("items of %d pages, want %d", len(items), len(site.pages))
	}
	wantNothingLeft(t, redis)
	if errors := redis.Strings("HGET", "graph:stats", "spider_exceptions/count"); len(errors) > 0 && errors[0] != "0" {
		t.Errorf("%s errors of callbacks", errors[0])
	}
}
