package cli

import (
	"context"
	"errors"
	"sync"
)

// errInterrupted is why a run's context ends after a signal.
var errInterrupted = errors.New("interrupted")

// interrupts turns signals into a graceful stop, and a second one into an immediate stop.
type interrupts struct {
	ctx    context.Context // ends with the first signal, or by fail
	cancel context.CancelCauseFunc
	closed chan struct{}

	mu    sync.Mutex
	kill  func() // guarded by mu; what a second signal does
	count int    // guarded by mu; signals so far
}

// interruptible starts listening to signals.
func (p *program) interruptible(l *logs) *interrupts {
	ctx, cancel := context.WithCancelCause(context.Background())
	i := &interrupts{ctx: ctx, cancel: cancel, closed: make(chan struct{})}
	go func() {
		for {
			select {
			case <-p.Signals:
				i.signal(l)
			case <-i.closed:
				return
			}
		}
	}()
	return i
}

func (i *interrupts) signal(l *logs) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count++
	if i.count == 1 {
		l.notice("stopping: running pages are being finished; interrupt again to stop at once")
		i.cancel(errInterrupted)
		return
	}
	if i.kill != nil {
		i.kill()
	}
}

// onSecond sets what a second signal does; it does it now if that has come already.
func (i *interrupts) onSecond(kill func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.kill = kill
	if i.count > 1 {
		kill()
	}
}

// fail ends the context for a reason of our own.
func (i *interrupts) fail(err error) { i.cancel(err) }

// failure is the reason given to fail, nil when there was none.
func (i *interrupts) failure() error {
	if err := context.Cause(i.ctx); err != nil && !errors.Is(err, errInterrupted) {
		return err
	}
	return nil
}

// verdict is how a run ends: interrupted if a signal ended it, whatever that broke; else with its own error.
func (i *interrupts) verdict(err error, l *logs) error {
	if !errors.Is(context.Cause(i.ctx), errInterrupted) {
		return err
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		l.Error("while stopping", "error", err)
	}
	return &exitError{code: exitInterrupted}
}

// end stops listening.
func (i *interrupts) end() {
	close(i.closed)
	i.cancel(nil)
}
