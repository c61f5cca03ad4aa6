package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"luacrawl/engine/export"
)

const (
	sinkFirst   = 8                     // records of the first write
	sinkBatch   = 500                   // records of a write, at most
	sinkQuick   = time.Second / 2       // a write that takes less is followed by a larger one
	sinkSlow    = 2 * time.Second       // a write that takes more is followed by a smaller one
	sinkBytes   = 4 << 20               // of a write, as far as it is known before
	sinkGather  = 20 * time.Millisecond // for which a write waits for company
	sinkAgain   = 5 * time.Second       // at most, between two tries of a sink that is down
	sinkClosing = 20 * time.Second      // for the last words of a sink
	sinkKilled  = time.Second           // for them when the crawl is killed, before or meanwhile
)

// stage is one sink with the pages that wait for it. One goroutine uses the sink.
type stage struct {
	sinks *sinks
	at    int // in the order of sinks
	sink  export.Sink
	in    chan *parcel // full only when concurrent_requests has been raised since the start
	open  bool         // only Run's goroutine
	most  int          // records of the next write; only Run's goroutine

	mu    sync.Mutex
	known SinkState // guarded by mu
}

// Run writes until ctx ends, then closes the sink.
func (st *stage) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return st.close()
		case p := <-st.in:
			batch := st.gather(p)
			st.write(batch)
			for _, p := range batch {
				st.sinks.pass(ctx, p, st.at+1)
			}
		}
	}
}

// gather takes in more pages that come soon.
func (st *stage) gather(first *parcel) []*parcel {
	batch, n, size := []*parcel{first}, 0, 0
	add := func(p *parcel) {
		for _, r := range p.of(st.at) {
			n++
			size += len(r.Item)
		}
	}
	add(first)
	timer := time.NewTimer(sinkGather)
	defer timer.Stop()
	for n < st.most && size < sinkBytes {
		select {
		case p := <-st.in:
			batch = append(batch, p)
			add(p)
		case <-timer.C:
			return batch
		case <-st.sinks.ctx.Done():
			return batch
		}
	}
	return batch
}

// write brings the records of some pages into the sink, however long that takes. Pages that are stopped meanwhile are left out.
func (st *stage) write(batch []*parcel) {
	for wait := (backoff{}); ; {
		records, from := st.records(batch)
		if len(records) == 0 {
			return
		}
		start := time.Now()
		refused, err := st.try(records)
		st.pace(len(records), time.Since(start))
		if err == nil {
			st.taken(len(records), refused, from)
			return
		}
		if st.sinks.ctx.Err() != nil {
			for _, p := range batch {
				p.stopped.Store(true)
			}
			return
		}
		st.fell(err)
		st.rest(wait.nextUpTo(sinkAgain))
	}
}

// source is where a record of a write came from.
type source struct {
	parcel *parcel
	record parcelRecord
}

func (st *stage) records(batch []*parcel) (records []export.Record, from []source) {
	for _, p := range batch {
		if p.stopped.Load() {
			continue
		}
		for _, r := range p.of(st.at) {
			records = append(records, p.record(r))
			from = append(from, source{p, r})
		}
	}
	return records, from
}

// try writes once, and opens the sink first when it is not.
func (st *stage) try(records []export.Record) (refused []export.Refusal, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %v", r)
		}
	}()
	if !st.open {
		if err := st.sink.Open(st.sinks.ctx); err != nil {
			return nil, err
		}
		st.open = true
	}
	refused, err = st.sink.Write(st.sinks.ctx, records)
	for _, r := range refused {
		if r.Index < 0 || r.Index >= len(records) {
			return nil, fmt.Errorf("it refused record %d of %d", r.Index, len(records))
		}
	}
	return refused, err
}

// pace keeps writes short: pages are done, and their places free, only when the whole write is.
func (st *stage) pace(n int, took time.Duration) {
	switch {
	case took > sinkSlow:
		st.most = max(1, int(float64(n)*float64(sinkSlow)/float64(took)))
	case took < sinkQuick && n >= st.most:
		st.most = min(2*st.most, sinkBatch)
	}
}

// taken notes a write that has succeeded.
func (st *stage) taken(n int, refused []export.Refusal, from []source) {
	for _, r := range refused {
		from[r.Index].parcel.refuse(from[r.Index].record, st.sink.Name(), r.Err)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.known.Written += int64(n - len(refused))
	st.known.Refused += int64(len(refused))
	if !st.known.Down.IsZero() {
		st.sinks.log().Info(fmt.Sprintf("%s takes items again, after %s", st.sink.Name(), time.Since(st.known.Down).Round(time.Second)))
		st.known.Down, st.known.Error = time.Time{}, ""
	}
}

// fell notes a failure; the first is told.
func (st *stage) fell(err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.known.Down.IsZero() {
		st.known.Down = time.Now()
		st.sinks.log().Error(fmt.Sprintf("%s takes no items; pages wait for it, and nothing is lost: %s", st.sink.Name(), err))
	}
	st.known.Error = err.Error()
}

// rest waits before the next try.
func (st *stage) rest(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-st.sinks.ctx.Done():
	}
}

func (st *stage) state() SinkState {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.known
	s.Name, s.Waiting = st.sink.Name(), len(st.in)
	return s
}

// close finishes what the sink has open.
func (st *stage) close() error {
	for { // what the feeder no longer waits for
		select {
		case p := <-st.in:
			p.stopped.Store(true)
			continue
		default:
		}
		break
	}
	if !st.open {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), sinkClosing)
	defer cancel()
	go func() {
		select {
		case <-st.sinks.crawl.killed:
			time.AfterFunc(sinkKilled, cancel)
		case <-ctx.Done():
		}
	}()
	if err := st.sink.Close(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("closing %s: %w", st.sink.Name(), err)
	}
	return nil
}
