package export

import "crypto/sha1"

// seenLimit is how many items a feed remembers. A page is committed after its items were written, so what is written again was
// written among the last items before a crash: those of the pages that were open then.
const seenLimit = 1 << 18

// idKey stands for a record's ID, whatever its length.
type idKey [16]byte

func keyOf(id string) (key idKey) {
	sum := sha1.Sum([]byte(id))
	copy(key[:], sum[:])
	return key
}

// seen is the window of the last items that a feed has written.
type seen struct {
	limit int
	known map[idKey]struct{}
	ring  []idKey // oldest at next once it is full
	next  int
}

func newSeen(limit int) *seen { return &seen{limit: limit, known: map[idKey]struct{}{}} }

func (s *seen) has(key idKey) bool {
	_, ok := s.known[key]
	return ok
}

func (s *seen) add(keys ...idKey) {
	for _, key := range keys {
		if s.has(key) {
			continue
		}
		s.known[key] = struct{}{}
		if len(s.ring) < s.limit {
			s.ring = append(s.ring, key)
			continue
		}
		delete(s.known, s.ring[s.next])
		s.ring[s.next] = key
		s.next = (s.next + 1) % s.limit
	}
}

// all gives the keys, oldest first.
func (s *seen) all() []idKey {
	return append(append(make([]idKey, 0, len(s.ring)), s.ring[s.next:]...), s.ring[:s.next]...)
}
