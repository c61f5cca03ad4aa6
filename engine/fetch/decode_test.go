package fetch

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
)

var quiet = log.New(io.Discard, "", 0)

func gzipped(s string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.Bytes()
}

func zlibbed(s string) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.Bytes()
}

func deflated(s string) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 6)
	io.WriteString(w, s)
	w.Close()
	return b.Bytes()
}

// encodingServer sends body with the encodings of its fields.
func encodingServer(t testing.TB, body []byte, fields ...string) string {
	return newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Encoding"] = fields
		w.Header().Set("Content-Type", "text/html")
		w.Write(body)
	}).URL
}

func TestDecode(t *testing.T) {
	t.Parallel()
	const text = "some text, some text, some text"
	long := randomText(100_000)
	cases := []struct {
		name   string
		body   []byte
		want   string
		fields []string
	}{
		{"none", []byte(text), text, nil},
		{"identity", []byte(text), text, []string{"identity"}},
		{"none of the encodings", []byte(text), text, []string{"UTF-8"}},
		{"empty name", []byte(text), text, []string{""}},
		{"gzip", gzipped(text), text, []string{"gzip"}},
		{"x-gzip, upper case", gzipped(text), text, []string{" X-GZIP "}},
		{"long gzip", gzipped(long), long, []string{"gzip"}},
		{"members", append(gzipped("some "), gzipped("text")...), "some text", []string{"gzip"}},
		{"empty members", append(gzipped(""), append(gzipped("text"), gzipped("")...)...), "text", []string{"gzip"}},
		{"trailing zeros", append(gzipped(text), make([]byte, 9000)...), text, []string{"gzip"}},
		{"trailing byte", append(gzipped(text), '\n'), text, []string{"gzip"}},
		{"zlib", zlibbed(text), text, []string{"deflate"}},
		{"raw deflate", deflated(text), text, []string{"deflate"}},
		{"long deflate", deflated(long), long, []string{"deflate"}},
		{"two in a field", gzipped(string(zlibbed(text))), text, []string{"deflate, gzip"}},
		{"two fields", zlibbed(string(gzipped(text))), text, []string{"gzip", "identity, deflate"}},
		{"nothing of gzip", nil, "", []string{"gzip"}},
		{"nothing of deflate", nil, "", []string{"deflate"}},
		{"gzip of nothing", gzipped(""), "", []string{"gzip"}},
	}
	d := newDownloader(t, Config{})
	for range 2 { // the second time with decoders that were used before
		for _, c := range cases {
			if got := mustGet(t, d, encodingServer(t, c.body, c.fields...)); got != c.want {
				t.Errorf("%s: got %d bytes %.40q", c.name, len(got), got)
			}
		}
	}
	wantAllFree(t, d)
}

