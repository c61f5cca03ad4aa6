package fetch

import (
	"context"
	"errors"
	"testing"
)

// served reports whether a waiter has been served.
func served(w *waiter) bool {
	if w == nil {
		return true
	}
	select {
	case <-w.ready:
		return true
	default:
		return false
	}
}

func TestBudgetOneGoesBeyond(t *testing.T) {
	t.Parallel()
	b := NewMemory(100)
	var first, second, third grant
	if !served(b.take(&first, 90)) || !served(b.take(&second, 50)) {
		t.Fatal("one within the budget and one beyond it do not wait")
	}
	w := b.take(&third, 1)
	if served(w) {
		t.Error("a second one goes beyond")
	}
	if !served(b.take(&second, 1000)) {
		t.Error("the one that goes beyond has to wait")
	}
	more := b.take(&first, 1)
	b.give(&second, 1000) // a smaller buffer after a larger one: still not at its end
	if served(w) || served(more) {
		t.Error("the right to go beyond passed on too early")
	}
	b.give(&second, second.held)
	if !served(w) || !served(more) {
		t.Error("nobody is served with the memory that came back")
	}
}

func TestBudgetServesInOrder(t *testing.T) {
	t.Parallel()
	b := NewMemory(100)
	var over, large, small grant
	b.take(&over, 150)
	wLarge, wSmall := b.take(&large, 80), b.take(&small, 10)
	if served(wLarge) || served(wSmall) {
		t.Fatal("served while there is nothing")
	}
	var late grant
	b.give(&over, 100) // 50 free: enough for the small one, which came second
	if served(wLarge) || served(wSmall) || served(b.take(&late, 1)) {
		t.Error("a later one was served first")
	}
	b.give(&over, 50)
	if !served(wLarge) || !served(wSmall) {
		t.Error("not served")
	}
}

func TestBudgetLeavingLetsTheNextOn(t *testing.T) {
	t.Parallel()
	b := NewMemory(100)
	var over, first, second grant
	b.take(&over, 150)
	b.give(&over, 100)
	w1, w2 := b.take(&first, 80), b.take(&second, 10)
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if err := b.wait(ctx, w1); err != stop {
		t.Errorf("wait: %v", err)
	}
	if err := b.wait(t.Context(), w2); err != nil {
		t.Errorf("the next: %v", err)
	}
	b.give(&over, over.held)
	b.give(&second, second.held)
	if first.held != 0 || b.free != 100 || b.over != nil || len(b.waiters) != 0 {
		t.Errorf("left over: %+v %+v", b, first)
	}
}

// A waiter that is served in the moment it leaves keeps what it got, for its body to give back.
func TestBudgetServedWhileLeaving(t *testing.T) {
	t.Parallel()
	b := NewMemory(10)
	var over, g grant
	b.take(&over, 20)
	w := b.take(&g, 10)
	b.give(&over, 20)
	b.leave(w)
	if g.held != 10 || b.free != 0 {
		t.Errorf("held %d, free %d", g.held, b.free)
	}
}
