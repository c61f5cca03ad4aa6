package cli_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// pushed is a fleet whose spider "graph" a test pushes, and the workers that run it.
type pushed struct {
	t      *testing.T
	redis  *redistest.Server
	client *scheduler.Client
	site   *graphSite
}

func newPushed(t *testing.T, o redistest.Options, site *graphSite) *pushed {
	t.Helper()
	p := &pushed{t: t, redis: redistest.Start(t, o), site: newGraphSite(t, site)}
	var err error
	if p.client, err = scheduler.Dial(t.Context(), scheduler.DialOptions{URL: p.redis.URL(), Wait: 10 * time.Second}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.client.Close() })
	return p
}

const pushedSpider = `local page = require "page"
local spider = { name = "graph", settings = { lease = 1, lease_attempts = 50, concurrent_requests_per_domain = 64 } }
function spider.parse(response)
  emit { url = response.url, version = "%[1]s" .. page.version }
  emit(response:follow_all(response:links(), "parse"))
end
%[2]s
return spider
`

// revision is a version of the spider with its module.
func (p *pushed) revision(version string, more ...string) *scheduler.Revision {
	r := &scheduler.Revision{Spider: "graph", Main: "graph.lua", Author: "ann", Time: time.Now(), Files: map[string][]byte{
		"graph.lua": fmt.Appendf(nil, pushedSpider, version, strings.Join(more, "\n")), "page.lua": []byte("return { version = '' }\n"),
	}}
	r.ID = scheduler.RevisionID(r.Main, r.Files)
	return r
}

func (p *pushed) push(r *scheduler.Revision) (version int64) {
	p.t.Helper()
	if _, err := p.client.PutRevision(p.t.Context(), r); err != nil {
		p.t.Fatal(err)
	}
	entry, _ := p.client.RegistryEntry(p.t.Context(), "graph") // none: its version is 0
	version, err := p.client.Flip(p.t.Context(), scheduler.Entry{Spider: "graph", Revision: r.ID, Main: r.Main, Author: "ann", Time: time.Now()}, entry.Version, "push")
	if err != nil {
		p.t.Fatal(err)
	}
	return version
}

// worker starts a worker of the fleet.
func (p *pushed) worker(command string, args ...string) *process {
	p.t.Helper()
	return startCommand(p.t, command, "", append([]string{"worker", "--redis", p.redis.URL()}, args...)...)
}

// workerIn is worker in a folder, which has the last good revisions of one that ran there before.
func (p *pushed) workerIn(folder string) *process {
	p.t.Helper()
	return startLuacrawl(p.t, folder, "worker", "--redis", p.redis.URL())
}

// hostOf is how the fleet names a process.
func hostOf(p *process) string {
	host, _ := os.Hostname() // "" too is how it names itself
	return fmt.Sprintf("%s:%d", host, p.Process.Pid)
}

// folder is a new folder with a revision's files.
func (p *pushed) folder(r *scheduler.Revision) string {
	p.t.Helper()
	folder := p.t.TempDir()
	for name, text := range r.Files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	return folder
}

// confirmedBy reports whether a process runs the revision of a version.
func (p *pushed) confirmedBy(pid int, version int64) bool {
	workers, err := p.client.Workers(p.t.Context())
	if err != nil {
		return false
	}
	for _, w := range workers {
		for _, s := range w.Spiders {
			if w.PID == pid && s.Spider == "graph" && s.Version == version && s.Error == "" {
				return true
			}
		}
	}
	return false
}

func (p *pushed) seed() { p.redis.Strings("RPUSH", "graph:start_urls", p.site.url("127.0.0.1", 0)) }

// confirmed reports whether n workers have taken an entry in: run its revision, or refused it when bad.
func (p *pushed) confirmed(n int, version int64, bad bool) bool {
	workers, err := p.client.Workers(p.t.Context())
	if err != nil {
		return false
	}
	for _, w := range workers {
		for _, s := range w.Spiders {
			if w.Alive && s.Spider == "graph" && s.Version == version && (s.Error != "") == bad {
				n--
			}
		}
	}
	return n <= 0
}

// crawled waits until all pages are done.
func (p *pushed) crawled(within time.Duration) {
	p.t.Helper()
	eventually(p.t, within, "the crawl is done", func() bool {
		left := p.redis.Strings("HMGET", "graph:meta", "pending")
		return len(p.site.fetches()) >= p.site.pages && left[0] == "0" && len(p.redis.Strings("ZRANGE", "graph:leases", "0", "-1")) == 0
	})
	wantItemsOnce(p.t, p.redis, p.site.pages)
	if dead := p.redis.Strings("LRANGE", "graph:dead", "0", "-1"); len(dead) > 0 {
		p.t.Errorf("dead letters: %v", dead)
	}
}

