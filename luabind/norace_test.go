//go:build !race

package luabind

const slowdown = 1
