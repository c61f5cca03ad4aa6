package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/engine/export"
	"luacrawl/scheduler"
)

func TestSinksGetEachItemOnce(t *testing.T) {
	t.Parallel()
	var tries atomic.Int64
	down := func() error {
		if n := tries.Add(1); n%3 == 1 && n < 12 {
			return errors.New("connection refused")
		}
		return nil
	}
	first, second := &memorySink{name: "first", broken: down}, &memorySink{name: "second"}
	r := newSinkRig(t, 50, nil, first, second)
	sum := r.run(t)
	if n := sum.Stats["item_scraped_count"]; n != 50 {
		t.Errorf("%d items", n)
	}
	for _, s := range []*memorySink{first, second} {
		if got := s.items(); len(got) != 50 || len(s.order) != 50 || !slices.Equal(got, r.items) {
			t.Errorf("%s has %d rows of %d writes, redis %d", s.name, len(got), len(s.order), len(r.items))
		}
		if !s.closed {
			t.Errorf("%s was not closed", s.name)
		}
	}
	r.status(t)
}

func TestSinkThatRefusesAnItem(t *testing.T) {
	t.Parallel()
	first := &memorySink{name: "first", refuse: func(r export.Record) error {
		if strings.Contains(string(r.JSON), `"/7"`) {
			return errors.New("page: too long")
		}
		return nil
	}}
	second := &memorySink{name: "second"}
	r := newSinkRig(t, 10, nil, first, second)
	sum := r.run(t)
	if len(r.items) != 9 || len(first.items()) != 9 || len(second.items()) != 9 || sum.Stats["item_scraped_count"] != 9 || sum.Stats["item_error_count"] != 1 {
		t.Errorf("redis %d, first %d, second %d, stats %v", len(r.items), len(first.items()), len(second.items()), sum.Stats)
	}
	dead, err := r.client.DeadLetters(t.Context(), "t", scheduler.Keys{}, 0, -1)
	if err != nil || len(dead) != 1 || !strings.Contains(dead[0], `"reason":"sink_refused"`) || !strings.Contains(dead[0], "first: page: too long") {
		t.Errorf("dead letters: %s, %v", dead, err)
	}
}

// In a stream each item has its own id, also behind one that a sink has refused.
func TestStreamedItemsHaveTheirIDs(t *testing.T) {
	t.Parallel()
	sink := &memorySink{name: "first", refuse: func(r export.Record) error {
		if string(r.JSON) == `{"n":1}` {
			return errors.New("too small")
		}
		return nil
	}}
	spider := &goSpider{start: []string{serve(t, nil) + "/1"}, callbacks: map[string]func(*engine.Response) (*engine.Output, error){
		"parse": func(*engine.Response) (*engine.Output, error) {
			out := &engine.Output{Revision: "rev1"}
			for i := range 4 {
				item := engine.Item(fmt.Sprintf(`{"n":%d}`, i))
				about := engine.ItemInfo{Number: i}
				out.Items, out.About = append(out.Items, item), append(out.About, about)
				out.Routes = append(out.Routes, engine.Route{Kept: i, Item: item, ItemInfo: about})
			}
			return out, nil
		},
	}}
	r := newRigWith(t, spider, nil, func(o *engine.Options) { o.Sinks = []export.Sink{sink} })
	frontier, err := scheduler.Open(t.Context(), r.client, scheduler.Config{Spider: "streamed", ItemStream: 1000, Persist: true, Worker: "w"})
	if err != nil {
		t.Fatal(err)
	}
	r.crawl.Frontier = frontier
	r.run(t)
	conn, err := net.Dial("tcp", r.server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "*4\r\n$6\r\nXRANGE\r\n$14\r\nstreamed:items\r\n$1\r\n-\r\n$1\r\n+\r\n*1\r\n$4\r\nQUIT\r\n"); err != nil {
		t.Fatal(err)
	}
	reply, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	if len(sink.rows) != 3 || strings.Count(string(reply), "item_id") != 3 {
		t.Fatalf("the sink has %v, the stream %q", sink.rows, reply)
	}
	for id, item := range sink.rows {
		if want := item + "\r\n$7\r\nitem_id\r\n$40\r\n" + id + "\r\n"; !strings.Contains(string(reply), want) {
			t.Errorf("%s has another id than %s: %q", item, id, reply)
		}
	}
}

// A sink that is down stops leasing when the buffer is full, however few pages of a site may be fetched at once, and a crawl that is
// interrupted meanwhile hands its pages back.
func TestSinkThatStaysDown(t *testing.T) {
	t.Parallel()
	for _, perDomain := range []int{1000, 2} {
		t.Run(fmt.Sprint(perDomain), func(t *testing.T) {
			t.Parallel()
			sinkStaysDown(t, perDomain)
		})
	}
}

