package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// TestConfirmation: a host has confirmed a push when it runs what was pushed, whatever else it reports; one that nobody will confirm any more fails.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	o := newOperated(t)
	entry, err := o.client.RegistryEntry(t.Context(), "news")
	if err != nil {
		t.Fatal(err)
	}
	old, now, v := o.ids[0], o.ids[1], entry.Version
	for _, c := range []struct {
		name     string
		report   scheduler.SpiderReport
		revision string // that was pushed
		want     string // of the error, "" for none
	}{
		{"runs", scheduler.SpiderReport{Version: v, Revision: now}, now, ""},
		{"runs, and another entry is damaged", scheduler.SpiderReport{Version: v, Revision: now, Error: "field other: it is no entry"}, now, ""},
		{"runs after a later change", scheduler.SpiderReport{Version: v + 1, Revision: now}, now, ""},
		{"refused", scheduler.SpiderReport{Version: v, Revision: old, Error: "boom"}, now, "cannot be run by: h:7"},
		{"has not seen it, and another entry is damaged", scheduler.SpiderReport{Version: v - 1, Revision: old, Error: "field other: it is no entry"}, now, "is not confirmed within"},
		{"runs another", scheduler.SpiderReport{Version: v, Revision: old}, now, "is not confirmed within"},
		{"superseded", scheduler.SpiderReport{Version: v, Revision: now}, old, "it was superseded by revision " + short(now) + " of ann"},
	} {
		c.report.Spider = "news"
		worker := scheduler.WorkerReport{ID: "h:7#1", Host: "h", PID: 7, Kind: "worker", Started: time.Now(), Spiders: []scheduler.SpiderReport{c.report}}
		if _, err := o.client.Report(t.Context(), worker, time.Hour); err != nil {
			t.Fatal(err)
		}
		w := &confirmation{fleet: &fleet{Client: o.client, logs: &logs{out: io.Discard}}, spider: "news", revision: c.revision, version: v}
		err := w.wait(t.Context(), time.Second)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestDamagedEntryIsMendedByCommands: by those that the error names.
func TestDamagedEntryIsMendedByCommands(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	o := &operated{t: t, url: server.URL()}
	file := filepath.Join(t.TempDir(), "news.lua")
	if err := os.WriteFile(file, []byte("return { name = 'news', parse = function() end }"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"mine", "7 {"} {
		server.Strings("HSET", "luacrawl:registry", "news", raw)
		o.want(1, []string{"push the spider again, or remove it"}, "", "rollback", "news")
		o.want(0, []string{"news: pushed revision"}, "", "push", file)
		o.want(0, []string{"news: unchanged"}, "", "push", file)
		server.Strings("HSET", "luacrawl:registry", "news", raw)
		o.want(0, []string{"news: removed"}, "", "remove", "news", "--yes")
		o.want(1, []string{"no spider of this name"}, "", "remove", "news", "--yes")
	}
}

// TestFirstPushOfAStoppedSpider says that nothing will run.
func TestFirstPushOfAStoppedSpider(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	o := &operated{t: t, url: server.URL()}
	file := filepath.Join(t.TempDir(), "news.lua")
	if err := os.WriteFile(file, []byte("return { name = 'news', parse = function() end }"), 0o600); err != nil {
		t.Fatal(err)
	}
	server.Strings("HSET", "news:meta", "state", "stopped")
	o.want(0, []string{", the first; the spider is stopped: luacrawl resume news"}, "", "push", file)
}
