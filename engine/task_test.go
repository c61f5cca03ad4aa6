package engine_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"luacrawl/engine"
	"luacrawl/engine/export"
	"luacrawl/scheduler"
)

// TestOnFinishedBeforeTheEnd: with UntilDone the task runs once, what it emits is crawled and stored, and then the crawl ends. A task that
// raises ends it too.
func TestOnFinishedBeforeTheEnd(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer site.Close()
	for _, raises := range []bool{false, true} {
		var runs atomic.Int64
		s := &goSpider{
			start: []string{site.URL + "/start"}, tasks: []scheduler.Task{{Name: scheduler.OnFinished}},
			callbacks: map[string]func(*engine.Response) (*engine.Output, error){
				"parse": func(r *engine.Response) (*engine.Output, error) {
					return item(`{"path":%q}`, r.Request.URL[len(site.URL):]), nil
				},
			},
		}
		s.task = func(name string) (*engine.Output, error) {
			runs.Add(1)
			if raises {
				return nil, errors.New("oops")
			}
			out := item(`{"task":%q}`, name)
			out.Routes = []engine.Route{{Sink: 0, Kept: 0, Item: out.Items[0]}}
			out.Requests = []*scheduler.Request{{URL: site.URL + "/more", DontFilter: true}, {URL: site.URL + "/start"}}
			return out, nil
		}
		var tries atomic.Int64
		sink := &memorySink{name: "sink", broken: func() error {
			if tries.Add(1) < 4 {
				return errors.New("no route to host")
			}
			return nil
		}}
		r := newRigWith(t, s, nil, func(o *engine.Options) { o.Sinks, o.Elsewhere = []export.Sink{sink}, true })
		sum := r.run(t)
		want := []string{`{"path":"/more"}`, `{"path":"/start"}`, `{"task":"on_finished"}`}
		if raises {
			want = want[1:2]
		}
		if !slices.Equal(r.items, want) || sum.Reason != engine.ReasonFinished || runs.Load() != 1 {
			t.Errorf("items %v, reason %s, %d runs", r.items, sum.Reason, runs.Load())
		}
		if got := sink.items(); !raises && !slices.Equal(got, want[2:]) {
			t.Errorf("the sink has %v", got)
		}
		if raised := len(sum.Raised) == 1 && sum.Stats["spider_exceptions/count"] == 1; raised != raises {
			t.Errorf("raised %+v, stats %v", sum.Raised, sum.Stats)
		}
	}
}
