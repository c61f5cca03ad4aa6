package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"luacrawl/engine"
	"luacrawl/engine/export"
)

// memorySink keeps records by their IDs.
type memorySink struct {
	name   string
	broken func() error                    // asked before each write
	refuse func(r export.Record) error     // asked of each record
	wait   func(ctx context.Context) error // in each write
	mu     sync.Mutex
	rows   map[string]string // guarded by mu
	order  []string          // guarded by mu; items as they came
	closed bool              // guarded by mu
}

func (s *memorySink) Name() string { return s.name }

func (s *memorySink) Open(context.Context) error {
	if s.broken != nil {
		return s.broken()
	}
	return nil
}

func (s *memorySink) Write(ctx context.Context, records []export.Record) (refused []export.Refusal, err error) {
	if s.wait != nil {
		if err := s.wait(ctx); err != nil {
			return nil, err
		}
	}
	if s.broken != nil {
		if err := s.broken(); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range records {
		if s.refuse != nil {
			if err := s.refuse(r); err != nil {
				refused = append(refused, export.Refusal{Index: i, Err: err})
				continue
			}
		}
		if s.rows == nil {
			s.rows = map[string]string{}
		}
		s.rows[r.ID] = string(r.JSON)
		s.order = append(s.order, string(r.JSON))
	}
	return refused, nil
}

func (s *memorySink) Close(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

func (s *memorySink) items() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, item := range s.rows {
		all = append(all, item)
	}
	slices.Sort(all)
	return all
}

// routed is a spider whose pages give one item, to Redis and to some sinks.
func routed(pages, sinks int) *goSpider {
	s := &goSpider{}
	for i := range pages {
		s.start = append(s.start, fmt.Sprintf("/%d", i))
	}
	s.callbacks = map[string]func(*engine.Response) (*engine.Output, error){"parse": func(r *engine.Response) (*engine.Output, error) {
		item := engine.Item(fmt.Sprintf(`{"page":%q}`, r.URL[strings.LastIndex(r.URL, "/"):]))
		out := &engine.Output{Items: []engine.Item{item}, About: []engine.ItemInfo{{Number: 0}}, Revision: "rev1"}
		for i := range sinks {
			out.Routes = append(out.Routes, engine.Route{Sink: i, Kept: 0, Item: item})
		}
		return out, nil
	}}
	return s
}

// newSinkRig is a crawl with sinks.
func newSinkRig(t *testing.T, pages int, change func(*engine.Settings), sinks ...export.Sink) *rig {
	t.Helper()
	spider := routed(pages, len(sinks))
	base := serve(t, nil)
	for i := range spider.start {
		spider.start[i] = base + spider.start[i]
	}
	return newRigWith(t, spider, change, func(o *engine.Options) { o.Sinks = sinks })
}
