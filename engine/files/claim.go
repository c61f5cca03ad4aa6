package files

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"time"
)

const (
	claimBeat = 5 * time.Second  // a claim is renewed so often
	claimLife = 30 * time.Second // and is over when it was not for so long: who made it is dead
	claimEnd  = 3 * time.Second  // for its removal; after that it ends by itself
)

// ErrClaimed says that somebody else is fetching a file.
var ErrClaimed = errors.New("somebody else is fetching the file")

// Claim keeps others from fetching the file of a URL until release is called, so that a fleet fetches it once. It is a courtesy and no lock:
// two who fetch the same file at once write the same bytes to the same place.
func (s *Store) Claim(ctx context.Context, u string) (release func(), err error) {
	name := strings.TrimSuffix(s.note(u), ".json") + ".busy"
	if err = s.keeper.create(ctx, name); errors.Is(err, fs.ErrExist) {
		touched, askErr := s.keeper.touched(ctx, name)
		if askErr == nil && s.now().Sub(touched).Abs() < claimLife { // far in the future is a clock that is wrong
			return nil, ErrClaimed
		}
		_ = s.keeper.remove(ctx, name)
		if err = s.keeper.create(ctx, name); errors.Is(err, fs.ErrExist) {
			return nil, ErrClaimed
		}
	}
	if err != nil {
		return nil, err
	}
	return s.renew(ctx, name), nil
}

// renew keeps a claim alive until its answer is called, which ends it.
func (s *Store) renew(ctx context.Context, name string) (release func()) {
	beat, stop := context.WithCancel(ctx)
	var beating sync.WaitGroup
	beating.Go(func() {
		tick := time.NewTicker(claimBeat)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = s.keeper.touch(beat, name, s.now()) // one that is late costs a second download at most
			case <-beat.Done():
				return
			}
		}
	})
	return func() {
		stop()
		beating.Wait()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimEnd)
		defer cancel()
		_ = s.keeper.remove(ending, name)
	}
}
