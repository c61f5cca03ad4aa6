package export

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// journal is the small file beside a feed's files that says what of them is whole and which items they hold. An entry is written before
// its chunk, and both are synced before a Write returns, so that after a crash the last entry's chunk is either whole or cut off.
type journal struct {
	path string
	file *os.File
	size int64
}

// entry is one line of the journal: a new state of the feed, or a chunk that is about to be added to the file, and the items in it.
type entry struct {
	State *feedState `json:"state,omitempty"`
	Chunk *chunk     `json:"chunk,omitempty"`
	ids   []idKey
}

// chunk is a piece of the file that one fsync covers.
type chunk struct {
	Start  int64  `json:"start"`
	Len    int64  `json:"len"`
	Sum    uint32 `json:"sum"` // CRC-32C of its bytes
	Count  int    `json:"count"`
	Member member `json:"member"`
	Foot   bool   `json:"foot,omitempty"` // what ends the file, not items
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	journalHead  = 12       // lengths of text and ids, CRC-32C
	journalLimit = 32 << 20 // past which it is written anew
	maxEntry     = 1 << 28
)

// openJournal reads the entries of an existing journal, in order; a torn end is none.
func openJournal(path string, each func(entry)) (*journal, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	j := &journal{path: path, file: f}
	for {
		e, n, err := readEntry(io.NewSectionReader(f, j.size, maxEntry))
		if errors.Is(err, errTorn) {
			return j, nil
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("read %s: %w", path, err), f.Close())
		}
		each(e)
		j.size += n
	}
}

var errTorn = errors.New("no whole entry")

func readEntry(r io.Reader) (entry, int64, error) {
	var head [journalHead]byte
	if err := readFull(r, head[:]); err != nil {
		return entry{}, 0, err
	}
	text, ids := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	n := int64(text) + int64(ids)*int64(len(idKey{}))
	if n > maxEntry-journalHead || text == 0 {
		return entry{}, 0, errTorn
	}
	body := make([]byte, n)
	if err := readFull(r, body); err != nil {
		return entry{}, 0, err
	}
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(head[8:]) {
		return entry{}, 0, errTorn
	}
	var e entry
	if err := json.Unmarshal(body[:text], &e); err != nil {
		return entry{}, 0, err
	}
	for rest := body[text:]; len(rest) > 0; rest = rest[len(idKey{}):] {
		e.ids = append(e.ids, idKey(rest))
	}
	return e, journalHead + n, nil
}

func readFull(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTorn
	}
	return err
}

func (e entry) bytes() ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	b := make([]byte, journalHead, journalHead+len(text)+len(e.ids)*len(idKey{}))
	binary.LittleEndian.PutUint32(b, uint32(len(text)))
	binary.LittleEndian.PutUint32(b[4:], uint32(len(e.ids)))
	b = append(b, text...)
	for _, id := range e.ids {
		b = append(b, id[:]...)
	}
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b[journalHead:], castagnoli))
	return b, nil
}

// add writes an entry, not yet synced. After an error the journal is as it was, or else its end is torn, which is the same.
func (j *journal) add(e entry) error {
	b, err := e.bytes()
	if err != nil {
		return err
	}
	if _, err := j.file.WriteAt(b, j.size); err != nil {
		return errors.Join(j.named(err), j.file.Truncate(j.size))
	}
	j.size += int64(len(b))
	return nil
}

// named gives an error the journal's name; its file still has the one that it was renamed from.
func (j *journal) named(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		at.Path = j.path
	}
	return err
}

// cut takes entries off the end.
func (j *journal) cut(size int64) error {
	j.size = size
	return j.file.Truncate(size)
}

// rewrite replaces the journal by one that says the same with two entries.
func (j *journal) rewrite(state feedState, ids []idKey) (err error) {
	b, err := entry{State: &state, ids: ids}.bytes()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(j.path+".new", os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(j.path+".new", j.path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(j.path))
	}
	if err != nil {
		_ = os.Remove(j.path + ".new") // the next rewrite empties it anyway
		return errors.Join(err, f.Close())
	}
	old := j.file
	j.file, j.size = f, int64(len(b))
	return old.Close()
}

// syncDir makes names of files in a folder survive a power cut.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil // some network mounts sync names by themselves
	}
	return errors.Join(err, f.Close())
}