// randomText compresses, but not to nothing.
func randomText(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefgh"[r.IntN(8)]
	}
	return string(b)
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	wrong := gzipped("some text")
	wrong[len(wrong)-6] ^= 1
	cases := []struct {
		name   string
		body   []byte
		fields []string
	}{
		{"not gzip", []byte("<html>plain after all</html>"), []string{"gzip"}},
		{"checksum", wrong, []string{"gzip"}},
		{"not deflate", []byte("\xff\xff\xff\xff\xff\xff"), []string{"deflate"}},
		{"brotli", []byte("not brotli"), []string{"br"}},
		{"one of two unknown", gzipped("x"), []string{"zstd, gzip"}},
		{"too many", gzipped("x"), []string{strings.Repeat("gzip,", 6)}},
		{"second not gzip", gzipped("plain text, not gzip"), []string{"gzip, gzip"}},
	}
	d := newDownloader(t, Config{})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res, err := get(t, d, encodingServer(t, c.body, c.fields...))
			wantKind(t, d, res, err, KindDecode)
		})
	}
	if got := mustGet(t, d, encodingServer(t, gzipped("fine"), "gzip")); got != "fine" {
		t.Errorf("after errors: %q", got)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	const limit = 50_000
	bomb := string(gzipped(strings.Repeat("\x00", 2_000_000)))
	cases := []struct {
		name   string
		body   []byte
		fields []string
		chunks bool
	}{
		{"length", make([]byte, limit+1), nil, false},
		{"chunked", make([]byte, limit+1), nil, true},
		{"gzip bomb", []byte(bomb), []string{"gzip"}, false},
		{"deflate bomb", zlibbed(strings.Repeat("\x00", 2_000_000)), []string{"deflate"}, false},
		{"bomb in gzip", gzipped(bomb), []string{"gzip, gzip"}, false},
		{"bomb that decodes to nothing", gzipped(strings.Repeat(string(gzipped("")), 100_000)), []string{"gzip, gzip"}, false},
		{"one byte over", gzipped(strings.Repeat("x", limit+1)), []string{"gzip"}, false},
		{"empty members for ever", bytes.Repeat(gzipped(""), 5000), []string{"gzip"}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Encoding"] = c.fields
				w.Header().Set("Content-Type", "text/html")
				if c.chunks {
					w.(http.Flusher).Flush()
				}
				w.Write(c.body)
			})
			d := newDownloader(t, Config{MaxSize: limit})
			res, err := get(t, d, s.URL)
			wantKind(t, d, res, err, KindTooLarge)
		})
	}
	d := newDownloader(t, Config{MaxSize: limit})
	for _, body := range []string{encodingServer(t, make([]byte, limit)), encodingServer(t, gzipped(strings.Repeat("x", limit)), "gzip")} {
		if n := len(mustGet(t, d, body)); n != limit {
			t.Errorf("at the limit: %d", n)
		}
	}
}

func TestTooLargeHeader(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"X-A: " + strings.Repeat("x", 100_000) + "\r\n", strings.Repeat("X-A: b\r\n", 20_000)} {
		u := rawServer(t, func(c net.Conn, _ string, _ <-chan struct{}) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\n"+header+"Content-Length: 0\r\n\r\n")
			io.Copy(io.Discard, c) // else the close resets what was not read
		})
		d := newDownloader(t, Config{MaxHeader: 50_000})
		res, err := get(t, d, u)
		wantKind(t, d, res, err, KindTooLarge)
	}
}

// A header of HEAD, 204 and 304 speaks of a body that does not come.
func TestDecodeNoBody(t *testing.T) {
	t.Parallel()
	d := newDownloader(t, Config{MaxSize: 10})
	for _, reply := range []string{"HTTP/1.1 304 Not Modified", "HTTP/1.1 200 OK"} {
		u := rawServer(t, answer(reply+"\r\nContent-Encoding: br\r\nContent-Length: 5000\r\n\r\n"))
		res, err := d.Fetch(t.Context(), &Request{Method: "HEAD", URL: u})
		if err != nil || len(res.Body) != 0 {
			t.Errorf("%s: %v, %v", reply, res, err)
		}
	}
}

// Whatever comes, decoding ends with all of the data or one of our errors, within the limit.
func FuzzDecode(f *testing.F) {
	f.Add(gzipped("text"), "gzip")
	f.Add(append(gzipped("a"), gzipped("b")...), "x-gzip")
	f.Add(zlibbed("text"), "deflate")
	f.Add(deflated("text"), "deflate")
	f.Add(gzipped(string(gzipped("text"))), "gzip,gzip")
	f.Add([]byte("\x1f\x8b"), "gzip")
	f.Fuzz(func(t *testing.T, data []byte, encoding string) {
		r, done, err := decode(bytes.NewReader(data), []string{encoding}, 1<<16)
		if err == nil {
			_, err = io.Copy(io.Discard, io.LimitReader(r, 1<<20))
			done()
		}
		var own *Error
		if err != nil && err != io.ErrUnexpectedEOF && !errors.As(err, &own) {
			t.Errorf("%v", err)
		}
	})
}
