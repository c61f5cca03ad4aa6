package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"luacrawl/scheduler"
)

func TestSteady(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, c := range map[string]struct{ delay, since, want time.Duration }{
		"an eighth of the delay":    {160 * ms, 0, 20 * ms},
		"from the question on":      {160 * ms, 15 * ms, 5 * ms},
		"late already":              {160 * ms, 30 * ms, 0},
		"no more than a long delay": {time.Minute, 0, 25 * ms},
		"no delay":                  {0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				settings := DefaultSettings()
				settings.DownloadDelay = c.delay
				p := &page{Settings: &settings, lease: scheduler.Lease{Asked: time.Now().Add(-c.since)}}
				start := time.Now()
				p.steady(t.Context())
				if took := time.Since(start); took != c.want {
					t.Errorf("it waited %v, want %v", took, c.want)
				}
				stopped, stop := context.WithCancel(t.Context())
				stop()
				start, p.lease.Asked = time.Now(), time.Now()
				if p.steady(stopped); time.Since(start) != 0 {
					t.Error("it waited though the page was stopped")
				}
			})
		})
	}
}
