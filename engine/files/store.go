package files

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io/fs"
	"mime"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Entry is what is known of the file of a URL.
type Entry struct {
	URL      string    `json:"url"`
	Path     string    `json:"path"`     // below the store, with slashes: full/ab/<SHA-256>.ext
	Checksum string    `json:"checksum"` // SHA-256 of the content, in hex
	Size     int64     `json:"size"`     // bytes
	Fetched  time.Time `json:"fetched"`
}

// Store is a folder of files, named by their content, with a note for each URL. Processes and hosts may share it: a file and a note appear
// whole or not at all, and what is there is never changed.
type Store struct {
	Options
	now   func() time.Time
	sweep *sync.Once
}

// NewStore does nothing to the folder until a file comes.
func NewStore(o Options) *Store { return &Store{Options: o, now: time.Now, sweep: &sync.Once{}} }

// note is where what is known of a URL lies.
func (s *Store) note(u string) string {
	sum := sha1.Sum([]byte(u))
	name := hex.EncodeToString(sum[:])
	return filepath.Join(s.Store, "urls", name[:2], name+".json")
}

// Known gives what is known of a URL: false when it was never fetched, too long ago, or when its file is gone. An error is the store's.
func (s *Store) Known(u string) (Entry, bool, error) {
	b, err := os.ReadFile(s.note(u))
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
	info, err := os.Stat(filepath.Join(s.Store, filepath.FromSlash(e.Path)))
	if err != nil || info.Size() != e.Size || e.Size > s.MaxSize {
		return Entry{}, false, nil
	}
	return e, true, nil
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
	folder := filepath.Join(s.Store, "partial")
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
func (f *File) Keep(u, contentType string) (Entry, error) {
	sum := hex.EncodeToString(f.sum.Sum(nil))
	e := Entry{URL: u, Path: path.Join("full", sum[:2], sum+extension(u, contentType)), Checksum: sum, Size: f.size, Fetched: f.store.now().UTC()}
	target := filepath.Join(f.store.Store, filepath.FromSlash(e.Path))
	if err := errors.Join(f.file.Chmod(0o644), f.file.Sync(), f.file.Close()); err != nil {
		return e, err
	}
	if err := place(f.file.Name(), target); err != nil {
		return e, err
	}
	f.file = nil
	return e, f.store.write(e)
}

// write notes what is known of a URL.
func (s *Store) write(e Entry) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Join(s.Store, "partial"), "*.note")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(append(b, '\n'))
	if err := errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return err
	}
	return place(file.Name(), s.note(e.URL))
}

// place moves a file into its folder, made when it is not there, for good.
func place(from, to string) error {
	folder := filepath.Dir(to)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil // some network mounts sync names by themselves
	}
	return errors.Join(err, d.Close())
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
