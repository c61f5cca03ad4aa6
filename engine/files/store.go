package files

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"mime"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"luacrawl/engine/bucket"
)

// Entry is what is known of the file of a URL.
type Entry struct {
	URL      string    `json:"url"`
	Path     string    `json:"path"`     // below the store, with slashes: full/ab/<SHA-256>.ext
	Checksum string    `json:"checksum"` // SHA-256 of the content, in hex
	Size     int64     `json:"size"`     // bytes
	Fetched  time.Time `json:"fetched"`
}

// Store is a folder or a bucket of files, named by their content, with a note for each URL and login. Processes and hosts may share it: a file and a
// note appear whole or not at all, and what is there is never changed.
type Store struct {
	Options
	keeper keeper
	login  string // whose files these are, "" for everybody's
	now    func() time.Time
	sweep  *sync.Once
}

// FileError is that a store takes all but this one file.
type FileError struct{ Err error }

func (e *FileError) Error() string { return e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

// keeper is where files and notes lie. Names have slashes, and what is not there is fs.ErrNotExist.
type keeper interface {
	// spool is a folder of this host in which files are written until they are whole.
	spool() string
	// read gives a note.
	read(ctx context.Context, name string) ([]byte, error)
	// size is that of a file, in bytes.
	size(ctx context.Context, name string) (int64, error)
	// keep takes a whole file out of the spool, for good. It closes it in any case.
	keep(ctx context.Context, from *os.File, e Entry, contentType string) error
	// write makes or replaces a note.
	write(ctx context.Context, name string, content []byte) error

	// create makes a file for a claim, or fails with fs.ErrExist.
	create(ctx context.Context, name string) error
	// touched says when a file was made or touched last, by a clock that may not be ours.
	touched(ctx context.Context, name string) (time.Time, error)
	touch(ctx context.Context, name string, now time.Time) error
	remove(ctx context.Context, name string) error
}

// NewStore does nothing to the folder or the bucket until a file comes. It fails for what is wrong with the options or the environment.
func NewStore(o Options, outside Outside) (*Store, error) {
	s := &Store{Options: o, keeper: folder(o.Store), now: time.Now, sweep: &sync.Once{}}
	if bucket.IsURI(o.Store) {
		objects, err := openBucket(o, outside)
		if err != nil {
			return nil, fmt.Errorf("store %q: %w", o.Store, err)
		}
		s.keeper = objects
	}
	return s, nil
}

// As is the store for one login: its sites may show it what they show nobody else, so it has notes and claims of its own. Equal contents lie
// there once all the same.
func (s *Store) As(login string) *Store {
	own := *s
	own.login = login
	return &own
}

// note is where what is known of a URL lies. No URL has a line break.
func (s *Store) note(u string) string {
	if s.login != "" {
		u = s.login + "\n" + u
	}
	sum := sha1.Sum([]byte(u))
	name := hex.EncodeToString(sum[:])
	return path.Join("urls", name[:2], name+".json")
}

// Known gives what is known of a URL: false when it was never fetched, too long ago, or when its file is gone. An error is the store's.
func (s *Store) Known(ctx context.Context, u string) (Entry, bool, error) {
	b, err := s.keeper.read(ctx, s.note(u))
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, err
	}
	var e Entry
	if json.Unmarshal(b, &e) != nil || e.URL != u || !filepath.IsLocal(filepath.FromSlash(e.Path)) || s.now().Sub(e.Fetched) > s.Expires {
		return Entry{}, false, nil
	}
	size, err := s.keeper.size(ctx, e.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Entry{}, false, nil
	case err != nil:
		return Entry{}, false, err
	}
	return e, size == e.Size && e.Size <= s.MaxSize, nil
}

// File is one that is being written.
type File struct {
	store *Store
	file  *os.File
	sum   hash.Hash
	size  int64
}

// Create begins a file, which nobody sees until Keep.
func (s *Store) Create() (*File, error) {
	folder := s.keeper.spool()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	s.sweep.Do(func() { s.clean(folder) })
	file, err := os.CreateTemp(folder, "*.part")
	if err != nil {
		return nil, err
	}
	return &File{store: s, file: file, sum: sha256.New()}, nil
}

// clean removes what processes have left that were killed: no download is as old.
func (s *Store) clean(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return // it costs room and nothing else
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && s.now().Sub(info.ModTime()) > 2*s.Timeout+time.Hour {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}

func (f *File) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	f.sum.Write(p[:n])
	f.size += int64(n)
	return n, err
}

// Size is how much was written, in bytes.
func (f *File) Size() int64 { return f.size }

// Discard forgets the file; after Keep it does nothing.
func (f *File) Discard() {
	if f.file != nil {
		_ = f.file.Close()
		_ = os.Remove(f.file.Name())
		f.file = nil
	}
}

// Keep puts the file into its place and notes it as that of u. contentType gives the extension where the URL has none.
func (f *File) Keep(ctx context.Context, u, contentType string) (Entry, error) {
	sum := hex.EncodeToString(f.sum.Sum(nil))
	e := Entry{URL: u, Path: path.Join("full", sum[:2], sum+extension(u, contentType)), Checksum: sum, Size: f.size, Fetched: f.store.now().UTC()}
	if err := f.store.keeper.keep(ctx, f.file, e, contentType); err != nil {
		return e, err
	}
	f.file = nil
	note, err := json.Marshal(e)
	if err != nil {
		return e, err
	}
	return e, f.store.keeper.write(ctx, f.store.note(u), append(note, '\n'))
}

// extension is that of the URL, if it looks like one, or else one of the media type.
func extension(u, contentType string) string {
	if parsed, err := url.Parse(u); err == nil {
		if ext := strings.ToLower(path.Ext(parsed.Path)); plainExtension(ext) {
			return ext
		}
	}
	media, _, _ := mime.ParseMediaType(contentType)
	if ext, ok := extensions[media]; ok {
		return ext
	}
	return ""
}

func plainExtension(ext string) bool {
	return len(ext) > 1 && len(ext) <= 8 && !strings.ContainsFunc(ext[1:], func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// extensions are those of common files. The system's own table differs from host to host, and names are to be the same on all.
var extensions = map[string]string{
	"image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg", "image/avif": ".avif",
	"application/pdf": ".pdf", "application/zip": ".zip", "application/gzip": ".gz", "application/json": ".json",
	"text/plain": ".txt", "text/csv": ".csv", "text/html": ".html", "video/mp4": ".mp4", "audio/mpeg": ".mp3",
}
