//go:build !race

package robots

const slowdown = 1
