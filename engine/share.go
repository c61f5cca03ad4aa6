package engine

import (
	"context"
	"time"
)

const (
	activeFor  = time.Second            // after its last call a crawl still counts as one that wants to run
	heavyAfter = 20 * time.Millisecond  // calls that take longer are heavy
	lengthOver = 64                     // calls, about, that their length is taken over
	lengthNew  = 100 * time.Millisecond // of a crawl's calls before some were seen
	lengthMost = time.Second            // that a call counts for
	fairPart   = 0.5                    // of its crawl's part of the CPUs that a call does not rest in: others feel more than its CPU
)

// share is what one crawl has of the Places. Places go to the crawl that has used them least. A crawl with heavy calls gets
// no more than its part of the CPUs while others want to run, since it would not give a place back soon: a call that is under way cannot be
// stopped. Then its calls that have outrun their place count too: what they do to the crawl's next calls is its own affair. The Places'
// mu guards it.
type share struct {
	of      *Places
	waiting []*entrant    // in order of arrival
	running int           // calls, with a place or without
	used    time.Duration // by calls that have ended
	sum     float64       // of calls' seconds, of late,
	squares float64       // and of their squares
	seen    time.Time     // when a call last ended
}

// entrant is a call that waits for its place.
type entrant struct {
	at *place
	in chan struct{} // closed when it has it
}

func newShare(p *Places) *share {
	n := lengthNew.Seconds()
	return &share{of: p, sum: n, squares: n * n}
}

// took notes how long a call has run.
func (s *share) took(d time.Duration) {
	x := min(d, lengthMost).Seconds()
	s.sum += x - s.sum/lengthOver
	s.squares += x*x - s.squares/lengthOver
	s.used += d
}

// length is how long the calls are in which the crawl's time goes: many short ones, as of seeds, do not hide the long ones.
func (s *share) length() time.Duration {
	return time.Duration(s.squares / max(s.sum, 1e-9) * float64(time.Second))
}

func (s *share) active(now time.Time) bool {
	return s.running > 0 || len(s.waiting) > 0 || now.Sub(s.seen) < activeFor
}

// dispatch gives places to calls that wait. The caller holds mu.
func (p *Places) dispatch(now time.Time) {
	for p.quick < callsPerCPU*p.cpus {
		s := p.next(now)
		if s == nil {
			return
		}
		w := s.waiting[0]
		s.waiting = s.waiting[1:]
		p.catchUp(s, now)
		w.at.start(now)
		close(w.in)
	}
}

// next is the crawl whose call gets a place now; nil when there is none.
func (p *Places) next(now time.Time) (next *share) {
	for _, s := range p.shares {
		if len(s.waiting) > 0 && s.mayRun(now) && (next == nil || s.cost() < next.cost()) {
			next = s
		}
	}
	return next
}

// cost is what the crawl has used, with what its running calls will have.
func (s *share) cost() time.Duration { return s.used + time.Duration(s.running)*s.length() }

// catchUp lets a crawl that was away not claim what it left to others. The caller holds mu.
func (p *Places) catchUp(s *share, now time.Time) {
	if s.running > 0 || now.Sub(s.seen) < activeFor {
		return
	}
	least := time.Duration(-1)
	for _, other := range p.shares {
		if other != s && other.active(now) && (least < 0 || other.used < least) {
			least = other.used
		}
	}
	s.used = max(s.used, least)
}

// mayRun reports whether the crawl may begin a call. It is not compared with others: their calls take longer, too, when it holds them up.
func (s *share) mayRun(now time.Time) bool {
	if s.length() <= heavyAfter {
		return true
	}
	crawls := s.crawls(now)
	return crawls == 1 || s.running < max(s.of.cpus/crawls, 1)
}

// placeKey is the place of a call in its context.
type placeKey struct{}

// LeastShare is the part of the time for which a call into a spider, whose context is ctx, may run at least, however much others are held up
// by it: other crawls want to run, and this one's calls are few enough already. Without that calls that are slow and no more would rest until
// their timeout. 0 says nothing.
func LeastShare(ctx context.Context) float64 {
	at, _ := ctx.Value(placeKey{}).(*place)
	if at == nil {
		return 0
	}
	p := at.of.of
	p.mu.Lock()
	defer p.mu.Unlock()
	crawls := at.of.crawls(time.Now())
	if crawls == 1 || at.of.running == 0 {
		return 0
	}
	return min(float64(p.cpus)/float64(crawls*at.of.running), 1) * fairPart
}

// crawls is how many crawls want to run, this one included. The caller holds mu.
func (s *share) crawls(now time.Time) int {
	n := 1
	for _, other := range s.of.shares {
		if other != s && other.active(now) {
			n++
		}
	}
	return n
}
