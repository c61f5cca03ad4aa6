package cli_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// takenIn notes when each worker was first seen to have taken in each version of the registry, be it that it refused it.
type takenIn struct {
	mu   sync.Mutex
	seen map[int64]map[string]taken // version -> worker; guarded by mu
}

type taken struct {
	at       time.Time
	revision string
	err      string
}

// watchTaken looks at what workers say of a spider until the test ends.
func watchTaken(t *testing.T, client *scheduler.Client, spider string) *takenIn {
	t.Helper()
	w := &takenIn{seen: map[int64]map[string]taken{}}
	tick := time.NewTicker(10 * time.Millisecond)
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if workers, err := client.Workers(t.Context()); err == nil {
				w.note(workers, spider)
			}
		}
	}()
	t.Cleanup(func() {
		tick.Stop()
		close(stop)
		<-ended
	})
	return w
}

func (w *takenIn) note(workers []scheduler.WorkerReport, spider string) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, worker := range workers {
		for _, s := range worker.Spiders {
			if s.Spider != spider {
				continue
			}
			if w.seen[s.Version] == nil {
				w.seen[s.Version] = map[string]taken{}
			}
			if _, known := w.seen[s.Version][worker.ID]; !known {
				w.seen[s.Version][worker.ID] = taken{now, s.Revision, s.Error}
			}
		}
	}
}

// of is who has taken in a version.
func (w *takenIn) of(version int64) []taken {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []taken
	for _, one := range w.seen[version] {
		list = append(list, one)
	}
	return list
}

// pushes is a fleet of three whose spider is pushed again and again, by the command, while it crawls.
type pushes struct {
	*editable
	client  *scheduler.Client
	workers []*process
	taken   *takenIn
	took    []time.Duration // from the push to each host's word, of good pushes
	refused int             // broken pushes that reached the fleet
}

func newPushes(t *testing.T, links string) *pushes {
	t.Helper()
	p := &pushes{editable: newEditableOf(t, links)}
	p.client = dialTo(t, p.redis)
	p.taken = watchTaken(t, p.client, "graph")
	p.push(0)
	for range 3 {
		p.workers = append(p.workers, startCommand(t, "luacrawl-measured", "", "worker", "--redis", p.redis.URL(), "--set", fmt.Sprint("concurrent_requests=", placesAWorker),
			"--set", "callback_timeout=5m", "--set", "download_timeout=10m")) // on a machine that is busy, under the race detector
	}
	return p
}

