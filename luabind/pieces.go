package luabind

import (
	"unsafe"

	lua "github.com/yuin/gopher-lua"
)

// pieceSize is how many bytes are copied at once. Go cannot stop a goroutine inside of a copy, and fresh memory costs a page
// fault every 4 KB, so that copying 60 MB holds up whoever waits for it for 60 ms: the collector, which stops all calls or spins on
// another CPU until it has come to an end. Spiders next door lost 80 % of their rate to that.
const pieceSize = 64 << 10

// appendText is append(b, s...) in pieces between which Go can stop the goroutine.
func appendText(b []byte, s string) []byte {
	if len(b)+len(s) <= pieceSize {
		return append(b, s...)
	}
	if need := len(b) + len(s); need > cap(b) {
		grown := make([]byte, 0, max(need, cap(b)+cap(b)/2))
		b = appendPieces(grown, asText(b))
	}
	return appendPieces(b, s)
}

// appendPieces appends to a slice that has room for all of s.
func appendPieces(b []byte, s string) []byte {
	for len(s) > pieceSize {
		b = appendPiece(b, s[:pieceSize])
		s = s[pieceSize:]
	}
	return append(b, s...)
}

// appendPiece is a function of its own because Go looks at function calls whether a goroutine is to stop: its signals come to nothing while
// nearly all time is spent inside of copies.
//
//go:noinline
func appendPiece(b []byte, piece string) []byte { return append(b, piece...) }

// asText is b as a string without a copy. Nobody may write to b as long as the string is used.
func asText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// newText is a Lua string of what was appended to b, which nobody may write to again. What b has grown too large is not kept.
func newText(b []byte) lua.LString {
	if cap(b)-len(b) > 16+len(b)/4 {
		b = appendPieces(make([]byte, 0, len(b)), asText(b))
	}
	return lua.LString(asText(b))
}
