package host

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler"
)

// TestPushDuringCrawl: every host takes a push over while it crawls, within a second, and items show it.
func TestPushDuringCrawl(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rev, v := f.pushText("news", "1")
	a, b := f.host(""), f.host("")
	f.seed("news")
	a.confirms(rev, v)
	b.confirms(rev, v)
	f.itemsFrom("news", "1")
	best := time.Hour
	for i := range 4 {
		start := time.Now()
		rev, v = f.pushText("news", fmt.Sprint("v", i))
		a.confirms(rev, v)
		b.confirms(rev, v)
		best = min(best, time.Since(start))
		f.itemsFrom("news", fmt.Sprint("v", i))
	}
	t.Logf("all hosts after %v at best", best)
	if best > time.Second {
		t.Errorf("both hosts run a push after %v", best)
	}
	if dead := f.redis.Strings("LRANGE", "news:dead", "0", "-1"); len(dead) > 0 {
		t.Errorf("dead letters: %v", dead)
	}
	a.stop()
	b.stop()
	if left := f.redis.Strings("ZRANGE", "news:leases", "0", "-1"); len(left) > 0 {
		t.Errorf("%d leases were not handed back", len(left))
	}
	if workers, err := f.client.Workers(t.Context()); err != nil || len(workers) > 0 {
		t.Errorf("workers that have left: %v, %v", workers, err)
	}
	if len(a.crawls) != 1 || a.crawls[0].Reason != "interrupted" || len(a.crawls[0].Revisions) != 5 {
		t.Errorf("ended crawls: %+v", a.crawls)
	}
}

// TestBrokenPushes: whatever is wrong with a revision, the last good one goes on, the fleet is told which and why, the log has it once, and the
// next good one is taken over.
func TestBrokenPushes(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	good, v := f.pushText("news", "1")
	h := f.host(t.TempDir())
	f.seed("news")
	h.confirms(good, v)
	f.itemsFrom("news", "1")
	for _, c := range []struct {
		text    string
		because string
	}{
		{"local spider = {}\nfunction spider.parse(\n", "news.lua:2: syntax error"},
		{"error('boom')", "news.lua:1: boom"},
		{"local x = require 'hologram' return x", "hologram"}, // a module of a newer luacrawl
		{spiderText("news", "2", "spider.settings.warp_speed = 9"), `unknown setting "warp_speed"`},
		{spiderText("news", "2", "spider.settings.partition = 'domain'"), "setting partition was the default"},
		{spiderText("other", "2"), `the spider's name was "news" and is now "other"`},
	} {
		bad := revision("news", "news.lua", c.text)
		v := f.push(bad, scheduler.Adopt)
		h.refuses(good, v, c.because)
		h.says("not reloaded, revision " + good.ID[:12] + " goes on: ")
	}
	if n := strings.Count(h.log.String(), "not reloaded"); n != 6 {
		t.Errorf("6 broken pushes are told in %d lines:\n%s", n, h.log)
	}
	before := len(f.redis.Strings("LRANGE", "news:items", "0", "-1"))
	f.eventually("items go on", func() bool { return len(f.redis.Strings("LRANGE", "news:items", "0", "-1")) > before+20 })
	f.itemsFrom("news", "1")
	if s := h.Spiders(); len(s) != 1 || s[0].Broken != "news.lua" && s[0].Broken != "news.lua:1" {
		t.Errorf("shown: %+v", s)
	}
	good, v = f.pushText("news", "3")
	h.confirms(good, v)
	f.itemsFrom("news", "3")
}

// TestDamagedRevision: a revision that is not what was pushed is refused, and taken over once it is mended, by a push or by itself.
func TestDamagedRevision(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(manifest, file string) (string, string){
		"truncated manifest": func(m, f string) (string, string) { return m[:len(m)/2], f },
		"edited manifest":    func(m, f string) (string, string) { return strings.ReplaceAll(m, "news.lua", "mine.lua"), f },
		"truncated file":     func(m, f string) (string, string) { return m, f[:len(f)/2] },
		"edited file":        func(m, f string) (string, string) { return m, strings.Replace(f, "version", "Version", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			good, v := f.pushText("news", "1")
			h := f.host("")
			h.confirms(good, v)
			next := revision("news", "news.lua", spiderText("news", "2"))
			if _, err := f.client.PutRevision(t.Context(), next); err != nil {
				t.Fatal(err)
			}
			manifest, file := "luacrawl:revision:"+next.ID[:12], fmt.Sprintf("luacrawl:file:%x", sha256.Sum256(next.Files["news.lua"]))
			m, text := f.redis.Strings("GET", manifest)[0], f.redis.Strings("GET", file)[0]
			badManifest, badFile := spoil(m, text)
			f.redis.Strings("MSET", manifest, badManifest, file, badFile)
			v = f.flip(next, scheduler.Adopt)
			h.refuses(good, v, "damaged")
			if n := strings.Count(h.log.String(), "not reloaded"); n != 1 {
				t.Errorf("said %d times:\n%s", n, h.log)
			}
			f.redis.Strings("MSET", manifest, m, file, text)
			h.confirms(next, v)
		})
	}
}

