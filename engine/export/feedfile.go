package export

import (
	"errors"
	"log/slog"
	"os"

	"luacrawl/engine/bucket"
)

// fileFeed writes files, one after the other, into a folder or by way of one into a bucket.
type fileFeed struct {
	config FeedConfig
	path   feedPath
	log    *slog.Logger
	bucket *bucket.Bucket // nil for a folder
	picker
	pack *packer

	lock    *os.File // nil while the feed is neither claimed nor open
	journal *journal // nil while it is not open
	state   feedState
	file    *os.File // the one that is being written, NAME.part
	broken  bool     // a write went wrong: Open mends before the next
}

// start makes f.file the file to add to: the one of before if it may grow, else a new one.
func (f *fileFeed) start() error {
	if f.state.File != nil {
		return f.reopen()
	}
	state := f.state
	state.Part++
	begun := f.config.Now()
	path, err := f.freePath(&state.Part, begun)
	if err != nil {
		return err
	}
	columns := f.layout.columns()
	state.Closed, state.Columns = false, columns
	state.File = &fileState{Path: path, Part: state.Part, Format: f.config.Format, Pack: f.config.Compress, Columns: columns, Begun: begun}
	if err := vacant(state.File.part()); err != nil {
		return err
	}
	if f.pack, err = newPacker(f.config.Compress); err != nil {
		return err
	}
	before := f.state
	f.state = state
	if err := f.note(); err != nil { // first, so that a crash leaves no file that nobody knows
		f.state = before
		return err
	}
	if f.file, err = createPart(state.File.part(), f.Name()); err != nil {
		f.state.File = nil
		return errors.Join(err, f.note())
	}
	return nil
}

// reopen goes on with a file: one that a crash left, or one that had its name already and takes its temporary one again.
func (f *fileFeed) reopen() error {
	s := *f.state.File
	if s.Whole {
		if err := os.Rename(s.Path, s.part()); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(s.part(), os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	if err := lockPart(file, f.Name()); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := file.Truncate(s.End); err != nil {
		return errors.Join(err, file.Close())
	}
	if f.pack, err = newPacker(s.Pack); err != nil {
		return errors.Join(err, file.Close())
	}
	f.pack.begin(s.Member)
	s.Whole, s.Foot = false, 0
	f.state.File, f.state.Closed, f.file = &s, false, file
	return f.note()
}
