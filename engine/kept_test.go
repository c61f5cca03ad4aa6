package engine_test

import (
	"fmt"
	"testing"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// TestARequestThatTheSpiderKeepsIsNotChanged: a script may keep a request in a global, read it and emit it again while the engine works
// on it. The race detector sees a write.
func TestARequestThatTheSpiderKeepsIsNotChanged(t *testing.T) {
	t.Parallel()
	base := serve(t, nil)
	kept := &scheduler.Request{URL: base + "/kept", DontFilter: true, Callback: "last"}
	start := &scheduler.Request{URL: base + "/start", DontFilter: true, Callback: "first"}
	before, startBefore := *kept, *start
	spider := &goSpider{
		seed: func(string) (*engine.Output, error) { return follow(start), nil },
		callbacks: map[string]func(*engine.Response) (*engine.Output, error){
			"first": func(*engine.Response) (*engine.Output, error) {
				var many []*scheduler.Request
				for i := range 50 {
					many = append(many, &scheduler.Request{URL: fmt.Sprintf("%s/%d", base, i)})
				}
				return follow(many...), nil
			},
			"parse": func(*engine.Response) (*engine.Output, error) {
				if kept.Depth != 0 || kept.Revision != "" {
					return nil, fmt.Errorf("the kept request has depth %d and revision %q", kept.Depth, kept.Revision)
				}
				return follow(kept, kept), nil
			},
			"last": func(r *engine.Response) (*engine.Output, error) { return item(`{"depth":%d}`, r.Request.Depth), nil },
		},
	}
	r := newRig(t, spider, nil, "the seed")
	sum := r.run(t)
	if n := sum.Stats["spider_exceptions/count"]; n != 0 {
		t.Errorf("%d errors of callbacks: %v", n, sum.Raised)
	}
	if kept.Depth != before.Depth || kept.Revision != before.Revision || !start.DontFilter || start.Depth != startBefore.Depth {
		t.Errorf("the engine changed %+v or %+v", kept, start)
	}
	if len(r.items) != 100 {
		t.Errorf("%d items, want 100", len(r.items))
	}
	for _, it := range r.items {
		if it != `{"depth":2}` {
			t.Fatalf("item %s, want depth 2", it)
		}
	}
}
