package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	claimBeat = 5 * time.Second  // a claim is renewed so often
	claimLife = 30 * time.Second // and is over when it was not for so long: who made it is dead
)

// ErrClaimed says that somebody else is fetching a file.
var ErrClaimed = errors.New("somebody else is fetching the file")

// Claim keeps others from fetching the file of a URL until release is called, so that a fleet fetches it once. It is a courtesy and no lock:
// two who fetch the same file at once write the same bytes to the same place.
func (s *Store) Claim(u string) (release func(), err error) {
	name := strings.TrimSuffix(s.note(u), ".json") + ".busy"
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	if err = create(name); errors.Is(err, fs.ErrExist) {
		if info, statErr := os.Stat(name); statErr == nil && s.now().Sub(info.ModTime()).Abs() < claimLife { // far in the future is a clock that is wrong
			return nil, ErrClaimed
		}
		_ = os.Remove(name)
		if err = create(name); errors.Is(err, fs.ErrExist) {
			return nil, ErrClaimed
		}
	}
	if err != nil {
		return nil, err
	}
	return s.renew(name), nil
}

func create(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// renew keeps a claim alive until its answer is called, which ends it.
func (s *Store) renew(name string) (release func()) {
	done := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		tick := time.NewTicker(claimBeat)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				now := s.now()
				_ = os.Chtimes(name, now, now) // one that is late costs a second download at most
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		beating.Wait()
		_ = os.Remove(name)
	}
}
