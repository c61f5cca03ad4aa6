package embedded

import (
	"time"

	"github.com/alicebob/miniredis/v2"
)

// expireEvery is how often keys are expired, and so how much too early or late that may be.
const expireEvery = time.Second

// expiry lets time pass for keys with a time to live. Miniredis' own ClockTTL does that in every command and sorts all
// keys each time: with ten thousand queues a command takes milliseconds.
type expiry struct{ last time.Time }

func (e *expiry) advance(m *miniredis.Miniredis, now time.Time) {
	now = now.Round(0) // by the wall clock, which runs on while a computer sleeps
	if elapsed := now.Sub(e.last); elapsed > 0 {
		m.FastForward(elapsed)
	}
	e.last = now
}

func (s *Server) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.expiry.advance(s.redis, time.Now())
	}
}
