//go:build race

package cli_test

// raced says that the race detector makes all of it several times slower.
const raced = true
