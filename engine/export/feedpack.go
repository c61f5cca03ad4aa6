package export

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// member is one gzip member or zstd frame that has no end yet. It can be ended by hand, without the compressor that began it: so a
// file goes on after a crash, and the small chunks of a file share one dictionary all the same.
type member struct {
	Open bool   `json:"open,omitempty"`
	CRC  uint32 `json:"crc,omitempty"`  // of what was compressed
	Size uint32 `json:"size,omitempty"` // of what was compressed, modulo 2^32 (RFC 1952)
}

// packer compresses a file chunk by chunk. Each chunk ends at a byte from which the file can be ended or cut.
type packer struct {
	kind  string // "", gzip or zstd
	enc   flusher
	out   bytes.Buffer
	live  member // as of the last chunk that was kept
	going bool   // enc is inside of live
}

type flusher interface {
	io.Writer
	Flush() error
	Reset(io.Writer)
}

func newPacker(kind string) (*packer, error) {
	p := &packer{kind: kind}
	switch kind {
	case "gzip":
		p.enc = gzip.NewWriter(nil)
	case "zstd":
		// Without a checksum a frame can be ended by hand; with one encoder it has no goroutine to stop.
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		p.enc = enc
	}
	return p, nil
}

// begin says where the file stands: at the start, or as an earlier process has left it.
func (p *packer) begin(m member) { p.live, p.going = m, false }

// pack gives the bytes of a chunk and what is then open. Either keep or drop follows.
func (p *packer) pack(plain []byte) ([]byte, member, error) {
	if p.enc == nil {
		return plain, member{}, nil
	}
	m := p.live
	p.out.Reset()
	if len(plain) == 0 {
		return p.out.Bytes(), m, nil
	}
	if !p.going {
		p.out.Write(m.end(p.kind))
		m = member{Open: true}
		p.enc.Reset(&p.out)
		p.going = true
	}
	if _, err := p.enc.Write(plain); err != nil {
		return nil, member{}, fmt.Errorf("%s: %w", p.kind, err)
	}
	if err := p.enc.Flush(); err != nil {
		return nil, member{}, fmt.Errorf("%s: %w", p.kind, err)
	}
	m.CRC = crc32.Update(m.CRC, crc32.IEEETable, plain)
	m.Size += uint32(len(plain))
	return p.out.Bytes(), m, nil
}

func (p *packer) keep(m member) { p.live = m }

// drop forgets a chunk that did not reach the file; the compressor is ahead of the file now, so the next chunk begins a member.
func (p *packer) drop() { p.going = false }

// end gives the bytes that end a member.
func (m member) end(kind string) []byte {
	switch {
	case !m.Open:
		return nil
	case kind == "gzip":
		b := []byte{0x03, 0x00} // a last block of nothing (RFC 1951, 3.2.6)
		b = binary.LittleEndian.AppendUint32(b, m.CRC)
		return binary.LittleEndian.AppendUint32(b, m.Size)
	default:
		return []byte{0x01, 0x00, 0x00} // a last raw block of nothing (RFC 8878, 3.1.1.2)
	}
}
