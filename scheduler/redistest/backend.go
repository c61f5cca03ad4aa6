package redistest

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
)

// Backends are the servers that a conformance suite runs on.
var Backends = []string{"miniredis", "redis"}

// URL starts a server of one of the Backends for a test and returns its URL.
func URL(t testing.TB, backend string) string {
	t.Helper()
	if backend == "miniredis" {
		return "redis://" + miniredis.RunT(t).Addr() + "/0"
	}
	return Start(t, Options{}).URL()
}

// Each runs a test on every backend, in parallel.
func Each(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for _, backend := range Backends {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			test(t, URL(t, backend))
		})
	}
}
