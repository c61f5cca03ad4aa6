package scheduler

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Throttling says how slots are slowed down by what their sites answer. It is the whole fleet's.
type Throttling struct {
	ByLatency         bool          // as Scrapy's AutoThrottle. Answers that refuse slow a slot down in any case
	StartDelay        time.Duration // by latency, of a slot of which nothing is known
	MaxDelay          time.Duration // that a slot is slowed down to; 0 means 60 s
	TargetConcurrency float64       // that delays by latency aim at, for the whole fleet; 0 means 1
}

func (t Throttling) withDefaults() Throttling {
	t.MaxDelay = cmp.Or(t.MaxDelay, time.Minute)
	t.TargetConcurrency = cmp.Or(t.TargetConcurrency, 1)
	return t
}

func (t Throttling) validate() error {
	switch {
	case t.StartDelay < 0:
		return fmt.Errorf("autothrottle_start_delay %s: it is 0 or more", t.StartDelay)
	case t.MaxDelay < time.Millisecond:
		return fmt.Errorf("autothrottle_max_delay %s: it is 1 ms or more", t.MaxDelay)
	case !(t.TargetConcurrency >= 0.001):
		return fmt.Errorf("autothrottle_target_concurrency %v: it is 0.001 or more", t.TargetConcurrency)
	}
	return nil
}

// start is the delay of a slot of which nothing is known, in ms, as scripts read it: 0 when delays are not by latency.
func (t Throttling) start() int64 {
	if !t.ByLatency {
		return 0
	}
	return min(t.StartDelay, t.MaxDelay).Milliseconds()
}

// aimed is 1000 times the target concurrency, 0 when delays are not by latency.
func (t Throttling) aimed() int64 {
	if !t.ByLatency {
		return 0
	}
	return int64(math.Round(1000 * t.TargetConcurrency))
}

// Verdict is what an answer says of the pace that its site bears.
type Verdict byte

// Verdicts.
const (
	NoVerdict Verdict = 0
	Accepted  Verdict = '+'
	Answered  Verdict = '=' // in error, say: its latency may make the slot slower and never faster
	Refused   Verdict = '-' // 429: too fast. The slot's delay doubles, once for all requests that were on their way
)

// Answer is what a response says of the pace that its site bears.
type Answer struct {
	Verdict Verdict
	Latency time.Duration // from sending to the end of the header
	Size    int64         // of the body, bytes: for the log alone
}

// text is an answer to what was leased at a time, as scripts/parts/answers.lua reads it.
func (a Answer) text(leased time.Time) string {
	if a.Verdict == NoVerdict {
		return ""
	}
	b := append(make([]byte, 0, 24), byte(a.Verdict))
	b = strconv.AppendInt(b, max(1, int64(math.Ceil(float64(a.Latency)/float64(time.Millisecond)))), 10)
	b = strconv.AppendInt(append(b, ' '), max(0, leased.UnixMilli()), 10)
	return string(b)
}

// logDelays says how the outcomes of a commit have changed the delays of their slots: told has the outcome's number, the delay before, and the
// one after, in ms, of each change.
func (f *Frontier) logDelays(s *sending, c *commit, told []string) {
	for ; len(told) >= 3; told = told[3:] {
		i := number(told[0]) - 1
		if i < 0 || i >= int64(len(c.parts)) {
			continue
		}
		o := s.outcomes[c.parts[i].outcome]
		f.logger.Info("the delay of a site has changed", "slot", o.Lease.Slot, "was", milliseconds(number(told[1])), "delay", milliseconds(number(told[2])),
			"latency", o.Answer.Latency.Round(time.Millisecond), "size", o.Answer.Size)
	}
}
