package scheduler

import (
	"log/slog"
	"time"
)

// calm is how long a Redis that was full must take everything before it counts as back. At the edge of its memory it takes one
// commit and refuses the next, many times over; that is one outage to whoever reads the log.
const calm = 5 * time.Second

// outage is a time in which Redis does not answer, or refuses what it is told, as the log has it: one line when it begins and
// one when it is over. The zero value is no outage. Whoever uses it holds Client.mu.
type outage struct {
	began time.Time // zero: none
	full  bool      // Redis had no memory left at some time of it
	back  time.Time // since when Redis takes everything again; zero while it does not
}

// fell notes a failure.
func (o *outage) fell(now time.Time, l *slog.Logger, server string, err error) {
	o.full = o.full || outOfMemory(err)
	o.back = time.Time{}
	if !o.began.IsZero() {
		return
	}
	o.began = now
	l.Warn(complaint(err), "redis", server, "error", err)
}

func complaint(err error) string {
	switch {
	case outOfMemory(err):
		return "redis is full: waiting until it has memory again; raise its maxmemory, or take items out of it"
	case refused(err):
		return "redis refuses to work: waiting for it"
	}
	return "redis does not answer: waiting for it"
}

// rose notes that nothing fails any more.
func (o *outage) rose(now time.Time, l *slog.Logger, server string) {
	if o.began.IsZero() {
		return
	}
	if o.back.IsZero() {
		o.back = now
	}
	if !o.full || now.Sub(o.back) >= calm {
		o.end(l, server)
	}
}

// end says that the outage is over, if Redis is back at all.
func (o *outage) end(l *slog.Logger, server string) {
	if o.began.IsZero() || o.back.IsZero() {
		return
	}
	l.Info("redis is back", "redis", server, "after", o.back.Sub(o.began).Round(time.Millisecond))
	*o = outage{}
}
