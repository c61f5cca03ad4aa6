package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// SaveOptions are the limits of a Save, in place of those of Config, and where the body goes.
type SaveOptions struct {
	MaxSize int64         // of the body, in bytes; 0 is Config's
	Timeout time.Duration // of the whole download; 0 is Config's

	// To is asked where the body goes once the response's header is there; nil is nowhere, and the body is not read. Its error ends the
	// download as it is.
	To func(status int, header http.Header) (io.Writer, error)
}

// WriteError is a body that came and could not be written.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return "writing the body: " + e.Err.Error() }
func (e *WriteError) Unwrap() error { return e.Err }

// saveBuffer is what a Save holds of a body, in bytes.
const saveBuffer = 32 << 10

// Save is Fetch for bodies that may be larger than the memory: they go to a writer as they come. The response has no Body. What was written
// counts only when there is no error: a body that ends early is one. Errors are *Error, *WriteError, or that of To.
func (d *Downloader) Save(ctx context.Context, r *Request, o SaveOptions) (*Response, error) {
	limit, timeout := d.cfg.MaxSize, d.cfg.Timeout
	if o.MaxSize > 0 {
		limit = o.MaxSize
	}
	if o.Timeout > 0 {
		timeout = o.Timeout
	}
	req, watch, err := d.newRequest(ctx, r, timeout)
	if err != nil {
		return nil, invalid(err)
	}
	defer watch.stop()
	start := time.Now()
	res, err := d.roundTrip(watch, req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	out := &Response{
		Status: res.StatusCode, Header: res.Header, Latency: time.Since(start),
		BytesSent: requestSize(req), BytesReceived: headSize(res),
	}
	to, err := o.To(res.StatusCode, res.Header)
	if err != nil || to == nil {
		return out, err
	}
	if err := saveBody(watch, res, out, to, limit); err != nil {
		var write *WriteError
		if errors.As(err, &write) {
			return nil, write
		}
		return nil, classify(watch, err)
	}
	return out, nil
}

// saveBody writes what follows a response's header, decoded.
func saveBody(watch *watch, res *http.Response, out *Response, to io.Writer, limit int64) error {
	if res.ContentLength > limit {
		return tooLarge(limit)
	}
	watch.touch()
	wire := &wire{r: res.Body, watch: watch, limit: limit}
	r, done, err := decode(wire, res.Header["Content-Encoding"], limit)
	if err != nil {
		return err
	}
	defer done()
	err = copyBody(watch, to, &stage{r: r, limit: limit})
	out.BytesReceived += wire.n
	switch {
	case wire.err != nil:
		return wire.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{KindBroken, fmt.Errorf("the compressed body ends early: %w", err)}
	}
	return err
}

// copyBody tells the reader's errors from the writer's, and does not count the time of writing as silence.
func copyBody(watch *watch, to io.Writer, from io.Reader) error {
	buf := make([]byte, saveBuffer)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			watch.pause()
			if _, werr := to.Write(buf[:n]); werr != nil {
				return &WriteError{werr}
			}
			watch.touch()
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}
