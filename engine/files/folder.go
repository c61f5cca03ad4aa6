package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// folder keeps files below a folder of this host, which others may share.
type folder string

func (d folder) path(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

func (d folder) spool() string { return d.path("partial") }

func (d folder) read(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(d.path(name))
}

func (d folder) size(_ context.Context, name string) (int64, error) {
	info, err := os.Stat(d.path(name))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (d folder) keep(_ context.Context, from *os.File, e Entry, _ string) error {
	if err := errors.Join(from.Chmod(0o644), from.Sync(), from.Close()); err != nil {
		return err
	}
	return place(from.Name(), d.path(e.Path))
}

func (d folder) write(_ context.Context, name string, content []byte) error {
	file, err := os.CreateTemp(d.spool(), "*.note")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(content)
	if err := errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return err
	}
	return place(file.Name(), d.path(name))
}

func (d folder) create(_ context.Context, name string) error {
	if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(d.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

func (d folder) touched(_ context.Context, name string) (time.Time, error) {
	info, err := os.Stat(d.path(name))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

func (d folder) touch(_ context.Context, name string, now time.Time) error {
	return os.Chtimes(d.path(name), now, now)
}

func (d folder) remove(_ context.Context, name string) error { return os.Remove(d.path(name)) }

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
