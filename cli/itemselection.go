package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"luacrawl/engine/export"
	"luacrawl/scheduler"
)

// followEvery is how often --follow looks for new items.
const followEvery = 300 * time.Millisecond

// itemSelection is which items of a crawl a command is about.
type itemSelection struct {
	*target
	reader       *scheduler.ItemReader
	conditions   []itemCondition
	tail, offset int64
	most         int64  // that may still come
	left         int    // things that were left out, since they are no JSON objects
	first        string // of them
}

// begin goes to the first item.
func (s *itemSelection) begin(ctx context.Context) error {
	if s.tail > 0 {
		return s.reader.Tail(ctx, s.tail)
	}
	return s.reader.Skip(ctx, s.offset)
}

// next are the items that come next, to the end as it is then.
func (s *itemSelection) next(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if s.most <= 0 {
			return
		}
		for item, err := range s.reader.Next(ctx) {
			if err != nil {
				yield("", err)
				return
			}
			if !s.takes(item) {
				continue
			}
			s.most--
			if !yield(item, nil) || s.most == 0 {
				return
			}
		}
	}
}

// takes reports whether an item is one of those.
func (s *itemSelection) takes(item string) bool {
	if len(s.conditions) == 0 {
		return true
	}
	match, ok := matches(s.conditions, item)
	if !ok {
		s.leaveOut(item)
	}
	return match
}

func (s *itemSelection) leaveOut(item string) {
	if s.left++; s.left == 1 {
		s.first = item
	}
}

// told warns of what was left out.
func (s *itemSelection) told() {
	if s.left > 0 {
		s.logs.Warn("what is no JSON object was left out", "items", s.left, "first", oneLine(s.first, 100))
	}
}

// count is how many there are.
func (s *itemSelection) count(ctx context.Context) (n int64, err error) {
	if len(s.conditions) == 0 {
		n, err = s.reader.Count(ctx)
		n = max(0, n-s.offset)
		if s.tail > 0 {
			n = min(n, s.tail)
		}
		return min(n, s.most), err
	}
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	for _, err := range s.next(ctx) {
		if err != nil {
			return 0, err
		}
		n++
	}
	s.told()
	return n, nil
}

// itemWriter prints a selection.
type itemWriter struct {
	selection *itemSelection
	encoder   *export.Encoder
	raw       bool // items are printed as they are stored
	json      bool // and what is no JSON as a JSON string
	gone      bool // it was said that items were taken out meanwhile
}

// all prints what is there, and with follow what comes, until ctx ends.
func (w *itemWriter) all(ctx context.Context, follow bool) error {
	s := w.selection
	if w.encoder.NeedsFields() {
		if err := w.learn(ctx); err != nil {
			return err
		}
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	if err := w.print(ctx); err != nil || !follow {
		return err
	}
	if s.redis.embedded() && !s.redis.joined() {
		s.logs.notice("no luacrawl runs in the folder: nothing more can come")
		return nil
	}
	return w.follow(ctx)
}

// learn reads the items once before, for the names of their fields.
func (w *itemWriter) learn(ctx context.Context) error {
	before := *w.selection
	before.reader = before.client.ReadItems(before.Fleet)
	if err := before.begin(ctx); err != nil {
		return err
	}
	for item, err := range before.next(ctx) {
		if err != nil {
			return err
		}
		w.encoder.Learn([]byte(item))
	}
	return nil
}

// print prints what is there.
func (w *itemWriter) print(ctx context.Context) error {
	for item, err := range w.selection.next(ctx) {
		if err != nil {
			return firstError(w.encoder.Flush(), err)
		}
		if err := w.one(item); err != nil {
			return err
		}
	}
	return w.encoder.Flush()
}

func (w *itemWriter) one(item string) error {
	if w.raw {
		return w.encoder.Line(itemLine(item, w.json))
	}
	refused, err := w.encoder.Encode([]byte(item))
	if refused != nil {
		w.selection.leaveOut(item)
		w.selection.most++
	}
	return err
}

// follow prints items as they come, until ctx ends or there have been enough.
func (w *itemWriter) follow(ctx context.Context) error {
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for w.selection.most > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		gone, err := w.selection.reader.Shrunk(ctx)
		if err != nil {
			return err
		}
		if gone > 0 && !w.gone {
			w.gone = true
			w.selection.logs.notice(fmt.Sprintf("items are taken out of the list (%s at once): going on at its end", thousands(gone)))
		}
		if err := w.print(ctx); err != nil {
			return err
		}
	}
	return nil
}

// itemLine is an item without line breaks: what is JSON stays the same JSON, anything else becomes a JSON string, if it must.
func itemLine(item string, must bool) string {
	broken := strings.ContainsAny(item, "\r\n")
	if !broken && !(must && !json.Valid([]byte(item))) {
		return item
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(item)) != nil {
		b.Reset()
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(item) // a text always can
	}
	return strings.TrimRight(b.String(), "\n")
}
