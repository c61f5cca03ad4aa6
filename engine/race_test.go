//go:build race

package engine

// raced says that the race detector runs.
const raced = true
