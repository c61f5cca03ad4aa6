package embedded

import (
	"errors"
	"os"
	"path/filepath"
)

// replaceFile writes a file so that a crash at any time leaves the old one or the new one.
func replaceFile(file string, data []byte) error {
	temporary := file + ".tmp"
	f, err := os.OpenFile(temporary, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary, file); err != nil {
		return err
	}
	return syncDir(filepath.Dir(file))
}

// syncDir makes a rename last through a power loss.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
