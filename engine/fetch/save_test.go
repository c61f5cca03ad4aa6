package fetch

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

var errFull = errors.New("disk full")

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errFull }

func TestSave(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(gzipped(strings.Repeat("x", 5000)))
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(gzipped(strings.Repeat("x", 50_000)))
		case "/torn":
			w.Header().Set("Content-Encoding", "gzip")
			b := gzipped(randomText(5000))
			w.Write(b[:len(b)/2])
		case "/cut":
			w.Header().Set("Content-Length", "5000")
			w.Write(make([]byte, 100))
		case "/said":
			w.Header().Set("Content-Length", "10737418240")
		case "/long":
			for range 100 {
				if _, err := w.Write(make([]byte, 1000)); err != nil {
					return
				}
			}
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, "no")
		default:
			io.WriteString(w, strings.Repeat("x", 5000))
		}
	})
	d := newDownloader(t, Config{MaxSize: 10, Memory: NewMemory(1)}) // for pages, and not for what is saved
	refused := errors.New("refused")
	for path, c := range map[string]struct {
		want Kind
		size int
	}{
		"/": {"", 5000}, "/gzip": {"", 5000}, "/missing": {"", 0}, "/bomb": {KindTooLarge, -1}, "/torn": {KindBroken, -1}, "/cut": {KindBroken, -1},
		"/said": {KindTooLarge, 0}, "/long": {KindTooLarge, -1},
	} {
		var body bytes.Buffer
		res, err := d.Save(t.Context(), &Request{URL: s.URL + path}, SaveOptions{MaxSize: 10_000, To: func(status int, _ http.Header) (io.Writer, error) {
			if status != http.StatusOK {
				return nil, nil
			}
			return &body, nil
		}})
		var own *Error
		if errors.As(err, &own); c.want == "" && (err != nil || res == nil) || c.want != "" && (own == nil || own.Kind != c.want) {
			t.Errorf("%s: %v %v, want kind %q", path, res, err, c.want)
		}
		if c.size >= 0 && body.Len() != c.size || body.Len() > 10_000 {
			t.Errorf("%s: %d bytes, want %d", path, body.Len(), c.size)
		}
	}
	var write *WriteError
	_, err := d.Save(t.Context(), &Request{URL: s.URL}, SaveOptions{MaxSize: 10_000, To: func(int, http.Header) (io.Writer, error) { return fullWriter{}, nil }})
	if !errors.As(err, &write) || !errors.Is(err, errFull) {
		t.Errorf("a disk that is full: %v", err)
	}
	if _, err = d.Save(t.Context(), &Request{URL: s.URL}, SaveOptions{To: func(int, http.Header) (io.Writer, error) { return nil, refused }}); !errors.Is(err, refused) {
		t.Errorf("refused: %v", err)
	}
	wantAllFree(t, d)
}
