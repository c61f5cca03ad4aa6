package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const lastWordsWithin = 3 * time.Second

// drain lets running pages finish while ctx lasts, commits them and hands the rest back.
func (f *feeder) drain(ctx, hard context.Context, reason string) (string, error) {
	for f.running > 0 && ctx.Err() == nil {
		if !f.commitDue(time.Now()) {
			f.receive(ctx, commitAge)
			continue
		}
		if err := f.exchange(ctx, 0); f.refused {
			return f.abandon(hard, err)
		} else if err != nil {
			break
		}
	}
	f.crawl.inflight.cancelAll()
	f.crawl.sinks.abort()
	for f.running > 0 && hard.Err() == nil {
		f.receive(hard, mostWait)
	}
	f.released = len(f.unstarted)
	err := f.lastWords(hard)
	switch {
	case f.refused:
		reason = ReasonFailed
	case hard.Err() != nil:
		return ReasonKilled, nil
	}
	return reason, err
}

// abandon ends a crawl that has failed. Running pages are dropped and all leases handed back, lest requests die of runs that fail.
func (f *feeder) abandon(hard context.Context, err error) (string, error) {
	if hard.Err() != nil {
		return ReasonKilled, nil
	}
	f.crawl.inflight.cancelAll()
	f.waiting = nil
	f.unstarted = append(f.unstarted, f.crawl.inflight.ids()...)
	f.released = len(f.unstarted)
	return ReasonFailed, errors.Join(err, f.lastWords(hard))
}

// lastWords commits what waits and hands back what was not done.
func (f *feeder) lastWords(hard context.Context) error {
	ctx, cancel := context.WithTimeout(hard, lastWordsWithin)
	defer cancel()
	if n := len(f.waiting); n > 0 {
		if err := f.exchange(ctx, 0); f.refused {
			return err
		} else if err != nil {
			return fmt.Errorf("the last %d pages were not committed and will be fetched again when their leases expire: %w", n, err)
		}
	}
	if f.ran != nil {
		if err := f.storeTask(ctx); err != nil {
			return err
		}
	}
	return f.handBack(ctx)
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
