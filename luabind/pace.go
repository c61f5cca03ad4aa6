package luabind

import (
	"sync/atomic"
	"time"
)

const (
	slowCall         = 100 * time.Millisecond // a call that has run for longer is slow,
	slowInstructions = 1 << 19                // or that has run so many instructions, 20 ms of them,
	slowMade         = 64 << 20               // or made so many bytes of strings
	paceTick         = 5 * time.Millisecond   // between looks at the clock while a slow call runs
	lateTick         = time.Millisecond       // a look that comes later shows that others wait too
	leastShare       = 1.0 / 8                // of the time in which a slow call may run, at least
	moreShare        = 1.0 / 128              // that slow calls are given back by each look in time
	longRest         = 300 * time.Millisecond // at most
	companyFor       = 100 * time.Millisecond // after another call began slow calls are not alone
)

// callsBegun counts the calls of all spiders of the process.
var callsBegun atomic.Uint64

// pace is the share of the time in which the slow calls of a spider run while other calls come and go. What a slow call
// costs others depends on more than its CPU: garbage keeps the collector at work on all CPUs, large values hold it up, and the
// machine may be busy. So pace looks at what others feel: its own timer comes late when they are late. Then slow calls
// run for leastShare of the time; while it comes in time they are given more. Where CPUs are idle they run on.
type pace struct {
	due    time.Time     // of the next look
	share  atomic.Uint64 // of a million
	begun  uint64        // callsBegun at the last look
	newest time.Time     // when a look found it raised
}

const wholeShare = 1_000_000

// look takes note of how late a look is, and of how many calls the process has begun.
func (p *pace) look(now time.Time, begun uint64) {
	if begun != p.begun {
		p.begun, p.newest = begun, now
	}
	share := float64(p.share.Load()) / wholeShare
	switch {
	case now.Sub(p.newest) > companyFor:
		share = 1
	case now.Sub(p.due) > lateTick:
		share = leastShare
	default:
		share = min(share+moreShare, 1)
	}
	p.share.Store(uint64(share * wholeShare))
}

// restAfter is how long a slow call waits that has run for so long. It may run for least of the time in any case.
func (p *pace) restAfter(ran time.Duration, least float64) time.Duration {
	share := max(float64(p.share.Load())/wholeShare, least)
	return min(time.Duration(float64(ran)*(1/share-1)), longRest)
}
