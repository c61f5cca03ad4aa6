//go:build race

package robots

// slowdown is what the race detector costs.
const slowdown = 20
