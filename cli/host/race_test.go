//go:build race

package host

// raced says that the race detector makes all of it several times slower.
const raced = true
