package engine_test

import (
	"context"
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
		if err := r.frontier.Flush(context.WithoutCancel(req.Context())); err != nil {
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
