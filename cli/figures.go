package cli

import (
	"fmt"
	"time"
)

// span writes a time that has passed as a person would: 45s, 3m12s, 5h03m, 12d4h.
func span(d time.Duration) string {
	d = d.Truncate(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}

// bytesText writes a size with one unit.
func bytesText(n int64) string {
	switch {
	case n < 1<<20:
		return fmt.Sprintf("%d kB", n>>10)
	case n < 10<<30:
		return fmt.Sprintf("%s MB", thousands(n>>20))
	}
	return fmt.Sprintf("%s GB", thousands(n>>30))
}

// rateText writes pages a second.
func rateText(rate float64) string {
	if rate >= 99.95 {
		return thousands(int64(rate + 0.5))
	}
	return fmt.Sprintf("%.1f", rate)
}
