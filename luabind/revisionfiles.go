package luabind

import (
	"bytes"
	"io/fs"
	"path"
	"time"

	"luacrawl/scheduler"
)

// originOf is where a spider comes from whose files are a revision's.
func originOf(r *scheduler.Revision, o Options) origin {
	return origin{fsys: revisionFiles(r.Files), main: r.Main, id: r.ID, options: o}
}

// revisionFiles are the files of a revision as a file system. It has no folders to list: a spider asks for files by their names.
type revisionFiles map[string][]byte

// ReadFile makes it an fs.ReadFileFS.
func (f revisionFiles) ReadFile(name string) ([]byte, error) {
	text, ok := f[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return text, nil
}

// Open makes it an fs.FS.
func (f revisionFiles) Open(name string) (fs.File, error) {
	text, err := f.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &revisionFile{bytes.NewReader(text), path.Base(name)}, nil
}

type revisionFile struct {
	*bytes.Reader
	name string
}

func (f *revisionFile) Stat() (fs.FileInfo, error) { return fileInfo{f}, nil }
func (f *revisionFile) Close() error               { return nil }

type fileInfo struct{ file *revisionFile }

func (i fileInfo) Name() string       { return i.file.name }
func (i fileInfo) Size() int64        { return i.file.Reader.Size() }
func (i fileInfo) Mode() fs.FileMode  { return 0o444 }
func (i fileInfo) ModTime() time.Time { return time.Time{} }
func (i fileInfo) IsDir() bool        { return false }
func (i fileInfo) Sys() any           { return nil }
