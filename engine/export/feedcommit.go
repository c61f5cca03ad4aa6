package export

import (
	"errors"
	"hash/crc32"

	"golang.org/x/sync/errgroup"
)

// commit adds the batch to the file and returns when it is on the disk.
func (f *fileFeed) commit(b *batch) error {
	if len(b.ids) == 0 {
		return nil
	}
	if err := f.append(b.plain, b.ids, false); err != nil {
		return err
	}
	f.seen.add(b.ids...)
	b.reset()
	if f.journal.size > journalLimit && f.journal.rewrite(f.state, f.seen.all()) != nil {
		f.broken = true // the items are safe; the next Write opens the journal anew, or says why it cannot
	}
	return nil
}

// append writes one chunk: first its entry in the journal, then its bytes, then both are synced at once.
func (f *fileFeed) append(plain []byte, ids []idKey, foot bool) error {
	s := *f.state.File
	bytes, open, err := f.pack.pack(plain)
	if err != nil {
		return err
	}
	if foot {
		bytes = append(bytes, open.end(s.Pack)...)
	}
	c := chunk{Start: s.End, Len: int64(len(bytes)), Sum: crc32.Checksum(bytes, castagnoli), Count: len(ids), Member: open, Foot: foot}
	size := f.journal.size
	if err := f.put(entry{Chunk: &c, ids: ids}, bytes); err != nil {
		f.broken = true
		f.pack.drop()
		return errors.Join(err, f.journal.cut(size), f.file.Truncate(s.End))
	}
	f.pack.keep(open)
	s.apply(c)
	f.state.File = &s
	return nil
}

func (f *fileFeed) put(e entry, bytes []byte) error {
	if err := f.journal.add(e); err != nil {
		return err
	}
	if _, err := f.file.WriteAt(bytes, e.Chunk.Start); err != nil {
		return err
	}
	var both errgroup.Group
	both.Go(f.file.Sync)
	both.Go(f.journal.file.Sync)
	return both.Wait()
}

// note writes the state into the journal.
func (f *fileFeed) note() error {
	size := f.journal.size
	err := f.journal.add(entry{State: &f.state})
	if err == nil {
		err = f.journal.file.Sync()
	}
	if err != nil {
		f.broken = true
		return errors.Join(err, f.journal.cut(size))
	}
	return nil
}
