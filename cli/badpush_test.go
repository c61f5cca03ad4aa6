package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// endlessFleet is a worker that crawls a site without an end.
func endlessFleet(t *testing.T, workers int) (*pushed, []*process) {
	t.Helper()
	p := newPushed(t, redistest.Options{}, &graphSite{pages: 1 << 20, links: 4, delay: 50 * time.Millisecond})
	version := p.push(p.revision("0"))
	var all []*process
	for range workers {
		all = append(all, p.worker("luacrawl"))
	}
	p.seed()
	eventually(t, time.Minute, "the workers run", func() bool { return p.confirmed(workers, version, false) })
	waitItems(t, p.redis, 20)
	return p, all
}

// goesOn waits until there are more items.
func (p *pushed) goesOn() {
	p.t.Helper()
	waitItems(p.t, p.redis, len(p.redis.Strings("LRANGE", "graph:items", "0", "-1"))+20)
}

// TestLargePushesAreRefused: a spider, a module and a file beside them that have 50 MB. The refusal is quick and names the file; nothing is sent.
func TestLargePushesAreRefused(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, redistest.Options{})
	folder := t.TempDir()
	write := func(name, text string, size int64) {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n--"+strings.Repeat("x", int(size))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const large = 50 << 20
	write("huge.lua", "return { name = 'huge', parse = function() end }", large)
	write("module/news.lua", "local data = require 'data'\nreturn { name = 'news', parse = function() end }", 0)
	write("module/data.lua", "return {}", large)
	for _, c := range []struct{ arg, names string }{
		{"huge.lua", "huge.lua has 52428"},
		{"module/news.lua", "data.lua"},
		{"module/data.lua", "data.lua has 52428"},
		{"module", "data.lua"},
		{".", "huge.lua"},
	} {
		push := startLuacrawl(t, folder, "push", c.arg, "--redis", redis.URL())
		push.wantExit(t, time.Minute, 2)
		out := push.output.String()
		if !strings.Contains(out, c.names) || len(out) > 2000 {
			t.Errorf("push %s says in %d bytes: %.500s", c.arg, len(out), out)
		}
	}
	if keys := redis.Strings("KEYS", "luacrawl:*"); len(keys) > 0 {
		t.Errorf("refused pushes have left %v", keys)
	}
}

// TestRegistryIsSpoiltWhileWorkersRun: whichever key of the registry holds another type, the crawl goes on, a push names the key, and once it is gone
// a push is in effect.
func TestRegistryIsSpoiltWhileWorkersRun(t *testing.T) {
	t.Parallel()
	p, workers := endlessFleet(t, 2)
	for i, key := range []string{"luacrawl:registry", "luacrawl:states", "luacrawl:version", "luacrawl:log:graph", "luacrawl:workers", "luacrawl:reports"} {
		p.redis.Strings("DEL", key)
		if key == "luacrawl:version" {
			p.redis.Strings("RPUSH", key, "mine")
		} else {
			p.redis.Strings("SET", key, "mine")
		}
		p.goesOn()
		push := startLuacrawl(t, p.folder(p.revision(fmt.Sprint("spoilt", i))), "push", "graph.lua", "--redis", p.redis.URL(), "--wait")
		push.wantExit(t, time.Minute, 1)
		if !strings.Contains(push.output.String(), key+" holds a ") {
			t.Errorf("the push does not name %s:\n%s", key, push.output)
		}
		p.redis.Strings("DEL", key)
		eventually(t, time.Minute, "both workers report", func() bool {
			alive, err := p.client.Workers(t.Context())
			return err == nil && len(alive) == len(workers)
		})
		p.command("push", filepath.Join(p.folder(p.revision(fmt.Sprint("mended", i))), "graph.lua"), "--wait", "--wait-timeout", "1m")
	}
	p.goesOn()
	for _, w := range workers {
		if n := strings.Count(w.output.String(), "\n"); n > 120 {
			t.Errorf("a worker tells it in %d lines:\n%.4000s", n, w.output)
		}
		w.interrupt(t)
	}
}

