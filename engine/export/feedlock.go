package export

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// lockFeed takes the feed's lock file, which the kernel gives free when the process ends, however it ends. The error names both
// feeds if another has it.
func lockFeed(path, name string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := flock(f); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = fmt.Errorf("%q and %s write to the same file; give each its own path, for instance with %%(host)s or another folder", name, holder(path))
		}
		return nil, errors.Join(err, f.Close())
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	// Only messages of others need what stands in it, so that a disk that is full now does not keep the feed from opening.
	_, _ = fmt.Fprintf(f, "%q of process %d", name, os.Getpid())
	return f, nil
}

func holder(path string) string {
	if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
		return strings.TrimSpace(string(text))
	}
	return "another feed"
}

func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
