package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// itemFile is where "luacrawl items" writes: a file that has its name only when it is whole, or standard output.
type itemFile struct {
	io.Writer
	name string
	file *os.File // nil for standard output
	part string   // what it is called until it is whole; "" for what is no regular file
}

func openItemFile(name string, stdout io.Writer) (*itemFile, error) {
	if name == "" || name == "-" {
		return &itemFile{Writer: stdout}, nil
	}
	// a name that no feed has open, nor another export into the same file
	part := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%08x.part", filepath.Base(name), rand.Uint32()))
	f := &itemFile{name: name, part: part}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, usagef("--output %s: it is a folder; name a file in it", name)
	case err == nil && !info.Mode().IsRegular(): // a pipe or a device cannot be renamed over
		f.part = ""
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("--output: %w", err)
	}
	if f.part == "" {
		f.file, err = os.OpenFile(name, os.O_WRONLY, 0)
	} else {
		f.file, err = os.OpenFile(f.part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		path.Path = name // the one that a person knows
	}
	if err != nil {
		return nil, fmt.Errorf("--output: %w", err)
	}
	f.Writer = f.file
	return f, nil
}

// close gives the file its name if all went well before, and else throws it away.
func (f *itemFile) close(before error) error {
	if f.file == nil {
		return before
	}
	var err error
	if before == nil && f.part != "" {
		err = f.file.Sync()
	}
	err = firstError(err, f.file.Close())
	switch {
	case f.part == "":
	case before == nil && err == nil:
		err = os.Rename(f.part, f.name)
	default:
		os.Remove(f.part) // what is wrong is known
	}
	if err != nil {
		err = fmt.Errorf("--output: %w", err)
	}
	return firstError(before, err)
}
