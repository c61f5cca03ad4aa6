package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"luacrawl/cli/host"
	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// operated is a fleet on a real redis-server with two pushed revisions of a spider and requests of both.
type operated struct {
	t      *testing.T
	url    string
	client *scheduler.Client
	ids    []string // revisions, oldest first
}

func newOperated(t *testing.T) *operated {
	t.Helper()
	o := &operated{t: t, url: redistest.Start(t, redistest.Options{}).URL()}
	var err error
	if o.client, err = scheduler.Dial(t.Context(), scheduler.DialOptions{URL: o.url, Wait: 5 * time.Second}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.client.Close() })
	var version int64
	for i := range 2 {
		files := map[string][]byte{"news.lua": fmt.Appendf(nil, "-- %d", i)}
		r := &scheduler.Revision{ID: scheduler.RevisionID("news.lua", files), Spider: "news", Main: "news.lua", Files: files}
		if _, err := o.client.PutRevision(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		version, err = o.client.Flip(t.Context(), scheduler.Entry{Spider: "news", Revision: r.ID, Main: r.Main, Author: "ann", Time: time.Now()}, version, "push")
		if err != nil {
			t.Fatal(err)
		}
		o.ids = append(o.ids, r.ID)
	}
	return o
}

// enqueue adds requests of the revisions, n of each, and some of none.
func (o *operated) enqueue(n int) {
	o.t.Helper()
	f, err := scheduler.Open(o.t.Context(), o.client, scheduler.Config{Spider: "news", Persist: true})
	if err != nil {
		o.t.Fatal(err)
	}
	var children []scheduler.Child
	for _, id := range append(o.ids, "") {
		for i := range n {
			r := &scheduler.Request{URL: fmt.Sprintf("http://%d.test/%.3s/%d", i%3, id, i), Revision: scheduler.ShortRevision(id)}
			children = append(children, scheduler.Child{Request: r})
		}
	}
	if _, _, err := f.Enqueue(o.t.Context(), children); err != nil {
		o.t.Fatal(err)
	}
	if err := f.Close(o.t.Context()); err != nil {
		o.t.Fatal(err)
	}
}

// run is a command as a person types it; it returns its exit code, and what it printed.
func (o *operated) run(stdin string, args ...string) (code int, out, errs string) {
	o.t.Helper()
	var stdout, stderr bytes.Buffer
	code = Main(append([]string{"luacrawl"}, args...), System{
		Streams: Streams{In: strings.NewReader(stdin), Out: &stdout, Err: &stderr},
		Environ: []string{"LUACRAWL_REDIS=" + o.url, "USER=bob"}, Worker: "here:1",
	})
	return code, stdout.String(), stderr.String()
}

// want checks a command's exit code, and that what it printed has the words.
func (o *operated) want(code int, words []string, stdin string, args ...string) {
	o.t.Helper()
	got, out, errs := o.run(stdin, args...)
	if got != code {
		o.t.Errorf("%v: exit code %d, want %d\n%s%s", args, got, code, out, errs)
	}
	for _, w := range words {
		if !strings.Contains(out+errs, w) {
			o.t.Errorf("%v: no %q in\n%s%s", args, w, out, errs)
		}
	}
}

func TestPurgeCommand(t *testing.T) {
	t.Parallel()
	o := newOperated(t)
	o.enqueue(70)
	balances := func(pending, dead int64) {
		t.Helper()
		s, err := o.client.Status(t.Context(), "news", scheduler.Keys{})
		if err != nil || s.Pending != pending || s.Dead != dead || s.Enqueued != accounted(s) {
			t.Errorf("status %+v, %v", s, err)
		}
	}
	old, short := scheduler.ShortRevision(o.ids[0]), o.ids[1][:6]
	o.want(2, []string{"--older-than REVISION"}, "", "purge", "news")
	o.want(1, []string{`revision "ffff"`, "there is no such revision"}, "", "purge", "news", "--older-than", "ffff")
	o.want(0, []string{"no request of news on redis://", "is of an older revision"}, "", "purge", "news", "--older-than", old)
	o.want(1, []string{"70 requests: 70 of " + old, "stays  70 requests of revisions that were never pushed", "go on? [y/N]", "nothing was changed"}, "n\n", "purge", "news", "--older-than", short)
	balances(210, 0)
	o.want(0, []string{"70 requests of news on redis://", "purged (70 of " + old + ")", "dead requeue news --reason purged", "70 requests of revisions that were never pushed stay"},
		"y\n", "purge", "news", "--older-than", short)
	balances(140, 70)
	o.want(0, []string{"70 dead letters of news"}, "", "dead", "requeue", "news", "--reason", "purged", "--yes")
	balances(210, 0)
	o.want(0, []string{`"requests": 140`, `"` + old + `": 70`, `"": 70`, `"unknown": 0`}, "", "purge", "news", "--older-than", "current", "--unknown", "--yes", "--json")
	balances(70, 140)
	o.want(0, []string{"purge", "bob", "70 requests: its revision is older than " + scheduler.ShortRevision(o.ids[1])}, "", "log", "news")
}

