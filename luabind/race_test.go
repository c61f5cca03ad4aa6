//go:build race

package luabind

// slowdown is what the race detector costs where memory is copied and scanned: the bounds in time hold without it.
const slowdown = 40
