package scheduler

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// changes are the lines of a log that tell of delays, without time and level.
func changes(log *bytes.Buffer) []string {
	var lines []string
	for line := range strings.Lines(log.String()) {
		if _, about, ok := strings.Cut(line, `msg="the delay of a site has changed" `); ok && strings.Contains(line, "level=INFO") {
			lines = append(lines, strings.TrimSpace(about))
		}
	}
	log.Reset()
	return lines
}

// Each change is logged with what has made it, by the worker that stored the page; what changes nothing is not, and without the setting
// nothing is.
func TestChangesOfDelaysAreLogged(t *testing.T) {
	t.Parallel()
	latency := Throttling{ByLatency: true, StartDelay: 2 * time.Second, MaxDelay: 4 * time.Second}
	for _, c := range []struct {
		name string
		cfg  Config
		// answers of pages that are stored by one commit, and what is logged then
		steps [][]Answer
		want  []string
	}{
		{
			"by latency", Config{ThrottleDebug: true, Throttling: latency, Delay: 500 * time.Millisecond},
			[][]Answer{
				{{Accepted, 500 * time.Millisecond, 1234}},
				{{Answered, 100 * time.Millisecond, 1}, {Accepted, 100 * time.Millisecond, 2}}, // an error makes nothing faster
				{{Accepted, 9 * time.Second, 3}},
			},
			[]string{
				"slot=a.test was=2s delay=1.25s latency=500ms size=1234",
				"slot=a.test was=1.25s delay=675ms latency=100ms size=2",
				"slot=a.test was=675ms delay=4s latency=9s size=3",
			},
		},
		{
			"not below the slot's own", Config{ThrottleDebug: true, Throttling: latency, Delay: time.Second},
			[][]Answer{{{Accepted, 10 * time.Millisecond, 1}}, {{Accepted, 10 * time.Millisecond, 2}}, {{Accepted, 10 * time.Millisecond, 3}}},
			[]string{"slot=a.test was=2s delay=1.005s latency=10ms size=1", "slot=a.test was=1.005s delay=1s latency=10ms size=2"},
		},
		{
			"refused", Config{ThrottleDebug: true},
			[][]Answer{{{Refused, time.Millisecond, 7}, {Refused, time.Millisecond, 8}}, {{Accepted, time.Millisecond, 9}}},
			[]string{"slot=a.test was=0s delay=1s latency=1ms size=7", "slot=a.test was=1s delay=900ms latency=1ms size=9"},
		},
		{"off", Config{Throttling: latency}, [][]Answer{{{Accepted, 500 * time.Millisecond, 1}}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			redistest.Each(t, func(t *testing.T, url string) {
				var log bytes.Buffer
				c.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
				k := newKit(t, url, c.cfg)
				k.addPages(20)
				var got []string
				for _, answers := range c.steps {
					k.later()
					var together []*Outcome
					for _, a := range answers {
						if err := k.rdb.ZAdd(k.ctx, k.keys.slots, slotAt(0)).Err(); err != nil {
							t.Fatal(err)
						}
						together = append(together, &Outcome{Lease: k.lease(1)[0], Answer: a})
					}
					other := &Outcome{Lease: together[0].Lease} // stored by nobody any more: it shifts the numbers
					other.Lease.ID = "gone:1/00000000000000"
					k.exchange(k.Frontier, append([]*Outcome{other}, together...), 0, 0)
					got = append(got, changes(&log)...)
				}
				if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
					t.Errorf("logged\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
				}
			})
		})
	}
}
