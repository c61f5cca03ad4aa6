package scheduler

// seenSize is how many fingerprints a worker remembers: about 40 MB.
const seenSize = 1 << 20

// seen is the worker's cache of fingerprints that Redis' filter is known to hold. A wrong entry loses a page, so:
//   - only children of outcomes that a commit has answered as stored enter it,
//   - and only if the reply's epoch is the cache's;
//   - it is emptied at a new epoch, at a rollback, and whenever the worker takes a new process id.
//
// It has two generations: when the young one is full it becomes the old one, and the old one is forgotten.
// Only the goroutine that calls Exchange uses it.
type seen struct {
	young, old map[Fingerprint]struct{}
	epoch      string
	half       int
}

func newSeen(size int, epoch string) *seen {
	return &seen{young: map[Fingerprint]struct{}{}, epoch: epoch, half: max(size/2, 1)}
}

func (s *seen) has(f Fingerprint) bool {
	if _, ok := s.young[f]; ok {
		return true
	}
	if _, ok := s.old[f]; !ok {
		return false
	}
	s.add(f)
	return true
}

func (s *seen) add(f Fingerprint) {
	if len(s.young) >= s.half {
		s.old, s.young = s.young, make(map[Fingerprint]struct{}, s.half)
	}
	s.young[f] = struct{}{}
}

func (s *seen) clear() {
	s.young, s.old = map[Fingerprint]struct{}{}, nil
}

// observe takes note of the epoch of a reply and reports whether it is still the cache's.
func (s *seen) observe(epoch string) bool {
	if epoch == s.epoch {
		return true
	}
	s.clear()
	s.epoch = epoch
	return false
}