// TestFailingCrawlDisturbsNoOther: a spider that cannot join its crawl is tried again and again, while another of the same worker crawls.
func TestFailingCrawlDisturbsNoOther(t *testing.T) {
	t.Parallel()
	p := newPushed(t, redistest.Options{}, &graphSite{pages: 200, links: 4})
	p.redis.Strings("SET", "bad:items", "mine")
	p.redis.Strings("RPUSH", "bad:start_urls", p.site.url("127.0.0.2", 0))
	bad := &scheduler.Revision{Spider: "bad", Main: "bad.lua", Time: time.Now(), Files: map[string][]byte{
		"bad.lua": []byte("return { name = 'bad', parse = function(r) emit { url = r.url } end }"),
	}}
	bad.ID = scheduler.RevisionID(bad.Main, bad.Files)
	if _, err := p.client.PutRevision(t.Context(), bad); err != nil {
		t.Fatal(err)
	}
	if _, err := p.client.Flip(t.Context(), scheduler.Entry{Spider: "bad", Revision: bad.ID, Main: bad.Main, Time: time.Now()}, 0, "push"); err != nil {
		t.Fatal(err)
	}
	p.push(p.revision("0"))
	w := p.worker("luacrawl")
	p.seed()
	p.crawled(time.Minute)
	w.says(t, "bad: the crawl has failed and is tried again in ")
	p.redis.Strings("DEL", "bad:items")
	eventually(t, 30*time.Second, "it crawls when its key is free", func() bool { return len(p.redis.Strings("LRANGE", "bad:items", "0", "-1")) == 1 })
	w.interrupt(t)
}

// TestRunIsAMember: the fleet sees a run of a pinned file, which says when the fleet runs another revision and does not take it over; stopping
// the spider ends it.
func TestRunIsAMember(t *testing.T) {
	t.Parallel()
	p := newPushed(t, redistest.Options{}, &graphSite{pages: 1 << 20, delay: 20 * time.Millisecond})
	own := p.revision("own")
	folder := p.folder(own)
	p.push(own)
	run := startLuacrawl(t, folder, "run", "graph.lua", "--redis", p.redis.URL(), "--seed", p.site.url("127.0.0.1", 0))
	seen := func() *scheduler.WorkerReport {
		workers, _ := p.client.Workers(t.Context()) // none: looked at again
		for i := range workers {
			if w := &workers[i]; w.Kind == "run" && len(w.Spiders) == 1 && w.Spiders[0].Pages > 0 {
				return w
			}
		}
		return nil
	}
	eventually(t, 20*time.Second, "the fleet sees the run", func() bool { return seen() != nil })
	if s := seen().Spiders[0]; s.Revision != own.ID[:12] || seen().PID != run.Process.Pid {
		t.Errorf("%+v", seen())
	}
	if strings.Contains(run.output.String(), "the fleet runs revision") {
		t.Errorf("it warns of its own revision:\n%s", run.output)
	}
	other := p.revision("other")
	p.push(other)
	run.says(t, "the fleet runs revision "+other.ID[:12]+" of graph")
	if _, err := p.client.SetControl(t.Context(), "graph", scheduler.Keys{}, scheduler.Change{State: scheduler.Stopped}); err != nil {
		t.Fatal(err)
	}
	run.wantExit(t, 20*time.Second, 0)
	if out := run.output.String(); !strings.Contains(out, "graph stopped after ") || strings.Contains(out, "\nreloaded") {
		t.Errorf("its end:\n%s", out)
	}
	if left := p.redis.Strings("ZRANGE", "graph:leases", "0", "-1"); len(left) > 0 {
		t.Errorf("%d leases were not handed back", len(left))
	}
	for _, item := range p.redis.Strings("LRANGE", "graph:items", "0", "-1") {
		if !strings.Contains(item, `"version":"own"`) {
			t.Errorf("item %s", item)
		}
	}
}

// TestSecondSignalKillsAWorker: it does not wait for pages.
func TestSecondSignalKillsAWorker(t *testing.T) {
	t.Parallel()
	hung := make(chan struct{}, 100)
	p := newPushed(t, redistest.Options{}, &graphSite{pages: 10, hook: func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		hung <- struct{}{}
		<-r.Context().Done()
		return true
	}})
	p.push(p.revision("0"))
	w := p.worker("luacrawl")
	p.seed()
	<-hung
	for range 2 {
		if err := w.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		w.says(t, "stopping: running pages are being finished")
	}
	w.wantExit(t, 10*time.Second, 130)
}