// TestRevisionOfANewerVersion: what a manifest or an entry says beyond what this version knows is no harm.
func TestRevisionOfANewerVersion(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rev := revision("news", "news.lua", spiderText("news", "1"), "data/cities.csv", "berlin\n")
	if _, err := f.client.PutRevision(t.Context(), rev); err != nil {
		t.Fatal(err)
	}
	key := "luacrawl:revision:" + rev.ID[:12]
	manifest := f.redis.Strings("GET", key)[0]
	f.redis.Strings("SET", key, `{"signature":"abc",`+manifest[1:])
	v := f.push(rev, scheduler.Adopt)
	entry := f.redis.Strings("HGET", "luacrawl:registry", "news")[0]
	f.redis.Strings("HSET", "luacrawl:registry", "news", strings.Replace(entry, "{", `{"canary":{"share":0.5},`, 1))
	h := f.host("")
	h.confirms(rev, v)
}

// TestModuleReloadsItsSpiders: a module that has changed reloads the spiders that require it and no others.
func TestModuleReloadsItsSpiders(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	folder := func(module string) (with, without *scheduler.Revision) {
		main := strings.Replace(spiderText("with", "1"), "local spider", "local page = require 'page'\nlocal spider", 1)
		return revision("with", "with.lua", main, "page.lua", module), revision("without", "without.lua", spiderText("without", "1"))
	}
	with, without := folder("return 1")
	v1, v2 := f.push(with, scheduler.Adopt), f.push(without, scheduler.Adopt)
	h := f.host("")
	h.confirms(with, v1)
	h.confirms(without, v2)
	changed, same := folder("return 2")
	if same.ID != without.ID || changed.ID == with.ID {
		t.Fatal("a revision is its files")
	}
	h.confirms(changed, f.push(changed, scheduler.Adopt))
	h.confirms(without, v2)
	log := h.log.String()
	if !strings.Contains(log, "with: reloaded, ") || strings.Contains(log, "without: reloaded, ") {
		t.Error(log)
	}
}

// TestStates: a stopped spider ends and hands its pages back, resumed it goes on, removed it ends; a paused one leases nothing.
func TestStates(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rev, v := f.pushText("news", "1")
	h := f.host(t.TempDir())
	f.seed("news")
	h.confirms(rev, v)
	f.itemsFrom("news", "1")
	set := func(s scheduler.State) {
		t.Helper()
		if _, err := f.client.SetControl(t.Context(), "news", scheduler.Keys{}, scheduler.Change{State: s}); err != nil {
			t.Fatal(err)
		}
	}
	items := func() int { return len(f.redis.Strings("LRANGE", "news:items", "0", "-1")) }
	set(scheduler.Paused)
	h.reports("news", "it is paused", func(s *scheduler.SpiderReport) bool { return s.State == scheduler.Paused && s.InFlight == 0 })
	n := items()
	set(scheduler.Draining)
	h.reports("news", "it drains", func(s *scheduler.SpiderReport) bool { return s.State == scheduler.Draining })
	f.eventually("items of a draining spider", func() bool { return items() > n })
	set(scheduler.Stopped)
	f.eventually("it ends", func() bool { return h.report("news") == nil })
	if left := f.redis.Strings("ZRANGE", "news:leases", "0", "-1"); len(left) > 0 {
		t.Errorf("%d leases were not handed back", len(left))
	}
	n = items()
	set(scheduler.Running)
	f.eventually("items of a resumed spider", func() bool { return items() > n })
	h.confirms(rev, v)
	if err := f.client.Remove(t.Context(), "news", v, "ann"); err != nil {
		t.Fatal(err)
	}
	f.eventually("it is gone", func() bool { return h.report("news") == nil })
	h.stop()
	var reasons []string
	for _, e := range h.crawls {
		reasons = append(reasons, e.Reason)
	}
	if !slices.Equal(reasons, []string{"stopped", "stopped"}) {
		t.Errorf("crawls ended as %v", reasons)
	}
}

