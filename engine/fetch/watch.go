package fetch

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// watch ends a download that takes too long or falls silent, with one timer for both limits. It belongs to the goroutine that
// fetches; only the timer runs apart and reads nothing that changes.
//
// It is the download's context at the same time, so that the dialer can tell for whom it dials.
type watch struct {
	context.Context
	via         *via // the download's proxy, nil for none
	dials       atomic.Int32
	cancel      context.CancelCauseFunc
	timer       *time.Timer
	end         time.Time
	total, idle time.Duration
}

// maxDials is how many connections one download may open. net/http retries without end, and at once, what an HTTP/2 server
// answers with a protocol error, each time on a new connection.
const maxDials = 3

var errTooManyDials = fmt.Errorf("the server ended %d connections without an answer", maxDials)

type watchKey struct{}

// Value lets contexts that descend from the watch find it.
func (w *watch) Value(key any) any {
	if key == (watchKey{}) {
		return w
	}
	return w.Context.Value(key)
}

// countDial reports whether the download may open another connection.
func (w *watch) countDial() bool { return w.dials.Add(1) <= maxDials }

// startWatch returns a context that ends when the total time is over, or, from the first touch on, after a silence of idle.
// Its cause is then an *Error.
func startWatch(ctx context.Context, way *via, total, idle time.Duration) *watch {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{Context: ctx, via: way, cancel: cancel, end: time.Now().Add(total), total: total, idle: idle}
	w.timer = time.AfterFunc(total, w.expire)
	return w
}

func (w *watch) expire() {
	if w.via != nil && !w.via.isConnected() {
		w.cancel(w.via.silent())
		return
	}
	if time.Until(w.end) > 0 {
		w.cancel(&Error{KindTimeout, fmt.Errorf("no byte of the body for %s", w.idle)})
		return
	}
	w.cancel(&Error{KindTimeout, fmt.Errorf("not done after %s", w.total)})
}

// touch starts the time of silence anew.
func (w *watch) touch() { w.timer.Reset(min(w.idle, time.Until(w.end))) }

// pause stops the time of silence while the download itself does not read. The total time goes on.
func (w *watch) pause() { w.timer.Reset(time.Until(w.end)) }

// limitConnect ends the download when there is no connection within d; connected ends that limit.
func (w *watch) limitConnect(d time.Duration) { w.timer.Reset(min(d, time.Until(w.end))) }

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}
