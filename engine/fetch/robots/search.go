package robots

import (
	"math"
	"strings"
	"sync"
)

// search matches sorted patterns against one path. Between two stars the first occurrence is always as good as a later one, so
// a pattern needs no backtracking, and what is known after a star is one number: the path's bytes used so far. Patterns that
// begin alike come one after another, so the numbers of the last pattern serve the next as far as both are the same.
type search struct {
	path  string
	stars []star
	index occurrences
	ready bool // index is that of path
	found int  // depth of the literal that index has looked for last
}

// star is a place in the last pattern right after a "*".
type star struct {
	depth int // bytes of the pattern up to here
	used  int // bytes of the path that these bytes need at least
}

var searches = sync.Pool{New: func() any { return new(search) }}

// bestMatch is the highest rank of the rules that match path, -1 if none does.
func bestMatch(rules []compiled, path string) int {
	s := searches.Get().(*search)
	defer searches.Put(s)
	s.path, s.ready, s.found, s.stars = path, false, 0, s.stars[:0]
	best := -1
	dead, common := math.MaxInt, 0 // the first dead bytes of the last pattern match nothing; common: bytes that this one shares with it
	for i := range rules {
		r := &rules[i]
		common = min(common, r.shared)
		if common >= dead || r.rank <= best || r.literals > len(path) {
			continue
		}
		if dead = s.match(r.pattern, common); dead > len(r.pattern) {
			best = r.rank
		}
		common = math.MaxInt
	}
	s.path = ""
	return best
}

// match gives how many bytes of pattern it takes to match nothing: more than pattern has if it matches. The first common bytes
// are those of the pattern before.
func (s *search) match(pattern string, common int) int {
	at := s.resume(common)
	keep := 0
	if at.depth > 0 && at.depth == s.found {
		keep = common - at.depth
	}
	for {
		segment, _, more := strings.Cut(pattern[at.depth:], "*")
		used, got := s.step(segment, at, !more, keep)
		keep = 0
		if used < 0 {
			return at.depth + got + 1
		}
		if !more {
			return len(pattern) + 1
		}
		at = star{at.depth + len(segment) + 1, used}
		s.stars = append(s.stars, at)
	}
}

// resume goes back to the last star within the first common bytes.
func (s *search) resume(common int) star {
	for n := len(s.stars); n > 0; n-- {
		if s.stars[n-1].depth <= common {
			s.stars = s.stars[:n]
			return s.stars[n-1]
		}
	}
	s.stars = s.stars[:0]
	return star{}
}

// step looks for segment, the literal that follows at, and gives the end of its first occurrence; or -1, and how many of the
// segment's bytes can be had. The index still knows the places of the first keep bytes.
func (s *search) step(segment string, at star, last bool, keep int) (used, got int) {
	literal, anchored := segment, false
	if last {
		literal, anchored = strings.CutSuffix(segment, "$")
	}
	switch {
	case at.depth == 0:
		if got = commonPrefix(literal, s.path); got < len(literal) || anchored && got < len(s.path) {
			return -1, got
		}
		return got, got
	case anchored:
		s.found = 0
		if len(s.path)-len(literal) < at.used || !strings.HasSuffix(s.path, literal) {
			return -1, len(literal)
		}
		return len(s.path), len(literal)
	}
	if !s.ready {
		s.index.build(s.path)
		s.ready = true
	}
	s.found = at.depth
	return s.index.find(literal, at.used, keep)
}
