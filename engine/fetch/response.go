package fetch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Response is a page that was fetched whole. Redirects are not followed.
type Response struct {
	Status        int
	Header        http.Header   // as it came, Content-Encoding included
	Body          []byte        // Content-Encoding undone; valid until Release
	BytesSent     int64         // request line, headers and body
	BytesReceived int64         // status line, headers and body as on the wire, without the framing of chunks
	Latency       time.Duration // from the start, connect included, to the end of the response's header

	body body
}

// Release gives the body's memory back; Body must not be used afterwards. More calls than one do nothing.
func (r *Response) Release() {
	r.Body = nil
	r.body.free()
}

// headSize is the size of a status line and header as HTTP/1.1 writes them.
func headSize(r *http.Response) int64 {
	n := int64(len(r.Proto)+len(r.Status)+len(" \r\n\r\n")) + headerSize(r.Header)
	if len(r.TransferEncoding) > 0 {
		n += int64(len("Transfer-Encoding: chunked\r\n"))
	}
	return n
}

// readBody reads, checks and decodes what follows a response's header: most bytes of it, or all when that is 0.
func (d *Downloader) readBody(watch *watch, res *http.Response, out *Response, most int64) error {
	if res.ContentLength == 0 || res.Request.Method == http.MethodHead {
		return nil
	}
	if most == 0 && res.ContentLength > d.cfg.MaxSize {
		return tooLarge(d.cfg.MaxSize)
	}
	watch.touch()
	wire := &wire{r: res.Body, watch: watch, limit: d.cfg.MaxSize}
	r, done, err := decode(wire, res.Header["Content-Encoding"], d.cfg.MaxSize)
	if err != nil {
		return err
	}
	defer done()
	hint := sizeHint(res)
	if most > 0 {
		r, hint = io.LimitReader(r, most), min(hint, most)
	}
	out.body = body{memory: d.memory, limit: d.cfg.MaxSize}
	out.Body, err = out.body.read(watch, r, hint)
	out.BytesReceived += wire.n
	switch {
	case wire.err != nil:
		return wire.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{KindBroken, fmt.Errorf("the compressed body ends early: %w", err)}
	}
	return err
}

// sizeHint guesses the size of a body; 0 is no idea.
func sizeHint(res *http.Response) int64 {
	if res.ContentLength <= 0 {
		return 0
	}
	if len(res.Header["Content-Encoding"]) > 0 {
		return 4 * res.ContentLength // what gzip makes of ordinary HTML
	}
	return res.ContentLength
}

// wire reads a body as it comes from the network. It tells the watch of every sign of life and keeps the network's
// error apart from what a decoder makes of it.
type wire struct {
	r        io.Reader
	watch    *watch
	n, limit int64
	err      error
}

func (w *wire) Read(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.r.Read(p)
	w.n += int64(n)
	switch {
	case w.n > w.limit:
		w.err = tooLarge(w.limit)
		return 0, w.err
	case err == nil:
		w.watch.touch()
	case err != io.EOF:
		w.err = err
	}
	return n, err
}

func tooLarge(limit int64) error {
	return &Error{KindTooLarge, fmt.Errorf("the body is larger than %d bytes", limit)}
}
