package cli_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// starts are the times at which requests reached a site.
type starts struct {
	mu sync.Mutex
	at []time.Time // guarded by mu
}

func (s *starts) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, time.Now())
}

func (s *starts) since(t time.Time) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.at, func(at time.Time) bool { return at.After(t) })
	if i < 0 {
		return nil
	}
	return slices.Clone(s.at[i:])
}

// command is a luacrawl on the fleet that is to end well.
func (p *pushed) command(args ...string) *process {
	p.t.Helper()
	c := startLuacrawl(p.t, "", append(args, "--redis", p.redis.URL())...)
	c.wantExit(p.t, time.Minute, 0)
	return c
}

// TestFleetIsControlled: on three workers that crawl as fast as they can, a pause stops all from starting requests, a resume lets all go on, and a delay
// that is set live is kept by all as one crawler.
func TestFleetIsControlled(t *testing.T) {
	t.Parallel()
	const delay = 300
	seen := &starts{}
	p := newPushed(t, redistest.Options{}, &graphSite{pages: 1 << 20, links: 8, hook: func(_ http.ResponseWriter, _ *http.Request, _ int) bool {
		seen.note()
		<-time.After(50 * time.Millisecond)
		return false
	}})
	p.push(p.revision("0"))
	var workers []*process
	for range 3 {
		workers = append(workers, p.worker("luacrawl", "-v", "--log-format", "json"))
	}
	p.seed()
	eventually(t, time.Minute, "all three crawl", func() bool {
		return len(seen.since(time.Time{})) > 100 && !slices.ContainsFunc(workers, func(w *process) bool { return len(leaseTimes([]*process{w})) == 0 })
	})

	p.command("pause", "graph")
	paused := time.Now()
	eventually(t, time.Minute, "no host has a request", func() bool { return p.redis.Strings("ZCARD", "graph:leases")[0] == "0" })
	<-time.After(1500 * time.Millisecond)
	after := seen.since(paused)
	if len(after) == 0 {
		after = []time.Time{paused}
	}
	last := after[len(after)-1].Sub(paused)
	t.Logf("the last request started %v after the pause", last)
	if last > time.Second {
		t.Errorf("a request started %v after the pause", last)
	}

	resumed := time.Now()
	p.command("resume", "graph")
	eventually(t, time.Minute, "it goes on", func() bool { return len(seen.since(resumed)) > 50 })
	t.Logf("the first request started %v after the resume was typed", seen.since(resumed)[0].Sub(resumed))

	p.command("set", "graph", fmt.Sprintf("download_delay=%g", float64(delay)/1000))
	set := time.Now()
	<-time.After(5 * time.Second)
	apart := seen.since(set.Add(time.Second)) // what was leased before has begun by then
	if most := int(time.Since(set).Milliseconds()/delay) + 1; len(apart) > most || len(apart) < 3 {
		t.Errorf("%d requests started in %v with a delay of %d ms, want 3 to %d", len(apart), time.Since(set), delay, most)
	}
	t.Logf("%d requests reached the site a second after the set or later", len(apart))
	wantApart(t, workers, set, delay, 3)

	again := time.Now()
	p.command("set", "graph", "download_delay=")
	eventually(t, time.Minute, "the delay is taken back", func() bool { return len(seen.since(again)) > 100 })
	p.command("stop", "graph")
	eventually(t, time.Minute, "all have handed back what they had", func() bool { return p.redis.Strings("ZCARD", "graph:leases")[0] == "0" })
}

// TestModuleIsPushed: a push of a module that two spiders require reloads these two on every host and leaves the third alone; a rollback of one is
// in effect at once.
func TestModuleIsPushed(t *testing.T) {
	t.Parallel()
	p := newPushed(t, redistest.Options{}, &graphSite{pages: 1})
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("lib/shared.lua", "return { version = 1 }")
	for _, name := range []string{"one", "two", "three"} {
		head := "local shared = require 'lib.shared'\n"
		if name == "three" {
			head = ""
		}
		write(name+".lua", fmt.Sprintf("%sreturn { name = %q, parse = function() end }\n", head, name))
	}
	p.command("push", folder)
	workers := []*process{p.worker("luacrawl"), p.worker("luacrawl")}
	all := []string{"one", "two", "three"}
	before := p.entries(all)
	eventually(t, time.Minute, "all hosts run all", func() bool { return p.lagging(workers, before) == "" })

	write("lib/shared.lua", "return { version = 2 }")
	push := p.command("push", filepath.Join(folder, "lib", "shared.lua"), "--wait")
	after := p.entries(all)
	if lag := p.lagging(workers, after); lag != "" {
		t.Errorf("the push has waited, and %s", lag)
	}
	if n := strings.Count(push.output.String(), ": runs revision "); n != 4 {
		t.Errorf("two spiders on two hosts are confirmed in %d lines:\n%s", n, push.output)
	}
	for i, name := range all {
		changed := after[i].Revision != before[i].Revision
		if changed == (name == "three") || changed != (after[i].Version != before[i].Version) {
			t.Errorf("%s: %s (version %d) -> %s (version %d)", name, before[i].Revision, before[i].Version, after[i].Revision, after[i].Version)
		}
		for _, w := range workers {
			if told := strings.Count(w.output.String(), name+": reloaded, revision "); told > 1 || (told == 1) != changed {
				t.Errorf("%s is reloaded %d times:\n%s", name, told, w.output)
			}
		}
	}

	taken := watchTaken(t, p.client, "one")
	p.command("rollback", "one")
	back := p.entries([]string{"one"})[0]
	if back.Revision != before[0].Revision {
		t.Errorf("rolled back to %s, want %s", back.Revision, before[0].Revision)
	}
	eventually(t, time.Minute, "both hosts run what they ran before", func() bool { return len(taken.of(back.Version)) == 2 })
	for _, one := range taken.of(back.Version) {
		took := one.at.Sub(back.Time)
		t.Logf("a host is back after %v", took)
		if one.revision != before[0].Revision || one.err != "" || took > 5*time.Second {
			t.Errorf("after %v: %+v", took, one)
		}
	}
}

// entries are what the fleet is to run of some spiders.
func (p *pushed) entries(spiders []string) []scheduler.Entry {
	p.t.Helper()
	var list []scheduler.Entry
	for _, spider := range spiders {
		e, err := p.client.RegistryEntry(p.t.Context(), spider)
		if err != nil {
			p.t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// lagging says which worker does not run an entry, "" when all do.
func (p *pushed) lagging(workers []*process, entries []scheduler.Entry) string {
	reports, err := p.client.Workers(p.t.Context())
	if err != nil {
		return err.Error()
	}
	for _, w := range workers {
		for _, e := range entries {
			if !slices.ContainsFunc(reports, func(r scheduler.WorkerReport) bool {
				return r.PID == w.Process.Pid && slices.ContainsFunc(r.Spiders, func(s scheduler.SpiderReport) bool {
					return s.Spider == e.Spider && s.Revision == e.Revision && s.Error == ""
				})
			}) {
				return fmt.Sprintf("%d does not run %s", w.Process.Pid, e.Spider)
			}
		}
	}
	return ""
}
