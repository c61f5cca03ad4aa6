package engine_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// later blocks until d is over or ctx ends.
func later(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}

func itemSpider() *goSpider {
	return &goSpider{callbacks: map[string]func(*engine.Response) (*engine.Output, error){"parse": bodyItem}}
}

func TestLostLeaseIsNoLongerInFlight(t *testing.T) {
	t.Parallel()
	var r *rig
	base := serve(t, map[string]http.HandlerFunc{"/a": func(_ http.ResponseWriter, req *http.Request) {
		if err := r.client.Flush(context.WithoutCancel(req.Context()), "t", scheduler.Keys{}, scheduler.FlushOptions{Force: true}); err != nil {
			t.Error(err)
		}
		<-req.Context().Done() // the heartbeat finds that the lease is gone
	}})
	r = newRig(t, itemSpider(), func(s *engine.Settings) { s.Lease = 500 * time.Millisecond }, base+"/a")
	r.run(t)
	if n := r.crawl.Progress().InFlight; n != 0 {
		t.Errorf("%d in flight when nothing is left", n)
	}
}

func TestMaxIdleTimeBeginsWhenTheWorkEnds(t *testing.T) {
	t.Parallel()
	const page, idle = 600 * time.Millisecond, 400 * time.Millisecond
	base := serve(t, map[string]http.HandlerFunc{"/slow": func(_ http.ResponseWriter, req *http.Request) { later(req.Context(), page) }})
	r := newRig(t, itemSpider(), func(s *engine.Settings) { s.MaxIdleTime = idle }, base+"/slow")
	if sum := r.run(t); sum.Reason != engine.ReasonMaxIdleTime || sum.Duration < page+idle {
		t.Errorf("%s after %s", sum.Reason, sum.Duration)
	}
}

// A file that cannot be written ends the crawl, also while it is stopping; what was not stored is handed back, so that
// it does not die of runs that fail.
func TestItemsThatAreRefused(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left")
	for _, stopping := range []bool{false, true} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		base := serve(t, map[string]http.HandlerFunc{
			"/slow": func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() },
			"/a": func(w http.ResponseWriter, _ *http.Request) {
				if stopping {
					cancel()
				}
				_, _ = io.WriteString(w, "page")
			},
		})
		r := newRig(t, itemSpider(), nil, base+"/a", base+"/slow")
		r.crawl.OnItems = func([]engine.Item) error { return full }
		sum, err := r.crawl.Run(ctx)
		if !errors.Is(err, full) || sum.Reason != engine.ReasonFailed {
			t.Errorf("stopping %v: ended %s with %v", stopping, sum.Reason, err)
		}
		if st := r.status(t); st.InFlight != 0 || st.Pending != 1 {
			t.Errorf("stopping %v: %d leases left, %d pending", stopping, st.InFlight, st.Pending)
		}
	}
}

func TestKillDuringTheLastWords(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var r *rig
	base := serve(t, map[string]http.HandlerFunc{"/a": func(_ http.ResponseWriter, req *http.Request) {
		_ = r.server.Close()
		cancel()
		<-req.Context().Done()
	}})
	r = newRig(t, itemSpider(), func(s *engine.Settings) { s.Grace = 0 }, base+"/a")
	killed := make(chan time.Time, 1)
	go func() {
		for r.crawl.Progress().Down.IsZero() && t.Context().Err() == nil {
			later(t.Context(), 5*time.Millisecond)
		}
		killed <- time.Now()
		r.crawl.Kill()
	}()
	sum, _ := r.crawl.Run(ctx)
	if took := time.Since(<-killed); sum.Reason != engine.ReasonKilled || took > time.Second {
		t.Errorf("%s, %s after the kill", sum.Reason, took)
	}
}

func TestRedirectToAnotherHostDropsTheHostHeader(t *testing.T) {
	t.Parallel()
	echo := func(w http.ResponseWriter, req *http.Request) { _, _ = io.WriteString(w, req.Host) }
	other := serve(t, map[string]http.HandlerFunc{"/host": echo})
	base := serve(t, map[string]http.HandlerFunc{
		"/away": func(w http.ResponseWriter, req *http.Request) { http.Redirect(w, req, other+"/host", http.StatusFound) },
	})
	spider := itemSpider()
	spider.seed = func(seed string) (*engine.Output, error) {
		out := follow(&scheduler.Request{URL: seed})
		out.Requests[0].Headers = http.Header{"Host": {"virtual.example"}}
		return out, nil
	}
	r := newRig(t, spider, nil, base+"/away")
	r.run(t)
	if len(r.items) != 1 || !strings.Contains(r.items[0], strings.TrimPrefix(other, "http://")) {
		t.Errorf("items %v", r.items)
	}
}

// When Redis fails between two commits, what the first has stored is passed on: nobody would see it again.
func TestItemsStoredBeforeAFailureArePassedOn(t *testing.T) {
	t.Parallel()
	for range 20 { // until the good page comes before the one that breaks the next commit
		stored, passed := failBetweenCommits(t)
		if stored != passed {
			t.Fatalf("%d items stored, %d passed on", stored, passed)
		}
		if stored == 1 {
			return
		}
	}
	t.Fatal("the good page was never committed first")
}

// failBetweenCommits crawls two pages that do not fit in one commit. The second one's commit fails.
func failBetweenCommits(t *testing.T) (stored, passed int) {
	base := serve(t, nil)
	var r *rig
	first := make(chan struct{})
	big := strings.Repeat("x", 700_000)
	spider := &goSpider{callbacks: map[string]func(*engine.Response) (*engine.Output, error){"parse": func(res *engine.Response) (*engine.Output, error) {
		out := item(`{"big":%q}`, big)
		if strings.HasSuffix(res.URL, "/a") {
			close(first)
			return out, nil
		}
		<-first
		out.Requests = follow(&scheduler.Request{URL: base + "/later", NotBefore: time.Now().Add(time.Hour)}).Requests
		_, err := r.client.PushSeeds(t.Context(), "t", scheduler.Keys{StartURLs: "t:delayed"}, [][]byte{[]byte("a list where a zset belongs")})
		return out, err
	}}}
	r = newRig(t, spider, nil, base+"/a", base+"/b")
	_, err := r.crawl.Run(t.Context())
	items, asked := r.client.Items(t.Context(), "t", scheduler.Keys{}, 0, -1)
	if !errors.Is(err, scheduler.ErrWrongType) || asked != nil {
		t.Fatalf("%v, %v", err, asked)
	}
	return len(items), len(r.items)
}
