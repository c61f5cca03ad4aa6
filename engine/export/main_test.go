package export

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes this test binary a feed's process for the tests that kill one.
func TestMain(m *testing.M) {
	if job := os.Getenv("FEED_PROCESS"); job != "" {
		if err := feedProcess(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