// TestOnlyNamed: a worker with names runs these, also when they are pushed later.
func TestOnlyNamed(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.pushText("other", "1")
	h := f.host("", "news")
	h.says("the fleet has no spider news: waiting for it to be pushed")
	rev, v := f.pushText("news", "1")
	h.confirms(rev, v)
	if h.report("other") != nil {
		t.Error("it runs a spider that was not named")
	}
}

// TestLiveSettings: what is set live is in effect at once, above all else, is taken back, and what cannot be is refused.
func TestLiveSettings(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rev, v := f.pushText("news", "1")
	h := f.host("")
	f.seed("news")
	h.confirms(rev, v)
	f.itemsFrom("news", "1")
	set := func(live map[string]string) {
		t.Helper()
		if _, err := f.client.SetControl(t.Context(), "news", scheduler.Keys{}, scheduler.Change{Live: live}); err != nil {
			t.Fatal(err)
		}
	}
	set(map[string]string{"concurrent_requests": "9", "log_level": "warn", "robotstxt_obey": "false", "lease": "5", "retry_times": "many"})
	h.says("news: set live: concurrent_requests=9, log_level=warn")
	h.says("news: log level warn")
	h.says("setting robotstxt_obey: it guards others")
	h.says("setting lease: all workers of a crawl agree on it")
	h.says(`setting retry_times: want`)
	h.reports("news", "nine pages are in flight", func(s *scheduler.SpiderReport) bool { return s.InFlight >= 8 })
	set(map[string]string{"concurrent_requests": ""})
	h.says("concurrent_requests is no longer set")
	h.reports("news", "four pages are in flight", func(s *scheduler.SpiderReport) bool { return s.InFlight > 0 && s.InFlight <= 4 })
	late := f.host("") // one that starts later has them from the start
	late.says("news: log level warn")
}

// TestPushWithoutPubSub: while Redis refuses to say that something has changed, hosts see it all the same, and soon.
func TestPushWithoutPubSub(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rev, v := f.pushText("news", "1")
	deaf := f.dialAs("deaf", "ACL", "SETUSER", "deaf", "on", ">deaf", "~*", "+@all", "resetchannels")
	h := f.hostOn(deaf, "")
	h.confirms(rev, v)
	best := time.Hour
	for i := range 3 {
		start := time.Now()
		rev, v = f.pushText("news", fmt.Sprint("v", i))
		h.confirms(rev, v)
		best = min(best, time.Since(start))
	}
	t.Logf("after %v at best", best)
	if best > time.Second {
		t.Errorf("a push is seen after %v", best)
	}
}

// TestForbiddenRegistry: a host whose user may not read the registry runs what it has on disk, and says why.
func TestForbiddenRegistry(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	data := t.TempDir()
	good, _ := f.kept(data)
	f.seed("news")
	h := f.hostOn(f.dialAs("narrow", "ACL", "SETUSER", "narrow", "on", ">narrow", "~news:*", "~luacrawl:spiders", "~luacrawl:reports", "~luacrawl:workers", "&*", "+@all"), data)
	h.says("the registry cannot be read")
	h.says("NOPERM")
	h.says("news: running revision " + good.ID[:12])
	f.itemsFrom("news", "1")
}

// TestPushChangesFleetSettings: a push that changes the delay holds for the workers that run, and keeps no other out.
func TestPushChangesFleetSettings(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rev, v := f.pushText("news", "1")
	first := f.host("")
	f.seed("news")
	first.confirms(rev, v)
	f.itemsFrom("news", "1")
	text := strings.Replace(spiderText("news", "2"), "return spider", "spider.settings = { download_delay = 0.25, concurrent_requests_per_domain = 3, lease_attempts = 7 }\nreturn spider", 1)
	slow := revision("news", "news.lua", text)
	v = f.push(slow, scheduler.Adopt)
	first.confirms(slow, v)
	f.eventually("the fleet's delay", func() bool {
		return slices.Equal(f.redis.Strings("HMGET", "news:meta", "set:download_delay_ms", "set:concurrent_requests_per_domain", "set:lease_attempts"), []string{"250", "3", "7"})
	})
	second := f.host("")
	second.confirms(slow, v)
	second.reports("news", "it crawls beside the first", func(s *scheduler.SpiderReport) bool { return s.Error == "" && s.Revision == slow.ID })
	f.itemsFrom("news", "2")
	if log := second.log.String(); strings.Contains(log, "setting download_delay") {
		t.Error(log)
	}
}
