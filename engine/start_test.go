package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"luacrawl/engine"
	"luacrawl/engine/export"
	"luacrawl/scheduler"
)

// startSpider emits of each seed what its words say.
func startSpider(base string, start ...string) *goSpider {
	return &goSpider{
		start:     start,
		callbacks: map[string]func(*engine.Response) (*engine.Output, error){"parse": bodyItem},
		seed: func(seed string) (*engine.Output, error) {
			out := &engine.Output{Revision: "rev1"}
			for _, word := range strings.Fields(seed) {
				switch word {
				case "item":
					out.Items = append(out.Items, engine.Item(`{"seed":"`+seed+`"}`))
				case "drop":
					out.Dropped = append(out.Dropped, engine.Dropped{Reason: "old"})
				case "fail":
					out.Failed = append(out.Failed, engine.FailedItem{Item: engine.Item(`{"a":1}`), Err: &engine.ScriptError{Kind: "error", Message: "boom"}})
				case "page":
					out.Requests = append(out.Requests, &scheduler.Request{URL: base + "/page", DontFilter: true})
				}
			}
			return out, nil
		},
	}
}

// TestWhatStartURLsGiveBesideRequests is stored and counted as if the seeds had come from Redis.
func TestWhatStartURLsGiveBesideRequests(t *testing.T) {
	t.Parallel()
	base := serve(t, nil)
	seeds := []string{"item page", "item drop item", "fail", "nothing", "drop"}
	want := map[string]int64{
		"item_scraped_count": 4, "item_dropped_count": 2, "item_dropped_reasons_count/old": 2, "item_error_count": 1, "seeds/skipped": 3, "response_received_count": 1,
	}
	items := []string{`{"body":"page /page","path":"/page"}`, `{"seed":"item drop item"}`, `{"seed":"item drop item"}`, `{"seed":"item page"}`}
	for name, c := range map[string]struct {
		start, given []string
		pushed       []string
	}{
		"start_urls":          {start: seeds},
		"given at the start":  {given: seeds},
		"both, one of a seed": {start: seeds, given: seeds[1:2]},
		"pushed into Redis":   {pushed: seeds},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, startSpider(base, c.start...), nil, c.given...)
			for _, s := range c.pushed {
				if _, err := r.client.PushSeeds(t.Context(), "t", scheduler.Keys{}, [][]byte{[]byte(s)}); err != nil {
					t.Fatal(err)
				}
			}
			sum := r.run(t)
			if diff := cmp.Diff(items, r.items); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
			if sum.Reason != engine.ReasonFinished {
				t.Errorf("ended: %s", sum.Reason)
			}
			for stat, n := range want {
				if sum.Stats[stat] != n || sum.Total[stat] != n {
					t.Errorf("%s is %d here and %d in Redis, want %d", stat, sum.Stats[stat], sum.Total[stat], n)
				}
			}
			if st := r.status(t); st.Items != 4 || st.DeadLetters != 1 || st.Dead != 0 {
				t.Errorf("status %+v", st)
			}
			letters, err := r.client.DeadLetters(t.Context(), "t", scheduler.Keys{}, 0, -1)
			if err != nil || len(letters) != 1 || !strings.Contains(letters[0], `"item":{"a":1}`) {
				t.Errorf("dead letters %q, %v", letters, err)
			}
		})
	}
}

// TestStartURLsOfAResumedRun: what they gave beside requests is not stored again, and not by another worker.
func TestStartURLsOfAResumedRun(t *testing.T) {
	t.Parallel()
	base := serve(t, nil)
	r := newRig(t, startSpider(base, "item page", "drop"), nil)
	r.run(t)
	again, err := engine.New(r.crawl.Options)
	if err != nil {
		t.Fatal(err)
	}
	r.crawl = again
	sum := r.run(t)
	if want := []string{`{"body":"page /page","path":"/page"}`, `{"seed":"item page"}`}; !cmp.Equal(r.items, want) {
		t.Errorf("items %v, want %v", r.items, want)
	}
	if len(sum.Stats) > 0 || sum.Total["item_dropped_count"] != 1 || sum.Reason != engine.ReasonNoWork {
		t.Errorf("the second run counts %v and ended as %s; total %v", sum.Stats, sum.Reason, sum.Total)
	}
}

// TestStartItemsGoToSinks, wherever else they go, before anything of their start URLs is stored.
func TestStartItemsGoToSinks(t *testing.T) {
	t.Parallel()
	base := serve(t, nil)
	spider := func() *goSpider {
		s := startSpider(base, "item page", "item bad", "page")
		seed := s.seed
		s.seed = func(text string) (*engine.Output, error) {
			out, err := seed(text)
			for i, item := range out.Items {
				out.About = append(out.About, engine.ItemInfo{Number: i})
				out.Routes = append(out.Routes, engine.Route{ItemInfo: out.About[i], Sink: 0, Kept: i, Item: item})
			}
			return out, err
		}
		return s
	}
	refuse := func(r export.Record) error {
		if strings.Contains(string(r.JSON), "bad") {
			return errors.New("too long")
		}
		return nil
	}
	for _, elsewhere := range []bool{false, true} {
		sink := &memorySink{name: "sink", broken: func() error { return errors.New("no route to host") }}
		r := newRigWith(t, spider(), func(s *engine.Settings) { s.Grace = 0 }, func(o *engine.Options) { o.Sinks, o.Elsewhere = []export.Sink{sink}, elsewhere })
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		go func() {
			for ctx.Err() == nil && r.crawl.Progress().SinkDown == "" {
				later(ctx, time.Millisecond)
			}
			cancel()
		}()
		if sum, err := r.crawl.Run(ctx); err != nil || sum.Reason != engine.ReasonInterrupted {
			t.Errorf("with a sink down: %s, %v", sum.Reason, err)
		}
		if st := r.status(t); len(r.items) != 0 || st.Items != 0 || st.Pending != 0 || len(sink.items()) != 0 {
			t.Errorf("with a sink down: shown %v, status %+v", r.items, st)
		}
		sink.broken, sink.refuse = nil, refuse
		for range 2 { // the second run brings nothing new
			again, err := engine.New(r.crawl.Options)
			if err != nil {
				t.Fatal(err)
			}
			r.crawl = again
			r.run(t)
		}
		want := []string{`{"seed":"item page"}`}
		if got := sink.items(); !cmp.Equal(got, want) || len(sink.order) != 1 {
			t.Errorf("the sink has %v", got)
		}
		if want = append([]string{`{"body":"page /page","path":"/page"}`}, want...); !cmp.Equal(r.items, want) {
			t.Errorf("shown %v, want %v", r.items, want)
		}
		if letters, err := r.client.DeadLetters(t.Context(), "t", scheduler.Keys{}, 0, -1); err != nil || len(letters) != 1 || !strings.Contains(letters[0], "sink: too long") {
			t.Errorf("dead letters %q, %v", letters, err)
		}
		if st := r.status(t); (st.Items == 0) != elsewhere {
			t.Errorf("elsewhere %v: %d items in redis", elsewhere, st.Items)
		}
	}
}
