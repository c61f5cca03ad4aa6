package host

import (
	"context"
	"errors"
	"strings"
	"testing"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// rest is a resident whose crawl is open and does not run yet.
func (f *fleet) rest(name string) (*resident, *lockedBuffer) {
	f.t.Helper()
	out := &lockedBuffer{}
	h := New(Options{Client: f.client, Identity: Identity{Worker: "host:1"}, Voice: voice(out, ""), VoiceOf: func(string) Voice { return voice(out, "") }})
	r := newResident(h, name)
	f.t.Cleanup(func() { r.spider.Close() })
	r.entry = f.entry(name)
	r.takeOver(f.t.Context(), r.entry)
	c, err := Open(f.t.Context(), CrawlOptions{Client: f.client, Spider: r.spider, Source: r.source, Voice: r.voice, Worker: "host:1", Shared: h.shared})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = c.Close(context.Background()) })
	r.crawl = c
	return r, out
}

func (f *fleet) entry(name string) scheduler.Entry {
	f.t.Helper()
	e, err := f.client.RegistryEntry(f.t.Context(), name)
	if err != nil {
		f.t.Fatal(err)
	}
	return e
}

// TestRestartAfterAnError: a crawl that was ended to begin again with a new revision begins with that, whatever went wrong at its end.
func TestRestartAfterAnError(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.pushText("news", "1")
	r, out := f.rest("news")
	next, v := f.pushText("news", "2")
	r.entry, r.anew = f.entry("news"), true
	r.crawlEnded(t.Context(), crawlEnd{crawl: r.crawl, err: errors.New("the feed is full")})
	if r.spider.Content().ID != next.ID || r.version != v || r.anew {
		t.Errorf("it runs %s of version %d, want %s of %d", r.spider.Revision(), r.version, next.ID[:12], v)
	}
	if !strings.Contains(out.String(), "the feed is full") {
		t.Errorf("the error is lost:\n%s", out)
	}
}

// TestStopBeforeRun: a Run that begins after Stop ends at once.
func TestStopBeforeRun(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.pushText("news", "1")
	r, _ := f.rest("news")
	r.crawl.Stop()
	sum, err := r.crawl.Run(t.Context())
	if err != nil || sum.Reason != engine.ReasonStopped {
		t.Errorf("it ended with %+v, %v", sum, err)
	}
}

// TestSettingsThatTheFleetIsNotTold are told later; the entry is not confirmed meanwhile.
func TestSettingsThatTheFleetIsNotTold(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	_, first := f.pushText("news", "1")
	r, out := f.rest("news")
	_, v := f.pushText("news", "2", "spider.settings.download_delay = 0.25")
	e := f.entry("news")
	f.redis.Strings("DEL", "luacrawl:version")
	f.redis.Strings("RPUSH", "luacrawl:version", "mine")
	for range 2 {
		r.takeOver(t.Context(), e)
		if r.version != first || r.again.IsZero() || r.broken == nil {
			t.Errorf("version %d is confirmed, again at %v, %v", r.version, r.again, r.broken)
		}
	}
	if n := strings.Count(out.String(), "the settings of the fleet are those of before"); n != 1 {
		t.Errorf("said %d times:\n%s", n, out)
	}
	f.redis.Strings("DEL", "luacrawl:version")
	r.takeOver(t.Context(), e)
	if got := f.redis.Strings("HGET", "news:meta", "set:download_delay_ms")[0]; got != "250" || r.version != v || !r.again.IsZero() || r.broken != nil {
		t.Errorf("delay %s, version %d, again at %v, %v", got, r.version, r.again, r.broken)
	}
}

// TestPushOfOtherPipelines begins the crawl again, and is no edit that failed.
func TestPushOfOtherPipelines(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rev, v := f.pushText("news", "1")
	h := f.host("")
	h.confirms(rev, v)
	f.seed("news")
	f.itemsFrom("news", "1")
	next, v := f.pushText("news", "2", `spider.pipelines = { { "feed", order = 1, uri = "-" } }`)
	h.confirms(next, v)
	h.says("the crawl is begun again with revision " + next.ID[:12])
	h.says("crawling, revision " + next.ID[:12])
	if log := h.log.String(); strings.Contains(log, "not reloaded") {
		t.Errorf("it is said to have failed:\n%s", log)
	}
}
