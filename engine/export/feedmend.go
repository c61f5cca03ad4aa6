package export

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
)

// load reads the journal. The last chunk may have been cut off by a crash; then it, and what it says is written, does not count.
func (f *fileFeed) load(path string) error {
	f.state, f.seen = feedState{}, newSeen(seenLimit)
	var before *fileState
	var last entry
	j, err := openJournal(path, func(e entry) {
		f.seen.add(last.ids...)
		last = e
		switch {
		case e.State != nil:
			f.state = *e.State
		case e.Chunk != nil && f.state.File != nil:
			before = f.state.File
			s := *before
			s.apply(*e.Chunk)
			f.state.File = &s
		}
	})
	if err != nil {
		return err
	}
	f.journal = j
	if last.Chunk != nil && before != nil {
		whole, err := before.holds(*last.Chunk)
		if err != nil {
			return err
		}
		if !whole {
			f.state.File, last.ids = before, nil
		}
	}
	f.seen.add(last.ids...)
	return nil
}

// holds reports whether a chunk is in the file as it was meant.
func (s *fileState) holds(c chunk) (bool, error) {
	file, err := os.Open(s.part())
	if errors.Is(err, fs.ErrNotExist) {
		file, err = os.Open(s.Path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	sum := crc32.New(castagnoli)
	n, err := io.Copy(sum, io.NewSectionReader(file, c.Start, c.Len))
	return n == c.Len && sum.Sum32() == c.Sum, errors.Join(err, file.Close())
}

// settle decides what becomes of the file of before, and writes the journal anew.
func (f *fileFeed) settle() error {
	fresh := f.state.Crawl != f.config.Crawl || f.config.Crawl == "" && f.state.Closed
	if fresh {
		f.seen = newSeen(seenLimit)
		f.state.Crawl = f.config.Crawl
		if f.config.Overwrite {
			f.state.Part = 0
		}
	}
	if err := f.find(); err != nil {
		return err
	}
	if err := f.journal.rewrite(f.state, f.seen.all()); err != nil {
		return err
	}
	if err := f.inherit(fresh); err != nil {
		return err
	}
	return f.ready()
}

// find looks where the file of before is.
func (f *fileFeed) find() error {
	if f.state.File == nil {
		return nil
	}
	s := *f.state.File
	info, err := os.Lstat(s.part())
	if err == nil && info.Size() < s.End {
		return fmt.Errorf("%s has %d bytes, but %d were written: something else has changed it; move it away", s.part(), info.Size(), s.End)
	}
	if err == nil {
		s.Whole = false
		f.state.File = &s
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	info, err = os.Lstat(s.Path)
	if err == nil && info.Size() == s.End+s.Foot {
		s.Whole = true
		f.state.File = &s
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if s.End > 0 {
		f.log.Warn("the file of before is gone; a new one is begun", "file", s.Path)
	}
	f.state.File = nil
	return nil
}

// inherit goes on with the file of before, ends it, or does away with it.
func (f *fileFeed) inherit(fresh bool) error {
	s := f.state.File
	if s == nil {
		if !fresh {
			f.layout.adopt(f.state.Columns)
		}
		return nil
	}
	same := f.sameShape(s)
	switch {
	case f.path.varies() && s.Whole:
		return f.named(*s)
	case f.path.varies() && (fresh || !same):
		if err := f.reopen(); err != nil {
			return err
		}
		return f.finish()
	case f.config.Overwrite && (fresh || !same):
		return f.discard()
	case !same:
		return fmt.Errorf("%s was written as %s, and is to go on as %s: name another file, or say overwrite = true",
			s.Path, shape(s.Format, s.Pack, s.Columns), shape(f.config.Format, f.config.Compress, f.layout.columns()))
	}
	f.layout.adopt(s.Columns)
	if s.Whole {
		return nil // it keeps its name until there is something to add
	}
	return f.reopen()
}

func (f *fileFeed) sameShape(s *fileState) bool {
	columns := f.layout.columns()
	return s.Format == f.config.Format && s.Pack == f.config.Compress && (len(columns) == 0 || slices.Equal(columns, s.Columns))
}

func shape(format, pack string, columns []string) string {
	if pack != "" {
		format += "+" + pack
	}
	if len(columns) > 0 {
		format += fmt.Sprintf(" %q", columns)
	}
	return format
}

// ready finds out now what would else be found out by the first item.
func (f *fileFeed) ready() error {
	if f.state.File != nil || f.path.varies() {
		return nil
	}
	part := 1
	_, err := f.freePath(&part, f.config.Now())
	return err
}
