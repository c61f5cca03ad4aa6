package robots

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestFind compares with strings.Index, also for literals longer than there is room for sets, and with sets kept from a literal
// that begins alike.
func TestFind(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	text := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = 'a' + byte(r.IntN(20)/19) // long runs of a
		}
		return string(b)
	}
	var o occurrences
	for range 300 {
		s := text(1 + r.IntN(400))
		o.build(s)
		o.frames = 2 + r.IntN(8)
		for range 20 {
			from, last := r.IntN(len(s)+1), ""
			for range 5 {
				literal := last[:r.IntN(len(last)+1)]
				keep := len(literal)
				literal += text(r.IntN(12))
				last = literal
				want := strings.Index(s[from:], literal)
				if want >= 0 {
					want += from + len(literal)
				}
				if got, _ := o.find(literal, from, keep); got != want {
					t.Fatalf("%q from %d in %q ends at %d, want %d", literal, from, s, got, want)
				}
			}
		}
	}
}