func TestWorkersCommand(t *testing.T) {
	t.Parallel()
	o := newOperated(t)
	entry, err := o.client.RegistryEntry(t.Context(), "news")
	if err != nil {
		t.Fatal(err)
	}
	report := func(host, tool string, ttl time.Duration, s scheduler.SpiderReport) {
		t.Helper()
		r := scheduler.WorkerReport{ID: host + "#1", Host: host, PID: 7, Kind: "worker", Tool: tool, Started: time.Now().Add(-90 * time.Minute), Heap: 45 << 20, Goroutines: 33, Spiders: []scheduler.SpiderReport{s}}
		if _, err := o.client.Report(t.Context(), r, ttl); err != nil {
			t.Fatal(err)
		}
	}
	s := scheduler.SpiderReport{Spider: "news", Revision: o.ids[1], Version: entry.Version, State: scheduler.Running, Rate: 12.34, InFlight: 4, Errors: 3}
	report("alpha", readVersion().Version, time.Hour, s)
	s.Revision, s.Error = o.ids[0], "news.lua:3: unexpected symbol"
	report("beta", "v0.0.1", time.Hour, s)
	s.Version, s.Error = entry.Version-1, ""
	report("gamma", readVersion().Version, -3*time.Minute, s)
	s.Spider = "shop"
	report("delta", readVersion().Version, time.Hour, s)

	now, old := scheduler.ShortRevision(o.ids[1]), scheduler.ShortRevision(o.ids[0])
	o.want(0, []string{
		"alpha  pid 7  worker  luacrawl ", "up 1h30m  heap 45 MB  33 goroutines",
		"news  " + now + "  running  12.3 pages/s  4 in flight  3 errors",
		"news  " + old + "!  running", "! its luacrawl, v0.0.1, is ",
		"! news runs " + old + ", the fleet " + now + ": news.lua:3: unexpected symbol",
		"! silent for 3m0", "it has not taken in the push of ann yet",
		"! shop runs " + old + ": the fleet has no spider of this name any more",
	}, "", "workers")
	_, out, _ := o.run("", "workers", "news")
	if strings.Contains(out, "delta") || !strings.Contains(out, "gamma") {
		t.Errorf("workers of news:\n%s", out)
	}
	o.want(0, []string{`"id":"beta#1"`, `"why":"news.lua:3: unexpected symbol"`, `"current":"` + o.ids[1] + `"`, `"alive":false`}, "", "workers", "--json")
	o.want(0, []string{"alpha:7", "news! (news.lua:3: unexpected symbol)", "silent for 3m0"}, "", "top", "--once", "--interval", "200ms")
}

// What is set live is in the history with its author, and pausing a spider of the registry changes the registry's state too.
func TestControlOfAPushedSpider(t *testing.T) {
	t.Parallel()
	o := newOperated(t)
	o.want(0, []string{"news: running -> stopped"}, "", "stop", "news")
	if e, err := o.client.RegistryEntry(t.Context(), "news"); err != nil || e.State != scheduler.Stopped {
		t.Errorf("entry %+v, %v", e, err)
	}
	o.want(0, []string{"news: stopped"}, "", "status", "news")
	o.want(0, []string{"news: it is stopped already"}, "", "stop", "--all")
	o.want(0, nil, "", "resume", "--all")
	o.want(0, nil, "", "set", "news", "download_delay=1.5s", "concurrent_requests_per_domain=3")
	events, err := o.client.History(t.Context(), "news")
	if err != nil || len(events) != 5 {
		t.Fatalf("events %+v, %v", events, err)
	}
	if e := events[4]; e.Author != "bob" || e.Settings["download_delay"] != "1.5s" {
		t.Errorf("event %+v", e)
	}
	o.enqueue(1)
	slots, err := o.client.Slots(t.Context(), "news", scheduler.Keys{}, 10)
	if err != nil || len(slots.First) == 0 || slots.First[0].Delay != 1500*time.Millisecond || slots.First[0].Limit != 3 {
		t.Errorf("slots %+v, %v", slots, err)
	}
}

// The view as a person uses it: it draws, p asks, y pauses in Redis, q quits.
func TestTopIsUsed(t *testing.T) {
	t.Parallel()
	o := newOperated(t)
	o.enqueue(10)
	keys, typed := io.Pipe()
	screen := &watched{}
	p := &program{System: System{Streams: Streams{In: keys, Out: screen}, Environ: []string{"TERM=xterm-256color", "NO_COLOR=1"}}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w := &watcher{observer: o.client.Observe(), client: o.client, author: "bob", rates: map[string]*host.Rates{}}
	ended := make(chan error, 1)
	go func() {
		ended <- p.topLive(ctx, newTopModel("redis", 200*time.Millisecond, w.look(ctx), w.put(ctx)), tea.WithWindowSize(100, 30))
	}()
	press := func(after, key string) {
		t.Helper()
		screen.await(ctx, t, after)
		if _, err := io.WriteString(typed, key); err != nil {
			t.Fatal(err)
		}
	}
	press("2.test", "p")
	press("pause news in the whole fleet?", "y")
	press("from the next lease on", "q")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if s, err := o.client.Status(ctx, "news", scheduler.Keys{}); err != nil || s.Control.State != scheduler.Paused {
		t.Errorf("%+v %v", s, err)
	}
	if text := screen.String(); strings.Contains(text, "\x1b[32m") || strings.Contains(text, "\x1b[33m") {
		t.Error("colour in spite of NO_COLOR")
	}
}

// watched is a terminal that a test reads.
type watched struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(b)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// await waits for words on the screen.
func (w *watched) await(ctx context.Context, t *testing.T, words string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(w.String(), words) {
		select {
		case <-ctx.Done():
			t.Fatalf("no %q on the screen:\n%q", words, w)
		case <-tick.C:
		}
	}
}

// Reading from a window that is none is refused, whatever TERM says.
func TestTopNeedsATerminal(t *testing.T) {
	t.Parallel()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p := &program{System: System{Streams: Streams{In: file, Out: file}, Environ: []string{"TERM=xterm"}}}
	if p.interactive() {
		t.Error("a file is no terminal")
	}
}
