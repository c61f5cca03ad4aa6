package cli

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"luacrawl/engine"
)

func testLogs(out *bytes.Buffer) *logs {
	return &logs{Logger: slog.New(slog.NewTextHandler(out, nil)), out: out, level: new(slog.LevelVar)}
}

// growing is a crawl that does ten pages a second from now on.
func growing(pending int64) func() engine.Progress {
	start := time.Now()
	return func() engine.Progress {
		pages := int64(time.Since(start) / (100 * time.Millisecond))
		return engine.Progress{Pages: pages, Items: pages / 2, Pending: pending, InFlight: 3, Errors: 1}
	}
}

// during runs a progress for a time of the bubble.
func during(t *testing.T, d time.Duration, p *progress) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := p.Run(ctx); err != nil {
		t.Error(err)
	}
}

func TestQuietLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := &progress{logs: testLogs(&out), screen: newScreen(&out, nil), name: "blog", ask: growing(7)}
		during(t, 35*time.Second, p)
		if n := strings.Count(out.String(), "msg=progress"); n != 3 {
			t.Errorf("%d lines in 35 s:\n%s", n, out.String())
		}
		if want := "spider=blog pages=100 items=50 pages_per_second=10 pending=7 in_flight=3 errors=1"; !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	})
}

func TestWaitingRunIsQuiet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		ask := func() engine.Progress { return engine.Progress{Idle: true} }
		during(t, time.Hour, &progress{logs: testLogs(&out), screen: newScreen(&out, nil), name: "blog", ask: ask})
		if n := strings.Count(out.String(), "\n"); n > 1 {
			t.Errorf("%d lines in an hour of waiting", n)
		}
	})
}

func TestLiveLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		during(t, 2*time.Second+time.Millisecond, &progress{logs: testLogs(&out), screen: newScreen(&out, fixed(120)), name: "blog", ask: growing(1234)})
		want := "blog  20 pages  10 items  10.0/s  1,234 pending  3 in flight  1 errors"
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
		if got := render(out.String()); got != "" {
			t.Errorf("the live line stayed: %q", got)
		}
	})
}

func TestEmbeddedQueueWarnsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			embedded bool
			pending  int64
			want     int
		}{{true, 50_001, 1}, {true, 50_000, 0}, {false, 1_000_000, 0}} {
			var out bytes.Buffer
			during(t, time.Minute, &progress{
				logs: testLogs(&out), screen: newScreen(&out, nil), ask: growing(test.pending), embedded: test.embedded,
			})
			if n := strings.Count(out.String(), "level=WARN"); n != test.want {
				t.Errorf("%+v: %d warnings:\n%s", test, n, out.String())
			}
		}
	})
}

func TestLiveLineSaysWhatHolds(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for want, state := range map[string]engine.Progress{
		"paused":                     {Paused: true},
		"waiting for seeds":          {Idle: true},
		"waiting for Redis for 1m5s": {Down: now.Add(-65 * time.Second)},
	} {
		if line := liveLine("blog", "", state, 0, now); !strings.HasSuffix(line, "  "+want) {
			t.Errorf("no %q in %q", want, line)
		}
	}
}

// TestBrokenEditIsShownUntilItIsMended, before the counts, which a narrow window cuts off, and in log lines elsewhere.
func TestBrokenEditIsShownUntilItIsMended(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 0} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			broken := "spiders/blog.lua:12"
			p := &progress{logs: testLogs(&out), screen: newScreen(&out, fixed(width)), name: "blog", ask: growing(7), unmended: func() string { return broken }}
			during(t, 11*time.Second, p)
			want := "blog  EDIT NOT IN EFFECT: spiders/blog.lua:12  "
			if width == 0 {
				want = "edit_not_in_effect=spiders/blog.lua:12"
			}
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in %q", want, out.String())
			}
			out.Reset()
			broken = ""
			during(t, 11*time.Second, p)
			if text := strings.ToLower(out.String()); text == "" || strings.Contains(text, "effect") {
				t.Errorf("mended, it says %q", text)
			}
		})
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
