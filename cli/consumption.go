package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"luacrawl/scheduler"
)

// consumption is a run of consume.
type consumption struct {
	*target
	consumer consumer
	batch    int
	follow   bool
	work     func(ctx context.Context, items []string) error
	patience time.Duration // how long Redis is waited for after an interrupt
	done     int
	closed   bool // the reader of standard output has gone

	waiting time.Time // since when there is nothing but what others have in their hands; zero when there is
}

// consumer is what a consumption needs of scheduler.Consumer.
type consumer interface {
	Take(ctx context.Context, n int) (scheduler.Taken, error)
	Keep(ctx context.Context) error
	Done(ctx context.Context) (kept bool, err error)
	Back(ctx context.Context) (int, error)
	Every() time.Duration
	Hold() time.Duration
}

// lastWords is how long Redis is waited for after an interrupt, once the work on a batch has ended.
const lastWords = 10 * time.Second

// outlast makes a context that ends some time after ctx, and no sooner than that from now: what has been worked on is still noted in Redis.
func outlast(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(patience, cancel)
		context.AfterFunc(last, func() { timer.Stop() })
	})
	return last, func() { stop(); cancel() }
}

// run works until nothing is left, or with follow until ctx ends.
func (w *consumption) run(ctx context.Context) error {
	for ctx.Err() == nil && !w.closed {
		taken, err := w.consumer.Take(ctx, w.batch)
		if err != nil {
			_, back := w.back(ctx) // the answer may be lost, and the items in our hands
			return firstError(err, back)
		}
		if taken.Lost > 0 {
			w.logs.Warn("items were thrown away by the stream's maxlen before they were done", "items", taken.Lost)
		}
		switch {
		case len(taken.Items) > 0:
			w.waiting = time.Time{}
			if err := w.one(ctx, taken.Items); err != nil {
				return err
			}
		case taken.Lost > 0: // there was something, and more may come after it
		case w.over(taken) || !pause(ctx, followEvery):
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// one works on a batch, and has it back unless all went well.
func (w *consumption) one(ctx context.Context, items []string) error {
	stop := w.keep(ctx)
	err := w.work(ctx, items)
	stop()
	if err != nil {
		return w.failed(ctx, err)
	}
	last, cancel := outlast(ctx, w.patience)
	defer cancel()
	kept, err := w.consumer.Done(last)
	if err != nil && last.Err() != nil { // an error to be said: ctx.Err() would be taken for the interrupt alone
		return fmt.Errorf("redis has not been told that %s are done, which come again: %v", plural(len(items), "item"), err)
	}
	if err != nil {
		return err
	}
	if !kept {
		w.logs.Warn("items took longer than --hold without a sign of life and were given to another consumer too", "items", len(items))
	}
	w.done += len(items)
	return nil
}

// failed hands a batch back on which the work has failed, and says why. A reader that has gone is no failure.
func (w *consumption) failed(ctx context.Context, err error) error {
	n, back := w.back(ctx)
	w.closed = errors.Is(err, syscall.EPIPE)
	switch err = enough(err); {
	case back != nil:
		return errors.Join(err, back)
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("%w; its %s went back and will come first", err, plural(n, "item"))
	}
	return err
}

func (w *consumption) back(ctx context.Context) (int, error) {
	last, cancel := outlast(ctx, w.patience)
	defer cancel()
	return w.consumer.Back(last)
}

// keep gives signs of life until it is stopped, however long ago ctx has ended.
func (w *consumption) keep(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for pause(ctx, w.consumer.Every()) {
			if err := w.consumer.Keep(ctx); err != nil && ctx.Err() == nil {
				w.logs.Warn("no sign of life reached redis", "error", err)
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// over reports that nothing more is to be waited for.
func (w *consumption) over(t scheduler.Taken) bool {
	if w.follow {
		if alone := w.redis.embedded() && !w.redis.joined() && t.Others == 0; alone {
			w.logs.notice("no luacrawl runs in the folder: nothing more can come")
			return true
		}
		return false
	}
	switch {
	case t.Others == 0:
		return true
	case w.waiting.IsZero():
		w.waiting = time.Now()
		w.logs.notice(fmt.Sprintf("%s in the hands of other consumers: waiting up to %s for those that were killed", plural(int(t.Others), "item"), w.consumer.Hold()))
	case time.Since(w.waiting) > w.consumer.Hold()+time.Second:
		w.logs.notice(fmt.Sprintf("%s left to other consumers, who are alive", plural(int(t.Others), "item")))
		return true
	}
	return false
}

// pause waits and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
