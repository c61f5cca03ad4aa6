package export

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// place is the folder of the feed's files and the start of the names of journal and lock in it.
func (f *fileFeed) place() (dir, name string, err error) {
	where, err := f.config.where()
	if err != nil {
		return "", "", err
	}
	sum := sha1.Sum([]byte(where))
	dir = f.path.dir()
	if f.bucket != nil {
		dir = f.config.Spool
	}
	dir, err = filepath.Abs(dir)
	return dir, filepath.Join(dir, ".luacrawl-feed-"+hex.EncodeToString(sum[:6])), err
}

// freePath is the name of the next file: of its number, or a later one that no other file has.
func (f *fileFeed) freePath(part *int, begun time.Time) (string, error) {
	for {
		name := f.path.render(begun, *part)
		if f.bucket != nil {
			return f.spoolPath(part)
		}
		path, err := filepath.Abs(name)
		if err != nil {
			return "", err
		}
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return path, nil
		case err != nil:
			return "", err
		case !info.Mode().IsRegular():
			return "", fmt.Errorf("%s is no plain file (%s), and feeds replace files; name another", path, info.Mode().Type())
		case f.config.Overwrite || info.Size() == 0:
			return path, nil
		case !f.path.has("part"):
			return "", fmt.Errorf("%s is there, and this feed did not write it, or it was changed since: move it away, say overwrite = true, or put %%(time)s into the name", path)
		}
		*part++
	}
}

// spoolPath is where a part for a bucket is written; the object's name is decided when it is uploaded.
func (f *fileFeed) spoolPath(part *int) (string, error) {
	_, name, err := f.place()
	if err != nil {
		return "", err
	}
	for {
		path := fmt.Sprintf("%s-%d", name, *part)
		if _, err := os.Lstat(path); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return path, nil
			}
			return "", err
		}
		*part++
	}
}

// createPart makes the file under its temporary name, which nobody else may be writing.
func createPart(path, name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of %s: %w", path, err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lockPart(file, name); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := errors.Join(vacant(path), syncDir(filepath.Dir(path))); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// lockPart keeps others, whose pattern gives the same name, from the file.
func lockPart(file *os.File, name string) error {
	err := flock(file)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%q and another feed write to %s; give each its own path", name, file.Name())
	}
	return err
}

// vacant reports a temporary file that is not this feed's.
func vacant(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && info.Size() > 0:
		return fmt.Errorf("%s is there, and this feed did not begin it: another feed writes to it, or its journal was removed; move it away", path)
	}
	return err
}
