package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// itemsWith are the items that hold a text.
func (p *pushed) itemsWith(text string) (found []string) {
	for _, item := range p.redis.Strings("LRANGE", "graph:items", "0", "-1") {
		if strings.Contains(item, text) {
			found = append(found, item)
		}
	}
	return found
}

// task is a task in S:meta: run, due, claimed until, nonce.
func (p *pushed) task(name string) []string {
	if fields := strings.Fields(strings.Join(p.redis.Strings("HMGET", "graph:meta", "task:"+name), "")); len(fields) == 4 {
		return fields
	}
	return []string{"", "0", "0", "-"}
}

// TestOnFinishedOutlivesItsWorker: two workers crawl; the one that is alone when the crawl ends is killed while on_finished runs, and another
// runs it again. What it emits is stored once, its request is crawled, and that end is none of its own.
func TestOnFinishedOutlivesItsWorker(t *testing.T) {
	t.Parallel()
	p := newPushed(t, redistest.Options{}, &graphSite{pages: 60, links: 4})
	p.push(p.revision("0", `
		spider.settings.callback_timeout = 1
		function spider.on_finished()
			emit { task = "on_finished" }
			emit(request { url = "`+p.site.url("127.0.0.1", 0)+`?after", dont_filter = true, callback = "after" })
			local until_ = os.clock() + 0.5 while os.clock() < until_ do end
		end
		function spider.after(response) emit { after = response.url } end`))
	first := p.worker("luacrawl")
	p.seed()
	eventually(t, 30*time.Second, "on_finished runs", func() bool { return p.task("on_finished")[2] != "0" })
	first.kill()
	if run := p.task("on_finished"); run[0] != "0" || run[2] == "0" {
		t.Logf("the worker had ended the run when it was killed: %v", run)
	}
	workers := []*process{p.worker("luacrawl"), p.worker("luacrawl")}
	eventually(t, 60*time.Second, "on_finished is run to its end, and its request is crawled", func() bool {
		return p.task("on_finished")[1] == "0" && len(p.itemsWith(`"after"`)) > 0
	})
	eventually(t, 30*time.Second, "that end is announced too", func() bool { return strings.Join(p.redis.Strings("HMGET", "graph:meta", "finished"), "") != "" })
	for _, text := range []string{`"task":"on_finished"`, `"after"`} {
		if n := len(p.itemsWith(text)); n != 1 {
			t.Errorf("%d items with %s", n, text)
		}
	}
	if run := p.task("on_finished"); run[0] != "1" || run[1] != "0" {
		t.Errorf("on_finished after its own requests: %v", run)
	}
	for _, w := range workers {
		w.interrupt(t)
	}
}

// TestEveryInAFleet: two workers run a task once a period between them, and follow a push of another one.
func TestEveryInAFleet(t *testing.T) {
	t.Parallel()
	p := newPushed(t, redistest.Options{}, &graphSite{pages: 10, links: 4})
	task := func(version string) *scheduler.Revision {
		return p.revision(version, fmt.Sprintf(`local time = require "time" every("1s", function() emit { every = "%s", at = time.now() } end)`, version))
	}
	begun := time.Now()
	p.push(task("one"))
	workers := []*process{p.worker("luacrawl"), p.worker("luacrawl")}
	eventually(t, 30*time.Second, "the task runs", func() bool { return len(p.itemsWith(`"every":"one"`)) >= 4 })
	p.push(task("two"))
	eventually(t, 30*time.Second, "the task of the next revision runs", func() bool { return len(p.itemsWith(`"every":"two"`)) >= 2 })
	took := time.Since(begun)
	n := len(p.itemsWith(`"every"`))
	t.Logf("%d runs in %v", n, took)
	if float64(n) > took.Seconds()+1 {
		t.Errorf("%d runs in %v of a task that runs once a second", n, took)
	}
	for _, w := range workers {
		w.interrupt(t)
	}
}