// TestPubSubIsLost: pushes are in effect while nobody can subscribe; workers look at the registry by themselves. The long form is a minute.
func TestPubSubIsLost(t *testing.T) {
	t.Parallel()
	p, workers := endlessFleet(t, 2)
	taken := watchTaken(t, p.client, "graph")
	p.redis.Strings("ACL", "SETUSER", "default", "-subscribe", "-psubscribe")
	p.redis.Strings("CLIENT", "KILL", "TYPE", "pubsub")
	pushes := 8
	if os.Getenv("LUACRAWL_SOAK") != "" {
		pushes = 120
	}
	var took []time.Duration
	for i := range pushes {
		start := time.Now()
		version := p.push(p.revision(fmt.Sprint("v", i)))
		eventually(t, time.Minute, "a push without pub/sub is in effect", func() bool { return len(taken.of(version)) == len(workers) })
		for _, one := range taken.of(version) {
			took = append(took, one.at.Sub(start))
		}
	}
	slices.Sort(took)
	t.Logf("without pub/sub a host runs a push after %v (p50), %v at most, of %d", took[len(took)/2], took[len(took)-1], len(took))
	if took[len(took)/2] > 2*time.Second {
		t.Errorf("a host runs a push after %v (p50)", took[len(took)/2])
	}
	p.redis.Strings("ACL", "SETUSER", "default", "+subscribe", "+psubscribe")
	eventually(t, time.Minute, "the workers listen again", func() bool { return p.redis.Strings("PUBSUB", "NUMSUB", "luacrawl:changes")[1] == "2" })
	p.goesOn()
	for _, w := range workers {
		if strings.Count(w.output.String(), "level=WARN") > 2 {
			t.Errorf("it is said again and again:\n%s", w.output)
		}
	}
}

// TestPushesAtOnce: of people who push different versions at the same moment each either wins or is told of a conflict, and what the fleet runs is
// what one of them pushed, whole.
func TestPushesAtOnce(t *testing.T) {
	t.Parallel()
	p, workers := endlessFleet(t, 2)
	conflicts, most := 0, 20
	for round := 0; round < most && conflicts < 3; round++ {
		pushed := map[string]*scheduler.Revision{}
		var pushes []*process
		for i := range 3 {
			r := p.revision(fmt.Sprintf("%d/%d", round, i))
			r.Files["page.lua"] = fmt.Appendf(nil, "return { version = ' %d/%d' }\n", round, i)
			r.ID = scheduler.RevisionID(r.Main, r.Files)
			pushed[r.ID] = r
			pushes = append(pushes, startLuacrawl(t, p.folder(r), "push", "graph.lua", "--redis", p.redis.URL(), "--author", fmt.Sprint("ann", i)))
		}
		won := 0
		for _, push := range pushes {
			<-push.exited
			switch code, out := push.ProcessState.ExitCode(), push.output.String(); {
			case code == 0:
				won++
			case code == 1 && strings.Contains(out, "has pushed revision ") && strings.Contains(out, "in the meantime") && strings.Contains(out, "nothing was changed"):
				conflicts++
			default:
				t.Errorf("exit code %d:\n%s", code, out)
			}
		}
		entry := p.entries([]string{"graph"})[0]
		got, err := p.client.Revision(t.Context(), entry.Revision)
		if err != nil || won == 0 || pushed[got.ID] == nil {
			t.Errorf("after %d pushes the fleet is to run %+v: %v", won, entry, err)
		}
		eventually(t, time.Minute, "all workers run it", func() bool { return p.confirmed(len(workers), entry.Version, false) })
	}
	t.Logf("%d conflicts", conflicts)
	if conflicts == 0 {
		t.Errorf("no conflict in %d rounds", most)
	}
	for _, item := range p.redis.Strings("LRANGE", "graph:items", "0", "-1") {
		if main, module, both := strings.Cut(versionOf(item), " "); both && main != module {
			t.Errorf("an item of a mixture: %s", item)
		}
	}
}

func versionOf(item string) string {
	_, rest, _ := strings.Cut(item, `"version":"`)
	version, _, _ := strings.Cut(rest, `"`)
	return version
}

// TestOlderWorkerRefuses: a worker of an older luacrawl says why it cannot run a push; --wait names it, and the push of it is in effect on the others.
func TestOlderWorkerRefuses(t *testing.T) {
	t.Parallel()
	p, workers := endlessFleet(t, 1)
	old := scheduler.WorkerReport{ID: "attic:7#1", Host: "attic", PID: 7, Kind: "worker", Tool: "v0.0.1", Started: time.Now()}
	entry := p.entries([]string{"graph"})[0]
	say := func(version int64, err string) {
		t.Helper()
		old.Spiders = []scheduler.SpiderReport{{Spider: "graph", Revision: entry.Revision, Version: version, Error: err}}
		if _, e := p.client.Report(t.Context(), old, time.Hour); e != nil {
			t.Fatal(e)
		}
	}
	say(entry.Version, "")
	push := startLuacrawl(t, p.folder(p.revision("1")), "push", "graph.lua", "--redis", p.redis.URL(), "--wait", "--wait-timeout", "1m")
	push.says(t, hostOf(workers[0])+": runs revision ")
	say(p.entries([]string{"graph"})[0].Version, `graph.lua:1: there is no module "luacrawl.hologram"`)
	push.wantExit(t, time.Minute, 1)
	if out := push.output.String(); !strings.Contains(out, `attic:7: refused: graph.lua:1: there is no module`) || !strings.Contains(out, "cannot be run by: attic:7; luacrawl workers says why") {
		t.Errorf("the push says:\n%s", out)
	}
	if out := p.command("workers").output.String(); !strings.Contains(out, "v0.0.1") {
		t.Errorf("workers says:\n%s", out)
	}
}
