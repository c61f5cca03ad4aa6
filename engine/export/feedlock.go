package export

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// TakenError says that a feed's files are being written by another feed, of this process or another.
type TakenError struct{ Feed, Holder string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("%q and %s write to the same file; give each its own path, for instance with %%(host)s or another folder", e.Feed, e.Holder)
}

// Claimer is a sink that only one may write to at a time.
type Claimer interface {
	// Claim makes it this sink's before Open, which keeps it so. It is a *TakenError when another has it.
	Claim() error
	// Unclaim ends a claim after which there was no Open.
	Unclaim() error
}

var _ Claimer = (*fileFeed)(nil)

// Claim takes the feed's lock and touches nothing else.
func (f *fileFeed) Claim() error {
	dir, name, err := f.place()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for %s: %w", f.config.URI, err)
	}
	f.lock, err = lockFeed(name+".lock", f.Name())
	return err
}

// Unclaim gives the lock free unless the feed is open.
func (f *fileFeed) Unclaim() error {
	if f.journal != nil {
		return nil
	}
	return f.release()
}

// lockFeed takes the feed's lock file, which the kernel gives free when the process ends, however it ends. The error names both
// feeds if another has it.
func lockFeed(path, name string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := flock(f); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = &TakenError{name, holder(path)}
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

// unlock closes a locked file. Closing alone is not enough while a process that is just being started still has it, too.
func unlock(f *os.File) error {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	return f.Close()
}
