package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// A snapshot file is a line with its version, then for each key: database, kind, key, expiry and the number of its
// values, and the values; then the CRC-64 (ECMA, big-endian) of all before. Numbers are unsigned varints, strings a length and bytes;
// a kind is its index in kinds. Scores are as Redis writes them: the shortest text that reads back to the same float.
const (
	snapshotName    = "snapshot"
	snapshotHeading = "luacrawl snapshot "
	snapshotVersion = 1
)

type checksum [crc64.Size]byte

func checksumOf(data []byte) (sum checksum) {
	binary.BigEndian.PutUint64(sum[:], crc64.Checksum(data, crcTable))
	return sum
}

var crcTable = crc64.MakeTable(crc64.ECMA)

// ErrDamaged is wrapped by errors about a snapshot that cannot be read: cut short, changed, or of another version.
var ErrDamaged = errors.New("snapshot cannot be read")

func damaged(file, what string) error {
	return fmt.Errorf("%w: %s: %s; move the file away to start without it", ErrDamaged, file, what)
}

func (s *Server) snapshotFile() string { return filepath.Join(s.dir, snapshotName) }

// save writes a snapshot if its content differs from the one on disk. Callers hold mu.
func (s *Server) save() error {
	s.expiry.advance(s.redis, time.Now())
	data := make([]byte, 0, s.size+s.size/8+1024)
	data = fmt.Appendf(data, "%s%d\n", snapshotHeading, snapshotVersion)
	err := readAll(s.redis, func(r record) {
		if !slices.Contains(kinds, r.kind) {
			s.warn(r)
			return
		}
		data = appendRecord(data, r)
	})
	if err != nil {
		return fmt.Errorf("snapshot of the embedded redis: %w", err)
	}
	s.size = len(data)
	sum := checksumOf(data)
	if _, err := os.Stat(s.snapshotFile()); err == nil && sum == s.last {
		return nil
	}
	if err := replaceFile(s.snapshotFile(), append(data, sum[:]...)); err != nil {
		return fmt.Errorf("snapshot of the embedded redis: %w", err)
	}
	s.last = sum
	return nil
}

// warn says once about each key that is not kept. Callers hold mu.
func (s *Server) warn(r record) {
	if s.warned[r.key] {
		return
	}
	if s.warned == nil {
		s.warned = map[string]bool{}
	}
	s.warned[r.key] = true
	s.logger.Warn("a key of this type is not kept in the snapshot and will be gone after a restart", "key", r.key, "type", r.kind)
}

// load puts a snapshot into an empty miniredis. No file is an empty snapshot.
func load(file string, m *miniredis.Miniredis) (checksum, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return checksum{}, nil
	}
	if err != nil {
		return checksum{}, fmt.Errorf("snapshot of the embedded redis: %w", err)
	}
	body, sum, problem := verify(data)
	if problem != "" {
		return checksum{}, damaged(file, problem)
	}
	d := decoder{data: body}
	for len(d.data) > 0 {
		r := d.record()
		if d.bad || !restore(m, r) {
			return checksum{}, damaged(file, fmt.Sprintf("key %q is not as it should be", r.key))
		}
	}
	return sum, nil
}

func verify(data []byte) (body []byte, sum checksum, problem string) {
	heading, rest, _ := bytes.Cut(data, []byte("\n"))
	version, known := bytes.CutPrefix(heading, []byte(snapshotHeading))
	if !known {
		return nil, sum, "it is not a snapshot of luacrawl"
	}
	if string(version) != strconv.Itoa(snapshotVersion) {
		return nil, sum, fmt.Sprintf("it has version %q and this luacrawl reads version %d", version, snapshotVersion)
	}
	if len(rest) < len(sum) {
		return nil, sum, "it is cut short"
	}
	end := len(data) - len(sum)
	if sum = checksum(data[end:]); sum != checksumOf(data[:end]) {
		return nil, sum, "its checksum is wrong"
	}
	return rest[:len(rest)-len(sum)], sum, ""
}
