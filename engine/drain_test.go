package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/engine/export"
)

// atOnce is a spider of pages that are answered at once when all are asked for, and a page /plain that is answered with them and goes to no
// sink.
func atOnce(t *testing.T, pages int) (*goSpider, *sync.WaitGroup) {
	all := new(sync.WaitGroup)
	all.Add(pages)
	handlers := map[string]http.HandlerFunc{"/plain": func(http.ResponseWriter, *http.Request) { all.Wait() }}
	for i := range pages {
		handlers[fmt.Sprintf("/%d", i)] = func(http.ResponseWriter, *http.Request) { all.Done(); all.Wait() }
	}
	base := serve(t, handlers)
	spider := routed(pages, 1)
	for i := range spider.start {
		spider.start[i] = base + spider.start[i]
	}
	parse := spider.callbacks["parse"]
	spider.callbacks["parse"] = func(r *engine.Response) (*engine.Output, error) {
		if strings.HasSuffix(r.URL, "/plain") {
			return item(`{"plain":1}`), nil
		}
		return parse(r)
	}
	return spider, all
}

// TestEndAfterMoreConcurrency: with concurrent_requests raised far beyond that of the start, a crawl goes on, and ends however it ends,
// while more pages come from the workers than their channels were made for.
func TestEndAfterMoreConcurrency(t *testing.T) {
	t.Parallel()
	const pages = 64
	full := errors.New("no space left")
	for name, c := range map[string]struct {
		down   bool // the sink
		killed bool // or else the items' file is full
	}{"killed": {killed: true}, "killed with a sink down": {down: true, killed: true}, "failed": {}, "failed with a sink down": {down: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spider, all := atOnce(t, pages)
			if !c.killed {
				spider.start = append(spider.start, strings.TrimSuffix(spider.start[0], "/0")+"/plain")
			}
			sink := &memorySink{name: "first"}
			if c.down {
				sink.broken = func() error { return errors.New("no route to host") }
			}
			r := newRigWith(t, spider, func(s *engine.Settings) {
				s.ConcurrentRequests, s.SinkBuffer, s.ConcurrentRequestsPerDomain = 4, 1, 1000
			}, func(o *engine.Options) { o.Sinks = []export.Sink{sink} })
			raised := r.settings
			raised.ConcurrentRequests = pages + 1
			r.crawl.SetSettings(raised)
			r.crawl.OnItems = func([]engine.Item) error {
				if c.killed {
					r.crawl.Kill()
					return nil
				}
				return full
			}
			if c.killed && c.down {
				go func() { all.Wait(); r.crawl.Kill() }()
			}
			ended := make(chan error, 1)
			go func() { _, err := r.crawl.Run(t.Context()); ended <- err }()
			select {
			case err := <-ended:
				if !c.killed && !errors.Is(err, full) || c.killed && err != nil {
					t.Errorf("ended with %v", err)
				}
			case <-time.After(time.Minute):
				t.Fatal("the crawl does not end")
			}
		})
	}
}

// slowClosing is a sink whose last words take as long as they may.
type slowClosing struct {
	memorySink
	closing chan struct{} // closed when they begin
}

func (s *slowClosing) Close(ctx context.Context) error {
	close(s.closing)
	<-ctx.Done()
	return ctx.Err()
}

// TestKillWhileASinkCloses: a second signal does not wait for a sink's last words.
func TestKillWhileASinkCloses(t *testing.T) {
	t.Parallel()
	s := &slowClosing{memorySink: memorySink{name: "slow"}, closing: make(chan struct{})}
	r := newSinkRig(t, 1, nil, s)
	var killed time.Time
	go func() { <-s.closing; killed = time.Now(); r.crawl.Kill() }()
	if _, err := r.crawl.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(killed); took > 10*time.Second {
		t.Errorf("%s after the kill", took)
	}
}
