package fetch

import (
	"io"
	"math/bits"
	"sync"
)

// Buffers of 4 KB to 1 MB, in powers of two, are used again; larger ones are rare enough to be made anew.
const (
	minClass = 12
	maxClass = 20
)

// firstSize is the first buffer of a body of unknown size: an ordinary HTML page.
const firstSize = 32 << 10

var buffers [maxClass + 1]sync.Pool // by class, of *buffer

type buffer struct{ b []byte }

// newBuffer has room for size bytes or more.
func newBuffer(size int64) *buffer {
	class := max(bits.Len64(uint64(size-1)), minClass)
	if class > maxClass {
		return &buffer{make([]byte, 0, size)}
	}
	if b, ok := buffers[class].Get().(*buffer); ok {
		return b
	}
	return &buffer{make([]byte, 0, 1<<class)}
}

// recycle keeps a buffer for the next body.
func (b *buffer) recycle() {
	if class := bits.Len(uint(cap(b.b)) - 1); class <= maxClass {
		b.b = b.b[:0]
		buffers[class].Put(b)
	}
}

// body is the memory of one response's body. Its zero value holds none.
type body struct {
	memory *Memory
	limit  int64 // of the body's size, bytes
	grant  grant
	buf    *buffer
}

// read reads r to its end into memory of the budget. hint is the expected size, 0 for unknown.
func (b *body) read(watch *watch, r io.Reader, hint int64) ([]byte, error) {
	size := int64(firstSize)
	if hint > 0 {
		size = hint + 1 // one more, so that the end is met without growing
	}
	if err := b.grow(watch, size); err != nil {
		return nil, err
	}
	for {
		data := b.buf.b
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		b.buf.b = data
		switch {
		case int64(len(data)) > b.limit:
			return nil, tooLarge(b.limit)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		case len(data) == cap(data):
			if err := b.grow(watch, 2*int64(cap(data))); err != nil {
				return nil, err
			}
		}
	}
}

// grow moves the body to a buffer of size bytes or more; more than limit+1 is never needed. What a server promises is not
// believed beyond 1 MB: a larger buffer is made only when a smaller one is full.
func (b *body) grow(watch *watch, size int64) error {
	if b.buf == nil {
		size = min(size, 1<<maxClass)
	}
	size = min(size, b.limit+1)
	if size <= 1<<maxClass {
		size = 1 << max(bits.Len64(uint64(size-1)), minClass)
	}
	if w := b.memory.take(&b.grant, size); w != nil {
		watch.pause()
		if err := b.memory.wait(watch, w); err != nil {
			return err
		}
		watch.touch()
	}
	old := b.buf
	b.buf = newBuffer(size)
	if old != nil {
		b.buf.b = append(b.buf.b, old.b...)
		b.memory.give(&b.grant, int64(cap(old.b)))
		old.recycle()
	}
	return nil
}

// free gives everything back.
func (b *body) free() {
	if b.buf != nil {
		b.buf.recycle()
		b.buf = nil
	}
	if b.memory != nil {
		b.memory.give(&b.grant, b.grant.held)
		b.memory = nil
	}
}
