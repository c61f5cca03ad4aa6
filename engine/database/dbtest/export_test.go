package dbtest

import "testing"

// Need is how the test of a server ends that is not there.
func Need(t testing.TB, ci string) { needIn(t, "a server", "", ci) }
