package export

import (
	"context"
	"errors"
	"fmt"
)

// NewFeed makes the sink of a feed; nothing is touched before Open.
//
// A file feed writes NAME.part and renames it when it is whole, by rotation or Close. Beside its files lies a small journal, .luacrawl-feed-*, by
// which Open mends what a crash has left, and by which an item that comes again is not written again. It knows the last 262,144 items
// of this feed in this crawl, whatever was restarted in between. It knows nothing of what other hosts, or feeds of other paths, have
// written: an item whose page went on elsewhere after a crash may stand in the files of both.
//
// Write returns when the items are on the disk: a file feed syncs once a call for file and journal. A call without records does what is due
// (rotation by time, an upload that failed); call it now and then where a feed may be idle.
func NewFeed(c FeedConfig) (Sink, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	log := c.Log.With("feed", c.Name)
	picker := picker{kinds: c.Kinds, layout: newLayout(c, log), seen: newSeen(seenLimit)}
	if c.isStdout() {
		if c.Stdout == nil {
			return nil, fmt.Errorf("feed %q: there is no standard output", c.Name)
		}
		pack, err := newPacker(c.Compress)
		if err != nil {
			return nil, err
		}
		return &streamFeed{name: c.Name, format: c.Format, out: c.Stdout, picker: picker, pack: pack}, nil
	}
	path, err := parseFeedPath(c.URI)
	if err != nil {
		return nil, fmt.Errorf("feed %q: uri: %w", c.Name, err)
	}
	f := &fileFeed{config: c, path: path.fix(c.Spider, c.Host), log: log, picker: picker}
	if c.isBucket() {
		if f.bucket, err = c.openBucket(); err != nil {
			return nil, fmt.Errorf("feed %q: %w", c.Name, err)
		}
	}
	return f, nil
}

// Name is the feed's name.
func (f *fileFeed) Name() string { return f.config.Name }

// Open makes the folder, takes the feed's lock, and mends what a crash has left.
func (f *fileFeed) Open(ctx context.Context) error {
	if err := f.open(ctx); err != nil {
		return fmt.Errorf("feed %s: %w", f.Name(), errors.Join(err, f.release()))
	}
	return nil
}

func (f *fileFeed) open(ctx context.Context) error {
	if f.lock == nil || f.journal != nil { // it is not just claimed
		if err := errors.Join(f.release(), f.Claim()); err != nil {
			return err
		}
	}
	_, name, err := f.place()
	if err != nil {
		return err
	}
	if err := f.load(name + ".journal"); err != nil {
		return err
	}
	if err := f.settle(); err != nil {
		return err
	}
	f.broken = false
	if f.bucket == nil {
		return nil
	}
	if err := f.bucket.Check(ctx); err != nil {
		return err
	}
	return f.upload(ctx)
}

// Write adds records to the file. After an error the same records can be given again: those that were written are known.
func (f *fileFeed) Write(ctx context.Context, records []Record) ([]Refusal, error) {
	refused, err := f.write(ctx, records)
	if err != nil {
		return nil, fmt.Errorf("feed %s: %w", f.Name(), err)
	}
	return refused, nil
}

func (f *fileFeed) write(ctx context.Context, records []Record) ([]Refusal, error) {
	if f.journal == nil && !f.broken {
		return nil, errors.New("is not open")
	}
	if f.broken {
		if err := f.open(ctx); err != nil {
			return nil, errors.Join(err, f.release())
		}
	}
	if err := f.due(ctx); err != nil {
		return nil, err
	}
	refused, err := f.fill(records)
	if err != nil {
		return nil, err
	}
	// The records are safe. What is due now and fails is reported by the next call, which tries it first.
	if err := f.due(ctx); err != nil {
		f.log.Debug("a file that is whole waits", "error", err)
	}
	return refused, nil
}

// fill packs records into as few chunks as files and memory allow.
func (f *fileFeed) fill(records []Record) ([]Refusal, error) {
	f.picker.layout.prepare(records)
	var b batch
	var refused []Refusal
	for i, record := range records {
		row, key, err := f.picker.pick(&b, record)
		if err != nil {
			refused = append(refused, Refusal{Index: i, Err: err})
		}
		if row == nil {
			continue
		}
		if f.full(&b, len(row)) {
			if err := f.flush(&b, len(row)); err != nil {
				return nil, err
			}
		}
		if f.file == nil {
			if err := f.start(); err != nil {
				return nil, err
			}
		}
		b.add(f.layout, row, key, f.count()+len(b.ids) == 0)
	}
	return refused, f.flush(&b, 0)
}

// Close makes the file whole and gives it its name.
func (f *fileFeed) Close(ctx context.Context) error {
	err := f.finishAll(ctx)
	if err = errors.Join(err, f.release()); err != nil {
		return fmt.Errorf("feed %s: %w", f.Name(), err)
	}
	return nil
}

func (f *fileFeed) finishAll(ctx context.Context) error {
	if f.broken {
		if err := f.open(ctx); err != nil {
			return err
		}
	}
	if f.journal == nil {
		return nil
	}
	if err := f.finish(); err != nil {
		return err
	}
	err := f.upload(ctx)
	f.state.Closed = true
	if f.repeats > 0 {
		f.log.Info("items that came again after a crash were not written again", "items", f.repeats)
	}
	return errors.Join(err, f.note())
}

// release closes files without finishing anything.
func (f *fileFeed) release() error {
	var errs []error
	if f.file != nil {
		errs = append(errs, unlock(f.file))
	}
	if f.journal != nil {
		errs = append(errs, f.journal.file.Close())
	}
	if f.lock != nil {
		errs = append(errs, unlock(f.lock))
	}
	f.file, f.journal, f.lock = nil, nil, nil
	return errors.Join(errs...)
}
