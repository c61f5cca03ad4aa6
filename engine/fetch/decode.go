package fetch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
)

// maxEncodings bounds how often a body may be compressed over; more than two is not seen in earnest.
const maxEncodings = 5

// decode undoes a body's content encodings, the last applied first. done gives the decoders back and must be called after the
// last read. Every stage is bounded by limit, so that a bomb within a bomb costs no more than one.
func decode(r io.Reader, header []string, limit int64) (plain io.Reader, done func(), err error) {
	names, err := encodings(header)
	if err != nil || len(names) == 0 {
		return r, func() {}, err
	}
	used := make([]*inflater, 0, len(names))
	for i, name := range slices.Backward(names) {
		in := inflaters.Get().(*inflater)
		in.reset(r, name)
		used = append(used, in)
		if r = in; i > 0 {
			r = &stage{r: in, limit: limit}
		}
	}
	return r, func() {
		for _, in := range used {
			in.release()
		}
	}, nil
}

// encodings reads Content-Encoding fields (RFC 9110, 8.4): the encodings in order of application. "identity" is left out, and so is
// what servers write there by mistake and browsers pass over.
func encodings(header []string) ([]string, error) {
	var names []string
	for _, field := range header {
		for name := range strings.SplitSeq(field, ",") {
			switch name = strings.ToLower(strings.TrimSpace(name)); name {
			case "", "identity", "none", "utf-8", "utf8", "binary", "8bit":
			case "gzip", "x-gzip":
				names = append(names, "gzip")
			case "deflate":
				names = append(names, name)
			default:
				return nil, &Error{KindDecode, fmt.Errorf("content encoding %q was not asked for and is not known", name)}
			}
		}
	}
	if len(names) > maxEncodings {
		return nil, &Error{KindDecode, fmt.Errorf("%d content encodings on top of each other", len(names))}
	}
	return names, nil
}

// stage bounds what passes from one decoder to the next.
type stage struct {
	r        io.Reader
	n, limit int64
}

func (s *stage) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if s.n += int64(n); s.n > s.limit {
		return 0, tooLarge(s.limit)
	}
	return n, err
}

var inflaters = sync.Pool{New: func() any { return &inflater{in: bufio.NewReader(nil)} }}

// inflater undoes one gzip or deflate. Its decoders are made when first needed and used again.
type inflater struct {
	in     *bufio.Reader
	format string
	cur    io.Reader // nil before the first byte
	gzip   *gzip.Reader
	zlib   io.ReadCloser
	flate  io.ReadCloser
}

func (f *inflater) reset(r io.Reader, format string) {
	f.in.Reset(r)
	f.format, f.cur = format, nil
}

func (f *inflater) release() {
	f.in.Reset(nil)
	f.cur = nil
	inflaters.Put(f)
}

// Read gives io.ErrUnexpectedEOF for data that end early and a KindDecode for data that are wrong.
func (f *inflater) Read(p []byte) (int, error) {
	for {
		if f.cur == nil {
			if err := f.open(); err != nil {
				return 0, decodeError(f.format, err)
			}
		}
		n, err := f.cur.Read(p)
		if err == io.EOF {
			if err = f.next(); err == nil && n == 0 {
				continue
			}
		}
		return n, decodeError(f.format, err)
	}
}

// open chooses the decoder by the first bytes; a body without any is empty, compressed or not.
func (f *inflater) open() (err error) {
	head, err := f.in.Peek(2)
	if len(head) == 0 || err != nil && err != io.EOF {
		return err
	}
	switch {
	case f.format == "gzip":
		err = f.openGzip()
	case len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0:
		err = f.openZlib()
	default: // some servers have always sent raw deflate under this name
		err = f.openFlate()
	}
	return noEOF(err)
}

func (f *inflater) openGzip() (err error) {
	if f.gzip == nil {
		f.gzip, err = gzip.NewReader(f.in)
	} else {
		err = f.gzip.Reset(f.in)
	}
	if err != nil {
		return err
	}
	f.gzip.Multistream(false)
	f.cur = f.gzip
	return nil
}

func (f *inflater) openZlib() (err error) {
	if f.zlib == nil {
		f.zlib, err = zlib.NewReader(f.in)
	} else {
		err = f.zlib.(zlib.Resetter).Reset(f.in, nil)
	}
	f.cur = f.zlib
	return err
}

func (f *inflater) openFlate() (err error) {
	if f.flate == nil {
		f.flate = flate.NewReader(f.in)
	} else {
		err = f.flate.(flate.Resetter).Reset(f.in, nil)
	}
	f.cur = f.flate
	return err
}

// next goes on to a further gzip member, or reads what else follows, as browsers do, to leave the connection fit for
// another request. Its error is io.EOF at the end.
func (f *inflater) next() error {
	head, err := f.in.Peek(2)
	if f.format == "gzip" && len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		return noEOF(f.openGzip())
	}
	if err == nil {
		_, err = io.Copy(io.Discard, f.in)
	}
	if err != nil && err != io.EOF {
		return err
	}
	return io.EOF
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func decodeError(format string, err error) error {
	var own *Error
	if err == nil || err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &own) {
		return err
	}
	return &Error{KindDecode, fmt.Errorf("%s: %w", format, err)}
}
