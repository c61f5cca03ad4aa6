package engine

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// This file is the end of a feeder: drain after an orderly end, abandon after a failure.

// drain lets running pages finish while ctx lasts, commits them and hands the rest back.
func (f *feeder) drain(ctx, hard context.Context, reason string) (string, error) {
	c := f.crawl
	for f.running > 0 && ctx.Err() == nil {
		if f.commitDue(time.Now()) {
			if err := f.exchange(ctx, 0); err != nil {
				break
			}
			continue
		}
		f.waitRunning(ctx)
	}
	c.inflight.cancel(c.inflight.ids())
	for f.running > 0 {
		select {
		case r := <-f.done:
			f.take(r)
		case <-hard.Done():
			return ReasonKilled, nil
		}
	}
	f.released = len(f.unstarted)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWordsWithin)
	defer cancel()
	if len(f.waiting) > 0 {
		if err := f.exchange(last, 0); err != nil {
			return reason, fmt.Errorf("the last %d pages were not committed and will be fetched again when their leases expire: %w", len(f.waiting), err)
		}
	}
	return reason, f.handBack(last)
}

// abandon is the end of a crawl that has failed: running pages are stopped and all that is not committed is handed back, so
// that whoever goes on with the crawl need not wait until leases expire.
func (f *feeder) abandon(hard context.Context) {
	c := f.crawl
	ctx, cancel := context.WithTimeout(hard, lastWordsWithin)
	defer cancel()
	c.inflight.cancel(c.inflight.ids())
	for f.running > 0 && ctx.Err() == nil {
		f.waitRunning(ctx)
	}
	for _, o := range f.waiting {
		f.unstarted = append(f.unstarted, o.Lease.ID)
	}
	f.waiting = nil
	f.released = len(f.unstarted)
	if err := f.handBack(ctx); err != nil {
		c.Logger.Warn("while ending", slog.Any("error", err))
	}
}

// handBack gives up leases whose pages were not done.
func (f *feeder) handBack(ctx context.Context) error {
	if len(f.unstarted) == 0 {
		return nil
	}
	if err := f.crawl.Frontier.Release(ctx, f.unstarted); err != nil {
		return fmt.Errorf("%d requests were not handed back and come free when their leases expire: %w", len(f.unstarted), err)
	}
	f.unstarted = nil
	return nil
}

const lastWordsWithin = 3 * time.Second

func (f *feeder) waitRunning(ctx context.Context) {
	timer := time.NewTimer(commitAge)
	defer timer.Stop()
	select {
	case r := <-f.done:
		f.take(r)
	case <-timer.C:
	case <-ctx.Done():
	}
}
