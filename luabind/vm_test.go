package luabind

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

func load(t testing.TB, parse string) *Spider {
	t.Helper()
	s, err := Load(filesystem(map[string]string{"a.lua": "local spider = { name = 'a' }\nlocal calls = 0\nfunction spider.parse(response, kwargs)\n calls = calls + 1\n" + parse + "\nend\nreturn spider"}), "a.lua", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func page(kwargs string) *engine.Response {
	return &engine.Response{URL: "http://x.test/", Request: &scheduler.Request{URL: "http://x.test/", CbKwargs: []byte(kwargs)}}
}

func (s *Spider) idle() []*vm {
	p := &s.current.Load().pool
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*vm(nil), p.idle...)
}

// TestPoolReusesTheWarmestVM: the VM that was given back last is taken first.
func TestPoolReusesTheWarmestVM(t *testing.T) {
	t.Parallel()
	s := load(t, `emit { calls = calls }`)
	g := s.current.Load()
	a, _ := g.take()
	b, _ := g.take()
	g.give(a)
	g.give(b)
	for want := 1; want <= 3; want++ {
		out, err := s.Parse(t.Context(), page(""))
		if err != nil || string(out.Items[0]) != strings.Replace(`{"calls":N}`, "N", string(rune('0'+want)), 1) {
			t.Fatalf("call %d: %s, %v", want, out.Items, err)
		}
	}
	if idle := s.idle(); len(idle) != 2 || idle[1] != b {
		t.Errorf("%d VMs wait, the last used is not on top", len(idle))
	}
}

// TestMistakeKeepsTheVM: an ordinary error leaves the VM fit for the next call, without what the failed call emitted.
func TestMistakeKeepsTheVM(t *testing.T) {
	t.Parallel()
	s := load(t, `emit { calls = calls } if kwargs.bad then error("bad") end`)
	if _, err := s.Parse(t.Context(), page(`{"bad":true}`)); err == nil {
		t.Fatal("no error")
	}
	out, err := s.Parse(t.Context(), page(""))
	if err != nil || len(out.Items) != 1 || string(out.Items[0]) != `{"calls":2}` {
		t.Errorf("got %v, %v", out, err)
	}
}

// TestBrokenVMIsThrownAway: after a timeout and after a panic of Go code.
func TestBrokenVMIsThrownAway(t *testing.T) {
	t.Parallel()
	for _, parse := range []string{`boom()`, `pcall(boom)`, `emit { a = pcall(pcall, boom) }`, `coroutine.wrap(function() pcall(boom) end)()`} {
		s := load(t, parse)
		g := s.current.Load()
		v, err := g.take()
		if err != nil {
			t.Fatal(err)
		}
		v.L.SetGlobal("boom", v.L.NewFunction(func(*lua.LState) int { panic("boom") }))
		g.give(v)
		_, err = s.Parse(t.Context(), page(""))
		var e *engine.ScriptError
		if !errors.As(err, &e) || !strings.Contains(e.Message, "boom") {
			t.Errorf("%s: got %v", parse, err)
		}
		if n := len(s.idle()); n != 0 {
			t.Errorf("%s: the VM is back in the pool", parse)
		}
	}
}

func TestCloseEndsVMs(t *testing.T) {
	t.Parallel()
	s := load(t, `emit { a = 1 }`)
	g := s.current.Load()
	used, _ := g.take()
	other, _ := g.take()
	g.give(other)
	s.Close()
	if n := len(s.idle()); n != 0 {
		t.Errorf("%d VMs wait after Close", n)
	}
	g.give(used)
	if n := len(s.idle()); n != 0 {
		t.Errorf("a VM given back after Close waits")
	}
}

// TestLateEndOfAContextHitsNoOtherCall: the context of a call that is over may end at any time.
func TestLateEndOfAContextHitsNoOtherCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var i interrupt
		first, cancel := context.WithCancel(t.Context())
		i.begin(first)
		i.begin(t.Context())
		cancel()
		synctest.Wait()
		if i.now() || i.Done() != nil || i.Err() != nil {
			t.Error("the end of the first call's context interrupts the second")
		}
		second, cancel := context.WithCancel(t.Context())
		i.begin(second)
		cancel()
		synctest.Wait()
		if !i.now() || i.Done() == nil || i.Err() == nil {
			t.Error("the end of a call's context does not interrupt it")
		}
	})
}

// TestVMIsSmall: a spider may have many.
func TestVMIsSmall(t *testing.T) {
	const count, limit = 50, 80 << 10
	vms := make([]*vm, 0, count)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range count {
		vms = append(vms, newVM(nil, nil))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if size := (after.HeapAlloc - before.HeapAlloc) / count; size > limit {
		t.Errorf("a VM takes %d bytes, want at most %d", size, limit)
	}
	for _, v := range vms {
		v.close()
	}
}