func sinkStaysDown(t *testing.T, perDomain int) {
	first := &memorySink{name: "first"}
	var tries, served atomic.Int64
	second := &memorySink{name: "second", broken: func() error { tries.Add(1); return errors.New("no route to host") }}
	spider := routed(0, 2)
	base := serve(t, map[string]http.HandlerFunc{})
	for i := range 100 {
		spider.start = append(spider.start, fmt.Sprintf("%s/%d", base, i))
	}
	parse := spider.callbacks["parse"]
	spider.callbacks["parse"] = func(r *engine.Response) (*engine.Output, error) { served.Add(1); return parse(r) }
	r := newRigWith(t, spider, func(s *engine.Settings) {
		s.ConcurrentRequests, s.SinkBuffer, s.Grace, s.ConcurrentRequestsPerDomain = 4, 8, 50*time.Millisecond, perDomain
	}, func(o *engine.Options) { o.Sinks = []export.Sink{first, second} })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		until := func(ok func() bool) {
			for end := time.Now().Add(30 * time.Second); ctx.Err() == nil && !ok() && time.Now().Before(end); {
				<-time.After(time.Millisecond)
			}
		}
		until(func() bool { return r.crawl.Progress().InFlight >= 12 })
		full := tries.Load()
		until(func() bool { return tries.Load() >= full+2 }) // more would have come before
	}()
	sum, err := r.crawl.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got := served.Load(); got != 12 {
		t.Errorf("%d pages were fetched with places for 4 and a buffer of 8", got)
	}
	if got := len(first.items()); got == 0 || got > 12 {
		t.Errorf("the sink before it has %d items", got)
	}
	if st := r.status(t); len(r.items) != 0 || st.Done != 0 || st.Pending != 100 || sum.Released != 12 {
		t.Errorf("stored %d, handed back %d, status %+v", len(r.items), sum.Released, st)
	}
}

// While a sink writes, the pages behind it fill its buffer at the pace of the site, and not in steps of what may be fetched at once.
func TestPagesComeWhileASinkWrites(t *testing.T) {
	t.Parallel()
	const pages, buffer = 810, 800
	var parsed atomic.Int64
	full := make(chan struct{})
	sink := &memorySink{name: "first", wait: func(ctx context.Context) error {
		select {
		case <-full:
		case <-time.After(15 * time.Second): // in steps of four, at each beat of the landing, it takes longer
			t.Errorf("%d pages came while the sink wrote, want %d", parsed.Load(), buffer)
		case <-ctx.Done():
		}
		return nil
	}}
	spider := routed(pages, 1)
	base := serve(t, nil)
	for i := range spider.start {
		spider.start[i] = base + spider.start[i]
	}
	parse := spider.callbacks["parse"]
	spider.callbacks["parse"] = func(r *engine.Response) (*engine.Output, error) {
		if parsed.Add(1) == buffer {
			close(full)
		}
		return parse(r)
	}
	r := newRigWith(t, spider, func(s *engine.Settings) {
		s.ConcurrentRequests, s.SinkBuffer, s.ConcurrentRequestsPerDomain = 4, buffer, 1000
	}, func(o *engine.Options) { o.Sinks = []export.Sink{sink} })
	r.run(t)
	if got := len(sink.items()); got != pages {
		t.Errorf("%d items", got)
	}
	r.status(t)
}

func TestSinkThatPanics(t *testing.T) {
	t.Parallel()
	var once sync.Once
	s := &memorySink{name: "first", broken: func() (err error) { once.Do(func() { panic("a bug") }); return nil }}
	r := newSinkRig(t, 3, nil, s)
	r.run(t)
	if len(s.items()) != 3 || len(r.items) != 3 {
		t.Errorf("sink %d, redis %d", len(s.items()), len(r.items))
	}
}

// Where Redis is no pipeline the items are counted and shown, and not kept there.
func TestItemsElsewhere(t *testing.T) {
	t.Parallel()
	s := &memorySink{name: "first"}
	spider := routed(0, 1)
	spider.start = []string{serve(t, map[string]http.HandlerFunc{"/x": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") }}) + "/x"}
	r := newRigWith(t, spider, nil, func(o *engine.Options) { o.Sinks, o.Elsewhere = []export.Sink{s}, true })
	sum := r.run(t)
	if st := r.status(t); st.Items != 0 || len(r.items) != 1 || len(s.items()) != 1 || sum.Stats["item_scraped_count"] != 1 {
		t.Errorf("redis %d, shown %d, sink %d, stats %v", st.Items, len(r.items), len(s.items()), sum.Stats)
	}
}

// What an errback emits goes to the sinks as what a callback does, though its request is dead.
func TestItemsOfAnErrbackReachTheSinks(t *testing.T) {
	t.Parallel()
	base := serve(t, map[string]http.HandlerFunc{"/gone": status(503)})
	for _, elsewhere := range []bool{false, true} {
		s := &memorySink{name: "first"}
		spider := &goSpider{
			seed: func(seed string) (*engine.Output, error) {
				return &engine.Output{Requests: []*scheduler.Request{{URL: seed, Errback: "failed"}}}, nil
			},
			errbacks: map[string]func(*engine.Failure) (*engine.Output, error){"failed": func(*engine.Failure) (*engine.Output, error) {
				one := engine.Item(`{"failed":true}`)
				return &engine.Output{Items: []engine.Item{one}, Routes: []engine.Route{{Item: one}}, Revision: "rev1"}, nil
			}},
			callbacks: map[string]func(*engine.Response) (*engine.Output, error){"parse": bodyItem},
		}
		r := newRigWith(t, spider, func(s *engine.Settings) { s.RetryTimes = 0 }, func(o *engine.Options) { o.Sinks, o.Elsewhere = []export.Sink{s}, elsewhere }, base+"/gone")
		r.run(t)
		if st := r.status(t); len(s.items()) != 1 || len(r.items) != 1 || st.Dead != 1 {
			t.Errorf("elsewhere %v: sink %d, shown %d, dead %d", elsewhere, len(s.items()), len(r.items), st.Dead)
		}
	}
}
