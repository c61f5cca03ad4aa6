package engine

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfterIsReadWhateverItHolds(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0},
		{"0", "", 0},
		{"7", "", 7 * time.Second},
		{" 7 ", "", 7 * time.Second},
		{"3600", "", time.Hour},
		{"3601", "", time.Hour},
		{"99999999999", "", time.Hour},
		{"999999999999999999999999999999999999999", "", time.Hour},
		{"-5", "", 0},
		{"+5", "", 0},
		{"1.5", "", 0},
		{"5 seconds", "", 0},
		{"\x00\xff", "", 0},
		{"soon", "", 0},
		{at(90 * time.Second), "", 90 * time.Second},
		{at(-time.Hour), "", 0},
		{at(48 * time.Hour), "", time.Hour},
		{at(0), at(-30 * time.Second), 30 * time.Second}, // the server's clock is behind
		{at(time.Hour), at(time.Hour - 5*time.Second), 5 * time.Second},
		{at(20 * time.Second), "never", 20 * time.Second},
		{now.Add(time.Minute).Format("Monday, 02-Jan-06 15:04:05 GMT"), "", time.Minute},
		{"Mon, 99 Foo 2026 12:00:00 GMT", "", 0},
	} {
		h := http.Header{"Retry-After": {c.value}, "Date": {c.date}}
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("Retry-After %q, Date %q: %s, want %s", c.value, c.date, got, c.want)
		}
	}
}
