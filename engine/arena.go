package engine

import (
	"sync"

	"golang.org/x/net/html"
)

const (
	arenaChunk = 256 // nodes that are made at once
	arenaKept  = 32  // chunks that an arena keeps for the next page, of about 26 KB each
)

// arena is where the nodes of one page are. It goes to the next page when the response is released.
type arena struct {
	chunks [][]html.Node
	used   int // nodes given out
	attrs  []html.Attribute
}

var arenas = sync.Pool{New: func() any { return &arena{} }}

// node returns an empty node.
func (a *arena) node() *html.Node {
	chunk, i := a.used/arenaChunk, a.used%arenaChunk
	if chunk == len(a.chunks) {
		a.chunks = append(a.chunks, make([]html.Node, arenaChunk))
	}
	a.used++
	return &a.chunks[chunk][i]
}

// cut returns the attributes that were appended from start on.
func (a *arena) cut(start int) []html.Attribute {
	if start == len(a.attrs) {
		return nil
	}
	return a.attrs[start:len(a.attrs):len(a.attrs)]
}

// release empties the arena, so that it holds on to nothing of the page, and gives it to the next one.
func (a *arena) release() {
	a.reset()
	arenas.Put(a)
}

func (a *arena) reset() {
	for i := 0; i*arenaChunk < a.used; i++ {
		clear(a.chunks[i][:min(arenaChunk, a.used-i*arenaChunk)])
	}
	if len(a.chunks) > arenaKept {
		a.chunks = a.chunks[:arenaKept:arenaKept]
	}
	clear(a.attrs)
	if a.attrs = a.attrs[:0]; cap(a.attrs) > arenaChunk*arenaKept {
		a.attrs = nil
	}
	a.used = 0
}
