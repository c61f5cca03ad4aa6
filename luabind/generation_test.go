package luabind

import (
	"fmt"
	"runtime"
	"testing"
	"testing/fstest"
	"weak"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// TestOldGenerationsAreFreed: after a reload nothing holds on to the generations before, nor to their VMs.
func TestOldGenerationsAreFreed(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{"a.lua": {Data: []byte(goodSpider)}}
	s, err := Load(fsys, "a.lua", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var old []weak.Pointer[generation]
	for i := range 5 {
		page := &engine.Response{URL: "http://site.test/", Request: &scheduler.Request{URL: "http://site.test/"}}
		if _, err := s.Parse(t.Context(), page); err != nil {
			t.Fatal(err)
		}
		old = append(old, weak.Make(s.current.Load()))
		fsys["a.lua"] = &fstest.MapFile{Data: fmt.Appendf(nil, "-- %d\n%s", i, goodSpider)}
		if _, err := s.Reload(nil); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.GC()
	for i, g := range old {
		if g.Value() != nil {
			t.Errorf("generation %d is still held", i)
		}
	}
}

// TestClosedGenerationsKeepNoVM: a call that got hold of a generation just before its end still runs, and leaves nothing behind.
func TestClosedGenerationsKeepNoVM(t *testing.T) {
	t.Parallel()
	s, err := Load(fstest.MapFS{"a.lua": {Data: []byte(goodSpider)}}, "a.lua", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := s.current.Load()
	before, err := g.take()
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	after, err := g.take()
	if err != nil {
		t.Fatal(err)
	}
	g.give(before)
	g.give(after)
	if len(g.pool.idle) != 0 || !before.L.IsClosed() || !after.L.IsClosed() {
		t.Errorf("%d VMs are kept", len(g.pool.idle))
	}
}
