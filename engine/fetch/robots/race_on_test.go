//go:build race

package robots

// slowdown is what the race detector costs the matcher beyond what it costs the loop that it is measured against.
const slowdown = 40
