package host

import "time"

// rateOver is what a rate is taken over.
const rateOver = 5 * time.Second

// Rates finds the pages a second over the last few seconds. The zero value has seen nothing.
type Rates struct{ seen []sample }

type sample struct {
	at    time.Time
	pages int64
}

// Add notes a count and returns the rate since the oldest sample within a few seconds. A count that falls is of another crawl.
func (r *Rates) Add(at time.Time, pages int64) float64 {
	if n := len(r.seen); n > 0 && pages < r.seen[n-1].pages {
		r.seen = nil
	}
	r.seen = append(r.seen, sample{at, pages})
	for len(r.seen) > 2 && at.Sub(r.seen[1].at) >= rateOver {
		r.seen = r.seen[1:]
	}
	passed := at.Sub(r.seen[0].at).Seconds()
	if passed <= 0 {
		return 0
	}
	return float64(pages-r.seen[0].pages) / passed
}
