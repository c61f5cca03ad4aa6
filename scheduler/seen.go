package scheduler

import "hash/maphash"

const (
	seenSize  = 1 << 20          // requests that a worker remembers: about 40 MB
	seenStart = 16 << 10 / 8 * 7 // that there is room for from the start, 280 KB: most crawls never grow it
)

// seenKey stands for a request in the worker's cache: 128 bits of its method, URL and body as they are written. It costs a
// fortieth of the fingerprint, which is needed only for links that the cache does not know; the same page written in
// another way is left to Redis.
type seenKey [2]uint64

var seenSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func (r *Request) seenKey() (k seenKey) {
	plain := r.Callback != FilesCallback
	if plain && len(r.Body) == 0 && (r.Method == "" || r.Method == "GET") {
		return seenKey{maphash.String(seenSeeds[0], r.URL), maphash.String(seenSeeds[1], r.URL)}
	}
	for i, seed := range seenSeeds {
		var h maphash.Hash
		h.SetSeed(seed)
		h.WriteString(r.URL)
		h.WriteByte(0)
		h.WriteString(r.Method)
		h.WriteByte(0)
		h.Write(r.Body)
		if !plain {
			h.WriteString(FilesCallback)
		}
		k[i] = h.Sum64()
	}
	return k
}

// seen is the worker's cache of requests whose fingerprints Redis' filter is known to hold. A wrong entry loses a page, so:
//   - only children of outcomes that a commit has answered as stored enter it,
//   - and only if the reply's epoch is the cache's;
//   - it is emptied at a new epoch, at a rollback, and whenever the worker takes a new process id.
//
// It has two generations: when the young one is full it becomes the old one, and the old one is forgotten.
// Only the goroutine that calls Exchange uses it.
type seen struct {
	young, old map[seenKey]struct{}
	epoch      string
	half       int
}

func newSeen(size int, epoch string) *seen {
	half := max(size/2, 1)
	return &seen{young: make(map[seenKey]struct{}, min(half, seenStart)), epoch: epoch, half: half}
}

func (s *seen) has(k seenKey) bool {
	if _, ok := s.young[k]; ok {
		return true
	}
	if _, ok := s.old[k]; !ok {
		return false
	}
	s.add(k)
	return true
}

func (s *seen) add(k seenKey) {
	if len(s.young) >= s.half {
		s.old, s.young = s.young, make(map[seenKey]struct{}, s.half)
	}
	s.young[k] = struct{}{}
}

func (s *seen) clear() {
	clear(s.young)
	s.old = nil
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
