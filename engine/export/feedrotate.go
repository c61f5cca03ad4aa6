package export

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const (
	maxChunk    = 4 << 20   // of plain text, so that memory stays small
	packedChunk = 256 << 10 // of plain text, where the size of a compressed file is watched
)

// full reports whether a row must wait for the next chunk or file.
func (f *fileFeed) full(b *batch, row int) bool {
	limit := f.config.RotateCount
	if limit > 0 && f.count()+len(b.ids) >= limit {
		return true
	}
	size, bound := int64(len(b.plain)+row), int64(maxChunk)
	if f.config.RotateSize > 0 {
		bound = min(bound, max(f.config.RotateSize-f.end(), 0))
		if f.config.Compress != "" {
			bound = max(bound, packedChunk)
		}
	}
	return size > bound && f.count()+len(b.ids) > 0
}

func (f *fileFeed) count() int {
	if f.file == nil {
		return 0
	}
	return f.state.File.Count
}

func (f *fileFeed) end() int64 {
	if f.file == nil {
		return 0
	}
	return f.state.File.End
}

// flush writes the batch, and ends the file if it has reached a limit or has no room for the next row.
func (f *fileFeed) flush(b *batch, next int) error {
	if err := f.commit(b); err != nil {
		return err
	}
	if f.reached(next) {
		return f.finish()
	}
	return nil
}

func (f *fileFeed) reached(next int) bool {
	if f.count() == 0 {
		return false
	}
	size := f.config.RotateSize
	if f.config.Compress != "" {
		next = 0 // nobody knows how small it will be
	}
	return f.config.RotateCount > 0 && f.count() >= f.config.RotateCount || size > 0 && (f.end() >= size || f.end()+int64(next) > size)
}

// due ends a file whose time has come, and takes to the bucket what waits for it.
func (f *fileFeed) due(ctx context.Context) error {
	every := f.config.RotateEvery
	if f.count() > 0 && every > 0 && f.config.Now().Sub(f.state.File.Begun) >= every || f.reached(0) {
		if err := f.finish(); err != nil {
			return err
		}
	}
	return f.upload(ctx)
}

// finish makes the file whole and gives it its name.
func (f *fileFeed) finish() error {
	if f.file == nil {
		return nil
	}
	if f.state.File.Count == 0 {
		return f.discard()
	}
	if err := f.foot(); err != nil {
		return err
	}
	s := *f.state.File
	if err := f.rename(s); err != nil {
		return err
	}
	err := f.file.Close()
	f.file = nil
	return errors.Join(err, f.named(s))
}

// named notes that a file has its name.
func (f *fileFeed) named(s fileState) error {
	state := f.state
	switch {
	case f.bucket != nil:
		w := waiting{ID: rand.Text(), File: s.Path, Part: s.Part, Begun: s.Begun}
		state.File, state.Waiting = nil, append(slices.Clip(state.Waiting), w)
	case f.path.varies():
		state.File = nil
	default:
		s.Whole = true
		state.File = &s
	}
	f.state = state
	return f.note()
}

// foot writes what ends the file. The file can still go on after it: it is cut off then.
func (f *fileFeed) foot() error {
	s := f.state.File
	text := footOf(s.Format)
	if s.Foot > 0 || text == "" && !s.Member.Open {
		return nil
	}
	return f.append([]byte(text), nil, true)
}

func (f *fileFeed) rename(s fileState) error {
	if info, err := os.Lstat(s.Path); err == nil && info.Size() > 0 && !f.config.Overwrite {
		return fmt.Errorf("%s has come into being while %s was written; move it away", s.Path, s.part())
	}
	if err := os.Rename(s.part(), s.Path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(s.Path))
}

// discard removes a file that nothing was written to, or that a new crawl does not want.
func (f *fileFeed) discard() error {
	part := f.state.File.part()
	f.state.File = nil
	var err error
	if f.file != nil {
		err = f.file.Close()
		f.file = nil
	}
	if gone := os.Remove(part); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return errors.Join(err, f.note())
}
