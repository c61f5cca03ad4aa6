package engine

import "time"

// Observer is told how long things take, as they happen. Its methods are called by several goroutines at once, once or twice a page,
// and must not wait.
type Observer interface {
	Fetched(time.Duration)   // a download has ended, well or not
	Called(time.Duration)    // a call into the spider has ended, well or not; without the wait for its place
	Leased(time.Duration)    // Redis has answered a question for leases,
	Committed(time.Duration) // or a commit; both when they went in one round trip
}

// unobserved is the Observer of a crawl that has none.
type unobserved struct{}

func (unobserved) Fetched(time.Duration)   {}
func (unobserved) Called(time.Duration)    {}
func (unobserved) Leased(time.Duration)    {}
func (unobserved) Committed(time.Duration) {}
