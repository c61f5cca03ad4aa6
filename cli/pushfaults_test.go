package cli_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// slowToLoad makes the loading of a revision take so long that a kill comes in the middle.
const slowToLoad = "local until_ = os.clock() + 0.2 while os.clock() < until_ do end"

// TestKilledWhileReloading: workers that die in the middle of taking a push over lose nothing and store nothing twice; those in their place, in the
// same folders, run the newest.
func TestKilledWhileReloading(t *testing.T) {
	t.Parallel()
	const kills = 12
	pace := newPace(100, 100)
	p := newPushed(t, redistest.Options{}, &graphSite{pages: 1500, links: 4, hook: func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		pace.wait(r)
		return false
	}})
	p.push(p.revision("0"))
	folders := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	var workers []*process
	for _, folder := range folders {
		workers = append(workers, p.workerIn(folder))
	}
	p.seed()
	waitItems(t, p.redis, 50)
	unconfirmed := 0
	for i := range kills {
		victim := i % len(workers)
		workers[victim].says(t, "graph: crawling, revision ")
		version := p.push(p.revision(fmt.Sprint("v", i), slowToLoad))
		<-time.After(time.Duration(10+rand.IntN(180)) * time.Millisecond)
		if workers[victim].kill(); !p.confirmedBy(workers[victim].Process.Pid, version) {
			unconfirmed++
		}
		workers[victim] = p.workerIn(folders[victim])
		pace.grant(60)
	}
	t.Logf("%d of %d workers were killed before they ran the push", unconfirmed, kills)
	if unconfirmed == 0 {
		t.Error("no worker was killed while it reloaded")
	}
	version := p.push(p.revision("last"))
	eventually(t, time.Minute, "all workers run the last push", func() bool { return p.confirmed(len(workers), version, false) })
	pace.letGo()
	p.crawled(time.Minute)
}

// TestRedisRestartsDuringPushes: Redis is killed in the middle of pushes and comes back; crawl and pushes go on, and nothing is lost or twice.
func TestRedisRestartsDuringPushes(t *testing.T) {
	t.Parallel()
	pace := newPace(100, 100)
	p := newPushed(t, redistest.Options{AppendOnly: true, Args: []string{"--appendfsync", "always"}}, &graphSite{pages: 1000, links: 4, hook: func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		pace.wait(r)
		return false
	}})
	p.push(p.revision("0"))
	workers := []*process{p.worker("luacrawl"), p.worker("luacrawl")}
	p.seed()
	waitItems(t, p.redis, 50)
	for i := range 3 {
		p.push(p.revision(fmt.Sprint("v", i), slowToLoad))
		<-time.After(time.Duration(rand.IntN(200)) * time.Millisecond)
		p.redis.Kill()
		for _, w := range workers {
			eventually(t, 20*time.Second, "a worker sees the outage", func() bool { return strings.Count(w.output.String(), "redis does not answer: waiting for it") > i })
		}
		p.redis.Restart()
		for _, w := range workers {
			eventually(t, 20*time.Second, "a worker sees its end", func() bool { return strings.Count(w.output.String(), "redis is back") > i })
		}
		pace.grant(100)
	}
	version := p.push(p.revision("last"))
	eventually(t, time.Minute, "a push after the outages", func() bool { return p.confirmed(2, version, false) })
	pace.letGo()
	p.crawled(time.Minute)
	for _, w := range workers {
		w.interrupt(t)
	}
}

// TestPushOutlivesRedis: Redis is killed and comes back while a push waits for a host; the host confirms, and the push ends well.
func TestPushOutlivesRedis(t *testing.T) {
	t.Parallel()
	p := newPushed(t, redistest.Options{AppendOnly: true, Args: []string{"--appendfsync", "always"}}, &graphSite{pages: 1})
	version := p.push(p.revision("0"))
	workers := []*process{p.worker("luacrawl"), p.worker("luacrawl")}
	eventually(t, time.Minute, "the workers run", func() bool { return p.confirmed(2, version, false) })
	workers[1].freeze(t)
	folder := p.folder(p.revision("1"))
	push := startLuacrawl(t, folder, "push", "graph.lua", "--redis", p.redis.URL(), "--wait", "--wait-timeout", "2m")
	push.says(t, fmt.Sprintf(":%d: runs revision", workers[0].Process.Pid))
	p.redis.Kill()
	push.says(t, "redis does not answer: waiting for it")
	p.redis.Restart()
	push.says(t, "redis is back")
	workers[1].thaw(t)
	push.wantExit(t, time.Minute, 0)
	if !strings.Contains(push.output.String(), fmt.Sprintf(":%d: runs revision", workers[1].Process.Pid)) {
		t.Errorf("the push does not name the second host:\n%s", push.output)
	}

	// One that never comes back: the wait ends in its time.
	push = startLuacrawl(t, p.folder(p.revision("2")), "push", "graph.lua", "--redis", p.redis.URL(), "--wait", "--wait-timeout", "3s")
	workers[1].freeze(t)
	push.says(t, "pushed revision")
	p.redis.Kill()
	push.wantExit(t, time.Minute, 1)
	t.Log(push.output)
	p.redis.Restart()
	workers[1].thaw(t)
}

