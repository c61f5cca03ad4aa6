package engine

import "time"

const (
	activeFor  = time.Second          // after its last call a crawl still counts as one that wants to run
	heavyLeast = 5 * time.Millisecond // calls that take longer,
	heavyTimes = 4                    // and so many times as long as another crawl's, are heavy
	meanOver   = 8                    // calls, about, that the mean is of
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
	mean    time.Duration // of calls, of late; 0 before one was seen, which may be heavy
	seen    time.Time     // when a call last ended
}

// entrant is a call that waits for its place.
type entrant struct {
	at *place
	in chan struct{} // closed when it has it
}

// took notes how long a call has run.
func (s *share) took(d time.Duration) {
	if s.mean == 0 {
		s.mean = d
	}
	s.mean += (d - s.mean) / meanOver
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
func (s *share) cost() time.Duration { return s.used + time.Duration(s.running)*s.mean }

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

// mayRun reports whether the crawl may begin a call.
func (s *share) mayRun(now time.Time) bool {
	crawls, heavy := 1, false
	for _, other := range s.of.shares {
		if other != s && other.active(now) {
			crawls++
			heavy = heavy || s.mean == 0 || s.mean > heavyLeast && s.mean > heavyTimes*other.mean
		}
	}
	return !heavy || s.running < max(s.of.cpus/crawls, 1)
}
