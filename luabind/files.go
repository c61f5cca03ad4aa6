package luabind

import (
	"crypto/sha256"
	"errors"
	"io/fs"
)

// content is what a file held when it was looked at.
type content struct {
	state contentState
	sum   [sha256.Size]byte // of what it held
}

type contentState byte

const (
	absent contentState = iota
	unreadable
	blank // no bytes: an editor has cut it and writes next, or someone means it
	filled
)

func contentOf(b []byte, err error) content {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content{}
	case err != nil:
		return content{state: unreadable}
	case len(b) == 0:
		return content{state: blank}
	}
	return content{filled, sha256.Sum256(b)}
}

// fileSet are the files that a load has looked at, by their names in its file system, with what they held. One that was not there is
// in it too: it may come.
type fileSet map[string]content

// recorder is a file system that notes what is read from it, and what is looked for in vain.
type recorder struct {
	fs.FS
	seen fileSet
}

// ReadFile makes it an fs.ReadFileFS.
func (r *recorder) ReadFile(name string) ([]byte, error) {
	b, err := fs.ReadFile(r.FS, name)
	r.seen[name] = contentOf(b, err)
	return b, err
}

// Stat makes it an fs.StatFS.
func (r *recorder) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(r.FS, name)
	if err != nil {
		r.seen[name] = contentOf(nil, err)
	}
	return info, err
}