func dialTo(t *testing.T, redis *redistest.Server) *scheduler.Client {
	t.Helper()
	client, err := scheduler.Dial(t.Context(), scheduler.DialOptions{URL: redis.URL(), Wait: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// command is a push as a person makes it.
func (p *pushes) command(code int, args ...string) *process {
	p.t.Helper()
	push := startLuacrawl(p.t, p.folder, append([]string{"push", "--redis", p.redis.URL()}, args...)...)
	push.wantExit(p.t, time.Minute, code)
	return push
}

// push makes version i of the spider, or of its module too, what the fleet runs.
func (p *pushes) push(i int) scheduler.Entry {
	p.t.Helper()
	if i%2 == 0 {
		p.module(fmt.Sprint("v", i))
	}
	p.spider(fmt.Sprint("v", i))
	p.command(0, "graph.lua", "-m", fmt.Sprint("edit ", i))
	entry, err := p.client.RegistryEntry(p.t.Context(), "graph")
	if err != nil {
		p.t.Fatal(err)
	}
	return entry
}

// good is a push that every host takes in, and that items show.
func (p *pushes) good(i int) {
	p.t.Helper()
	entry := p.push(i)
	for _, one := range p.everyHost(entry.Version) {
		if one.err != "" || one.revision != entry.Revision {
			p.t.Errorf("push %d: a host has %+v, want revision %s", i, one, entry.Revision)
		}
		p.took = append(p.took, one.at.Sub(entry.Time))
	}
}

// broken is a push with a mistake: refused by the command, or, when it comes past it, by every host.
func (p *pushes) broken(i int, past bool) {
	p.t.Helper()
	before, err := p.client.RegistryEntry(p.t.Context(), "graph")
	if err != nil {
		p.t.Fatal(err)
	}
	text := fmt.Sprintf("return {\n  name = 'graph' 'v%d' }\n", i)
	if !past {
		p.save("graph.lua", text)
		if push := p.command(2, "graph.lua"); !strings.Contains(push.output.String(), "graph.lua:2: ") {
			p.t.Errorf("push %d is refused without its place:\n%s", i, push.output)
		}
		if now, err := p.client.RegistryEntry(p.t.Context(), "graph"); err != nil || now.Version != before.Version {
			p.t.Errorf("push %d has changed the registry: %+v, %v", i, now, err)
		}
		return
	}
	r := &scheduler.Revision{Spider: "graph", Main: "graph.lua", Time: time.Now(), Files: map[string][]byte{"graph.lua": []byte(text)}}
	r.ID = scheduler.RevisionID(r.Main, r.Files)
	if _, err := p.client.PutRevision(p.t.Context(), r); err != nil {
		p.t.Fatal(err)
	}
	version, err := p.client.Flip(p.t.Context(), scheduler.Entry{Spider: "graph", Revision: r.ID, Main: r.Main, Time: r.Time}, before.Version, "push")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, one := range p.everyHost(version) {
		if !strings.Contains(one.err, "graph.lua:2: ") || one.revision != before.Revision {
			p.t.Errorf("broken push %d: a host has %+v, want revision %s", i, one, before.Revision)
		}
	}
	p.refused++
}

// shows reports whether the newest item is of good push i.
func (p *pushes) shows(i int) bool {
	item, v := p.last(), fmt.Sprint("v", i)
	return item.Spider == v && (item.Module == v || i%2 != 0)
}

func (p *pushes) everyHost(version int64) []taken {
	p.t.Helper()
	eventually(p.t, time.Minute, fmt.Sprintf("all workers have taken in version %d", version), func() bool { return len(p.taken.of(version)) == len(p.workers) })
	return p.taken.of(version)
}

// holds are the live heaps and goroutines of the workers, after good push i, while no page is at work.
func (p *pushes) holds(i int, pace *pace) (heap, goroutines []int) {
	p.t.Helper()
	granted := pace.hold(p.t, placesAWorker*len(p.workers))
	defer pace.grant(granted)
	p.good(i) // how many VMs the generation before it has is a matter of load
	for _, w := range p.workers {
		h, g := w.least(p.t)
		heap, goroutines = append(heap, h), append(goroutines, g)
	}
	return heap, goroutines
}

// TestManyPushes pushes to three workers that crawl about 100 pages a second, every tenth time badly. Every host takes each push over, items
// show it, every page is fetched once and stored once, no callback fails, and what the workers hold does not grow. The long form
// (LUACRAWL_SOAK) is 100 pushes, on the pages of the Java API too if they are laid out.
func TestManyPushes(t *testing.T) {
	t.Parallel()
	n, first := 20, 200
	soak := os.Getenv("LUACRAWL_SOAK") != ""
	if soak {
		n, first = 100, 6000 // by then a worker knows most links of the site, so that what it holds of them hardly grows
	}
	t.Run("made up", func(t *testing.T) {
		p := newPace(pushedPagesASecond, first)
		manyPushes(t, madeUpSite(t, 500+first+n*pagesAPush, p), p, n, first)
	})
	folder := sitesFolder()
	if !soak || folder == "" {
		t.Logf("not on the pages of the Java API: LUACRAWL_SOAK %v, laid out in %q", soak, folder)
		return
	}
	t.Run("jdk", func(t *testing.T) {
		p := newPace(pushedPagesASecond, first)
		manyPushes(t, realSite(t, folder, "jdk", p), p, n, first)
	})
}

const (
	pushedPagesASecond = 100
	pagesAPush         = 40 // a push each 400 ms
	placesAWorker      = 16
)

func manyPushes(t *testing.T, site *savedSite, pace *pace, n, first int) {
	p := newPushes(t, site.links)
	p.redis.Strings("RPUSH", "graph:start_urls", site.seed)
	eventually(t, 5*time.Minute, "the crawl runs", func() bool { return len(site.fetches()) >= first }) // other long tests may run beside it
	tick := time.NewTicker(time.Second * pagesAPush / pushedPagesASecond)
	defer tick.Stop()
	var heap, goroutines []int
	start, before := time.Now(), len(site.fetches())
	for i := 1; i <= n; i++ {
		<-tick.C
		if i%10 == 0 {
			p.broken(i, i%20 == 0)
		} else {
			p.good(i)
		}
		pace.grant(pagesAPush)
		if i%10 != 0 {
			eventually(t, time.Minute, fmt.Sprintf("items show push %d", i), func() bool { return p.shows(i) })
		}
		if i == 10 {
			heap, goroutines = p.holds(n+2, pace)
		}
	}
	rate := float64(len(site.fetches())-before) / time.Since(start).Seconds()
	heapAfter, goroutinesAfter := p.holds(n+1, pace)
	pace.letGo()
	eventually(t, 10*time.Minute, "the crawl is done", func() bool {
		return len(site.fetches()) >= len(site.pages)+site.dead && p.redis.Strings("HGET", "graph:meta", "pending")[0] == "0" && p.redis.Strings("ZCARD", "graph:leases")[0] == "0"
	})
	slices.Sort(p.took)
	p50, p99 := p.took[len(p.took)/2], p.took[len(p.took)*99/100]
	t.Logf("%d pushes in %v, %d broken; %.0f pages a second, %d pages", n, time.Since(start).Round(time.Second), n/10, rate, len(site.pages))
	t.Logf("a host runs a push after %v (p50), %v (p99), %v at most, of %d", p50, p99, p.took[len(p.took)-1], len(p.took))
	if p99 > 5*time.Second {
		t.Errorf("a host runs a push after %v (p99)", p99)
	}
	for i := range p.workers {
		t.Logf("worker %d: heap after the tenth push %d KB, at the end %d KB; goroutines %d and %d", i, heap[i]>>10, heapAfter[i]>>10, goroutines[i], goroutinesAfter[i])
		wantNoGrowth(t, [2]int{heap[i], heapAfter[i]}, [2]int{goroutines[i], goroutinesAfter[i]})
		if told := strings.Count(p.workers[i].output.String(), "not reloaded, revision "); told != p.refused {
			t.Errorf("worker %d tells %d broken pushes, want %d:\n%s", i, told, p.refused, p.workers[i].output)
		}
	}
	if got := p.versions("spider"); got < n-n/10 {
		t.Errorf("items show %d of %d good pushes", got, n-n/10)
	}
	wantSavedSite(t, site, p.redis)
	for _, w := range p.workers {
		w.interrupt(t)
	}
}