// freeze stops a process as a machine that swaps or a suspended one would be.
func (p *process) freeze(t *testing.T) { p.signal(t, syscall.SIGSTOP) }

func (p *process) thaw(t *testing.T) { p.signal(t, syscall.SIGCONT) }

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// TestFrozenWorkerComesBack: a worker stands still for more than three leases with pages in flight, while others crawl and a push is made. The push
// names it. Once it goes on its pages are too late and nothing of them is stored, it takes the push over, and the slot's delay holds all the time.
func TestFrozenWorkerComesBack(t *testing.T) {
	t.Parallel()
	const delay, pages = 50, 320
	running := &byAgent{running: map[string]int{}}
	p := newPushed(t, redistest.Options{}, &graphSite{pages: pages, links: 4, hook: func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		defer running.begin(r.UserAgent())()
		select {
		case <-time.After(150 * time.Millisecond):
		case <-r.Context().Done():
		}
		return false
	}})
	p.push(p.revision("0"))
	var workers []*process
	for i := range 3 {
		workers = append(workers, p.worker("luacrawl", "-v", "--log-format", "json", "--set", fmt.Sprint("user_agent=worker-", i), "--set", "download_delay=0.05", "--set", "concurrent_requests_per_domain=8"))
	}
	p.seed()
	waitItems(t, p.redis, 20)
	frozen := workers[2]
	running.freeze(t, frozen, "worker-2")
	began := time.Now()
	next := p.revision("1")
	push := startLuacrawl(t, p.folder(next), "push", "graph.lua", "--redis", p.redis.URL(), "--wait", "--wait-timeout", "8s")
	push.wantExit(t, time.Minute, 1)
	t.Log(push.output)
	if out := push.output.String(); !strings.Contains(out, fmt.Sprintf("is not confirmed within 8s by: %s", hostOf(frozen))) || !strings.Contains(out, hostOf(workers[0])+": runs revision") {
		t.Errorf("the push does not say who has confirmed and who has not:\n%s", out)
	}
	if stood := time.Since(began); stood < 3*time.Second {
		t.Fatalf("it was frozen for %v only", stood)
	}
	if left := pages - len(p.redis.Strings("LRANGE", "graph:items", "0", "-1")); left < 20 {
		t.Errorf("only %d pages are left when it comes back: slow the site", left)
	}
	frozen.thaw(t)
	entry, err := p.client.RegistryEntry(t.Context(), "graph")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "it takes the push over", func() bool { return p.confirmedBy(frozen.Process.Pid, entry.Version) })
	p.crawled(time.Minute)
	refused, stopped := strings.Count(frozen.output.String(), "a page came too late and was not stored"), strings.Count(frozen.output.String(), "leases expired before their pages were done")
	t.Logf("its late pages: refused %d times, stopped on their way %d times", refused, stopped)
	if refused+stopped == 0 {
		t.Error("none of its pages was too late")
	}
	wantApart(t, workers, time.Time{}, delay, 2)
	for host, n := range p.site.most {
		if n > 8 {
			t.Errorf("%s: %d requests at once", host, n)
		}
	}
}

// byAgent counts the requests that are being answered, by user agent.
type byAgent struct {
	mu      sync.Mutex
	running map[string]int // guarded by mu
}

func (b *byAgent) begin(agent string) (end func()) {
	b.add(agent, 1)
	return func() { b.add(agent, -1) }
}

func (b *byAgent) add(agent string, by int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[agent] += by
}

func (b *byAgent) of(agent string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running[agent]
}

// freeze stops a worker while it has a page in flight.
func (b *byAgent) freeze(t *testing.T, worker *process, agent string) {
	t.Helper()
	eventually(t, time.Minute, "it is frozen with a page in flight", func() bool {
		if b.of(agent) == 0 {
			return false
		}
		worker.freeze(t)
		if b.of(agent) > 0 {
			return true
		}
		worker.thaw(t)
		return false
	})
}
