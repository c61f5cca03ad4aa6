package robots

import "math/bits"

// occurrences knows where in a text each byte stands, one bit a place, so that a literal is looked for at 64 places at once and
// no literal, however it repeats itself, takes longer.
type occurrences struct {
	words int         // of a row, without the empty one that ends it
	row   [256]uint32 // byte -> where its row begins; 0 is the row of bytes that are not in the text
	bits  []uint64

	frames int      // how many sets of places there is room for
	kept   int      // how many of them are those of the last literal that was looked for
	places []uint64 // the sets: set n has the places of its first n+1 bytes
}

// maxFrameWords bounds the memory for the sets of places.
const maxFrameWords = 1 << 16

func (o *occurrences) build(text string) {
	o.words = (len(text) + 63) / 64
	o.kept, o.places, o.frames = 0, o.places[:0], max(2, maxFrameWords/o.words)
	size := o.words + 1
	clear(o.row[:])
	o.bits = o.grow(o.bits[:0], size)
	for i := range len(text) {
		row := o.row[text[i]]
		if row == 0 {
			row = uint32(len(o.bits))
			o.row[text[i]] = row
			o.bits = o.grow(o.bits, size)
		}
		o.bits[int(row)+i/64] |= 1 << (i % 64)
	}
}

func (o *occurrences) grow(b []uint64, n int) []uint64 {
	for range n {
		b = append(b, 0)
	}
	return b
}

// find gives the end of the first occurrence of literal that begins at from or later; or -1, and how many bytes of literal do
// occur there. The first keep bytes of literal, and from, are those of the call before: their places are known.
func (o *occurrences) find(literal string, from, keep int) (end, got int) {
	if literal == "" {
		o.kept = 0
		return from, 0
	}
	low := from >> 6
	if low >= o.words {
		o.kept = 0
		return -1, 0
	}
	if len(literal) == 1 {
		o.kept = 0
		return o.findByte(literal[0], low, from)
	}
	o.kept = min(keep, o.kept)
	for n := o.kept; n < len(literal); n++ {
		if !o.narrow(literal[n], n, low, from) {
			return -1, n
		}
		o.kept = min(n+1, o.frames-1)
	}
	places := o.frame(len(literal) - 1)
	for places[low] == 0 {
		low++
	}
	return low<<6 + bits.TrailingZeros64(places[low]) + len(literal), len(literal)
}

// findByte is find for a single byte, which needs no sets.
func (o *occurrences) findByte(c byte, low, from int) (end, got int) {
	mask := ^uint64(0) << (from & 63)
	for w, v := range o.of(c)[low:] {
		if v &= mask; v != 0 {
			return (low+w)<<6 + bits.TrailingZeros64(v) + 1, 1
		}
		mask = ^uint64(0)
	}
	return -1, 0
}

// narrow makes frame n, the places where the first n+1 bytes stand, of the frame before and c, the last of these bytes. It
// reports whether there are any.
func (o *occurrences) narrow(c byte, n, low, from int) bool {
	next, any := o.frame(n), uint64(0)
	if n == 0 {
		copy(next[low:], o.of(c)[low:])
		next[low] &= ^uint64(0) << (from & 63)
		for _, v := range next[low:] {
			any |= v
		}
		return any != 0
	}
	last := o.frame(n - 1)
	for w := low; w < o.words; w++ {
		v := last[w]
		if v != 0 {
			v &= o.at(c, w, n)
		}
		next[w] = v
		any |= v
	}
	return any != 0
}

// frame is the n-th set of places. Beyond the last there is room for, the last one is used again and again.
func (o *occurrences) frame(n int) []uint64 {
	n = min(n, o.frames-1) * o.words
	if end := n + o.words; end > len(o.places) {
		o.places = o.grow(o.places, end-len(o.places))
	}
	return o.places[n : n+o.words]
}

// of is the row of c.
func (o *occurrences) of(c byte) []uint64 { return o.bits[o.row[c]:][:o.words+1] }

// at has a bit for each of the 64 places of word w that has c n bytes further on.
func (o *occurrences) at(c byte, w, n int) uint64 {
	w += n >> 6
	if w >= o.words {
		return 0
	}
	row := o.bits[int(o.row[c])+w:]
	return row[0]>>(n&63) | row[1]<<1<<(^n&63) // two shifts: by 64 in all if n is 0
}
