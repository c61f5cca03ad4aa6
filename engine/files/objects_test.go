package files

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"luacrawl/engine/bucket/buckettest"
)

// A bucket that cannot be used is an error of each step, which says what is wrong and holds no secret, and nothing is half there afterwards.
func TestBucketThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	const u = "http://a.test/x"
	for name, c := range map[string]struct {
		spoil      func(b *buckettest.Bucket)
		store      string
		known, put string // errors of Known, and of Claim and Keep; "" for none
	}{
		"503":         {func(b *buckettest.Bucket) { b.Status.Store(503) }, "s3://pages/x", "bucket pages at 127.0.0.1:PORT: Service Unavailable", "Service Unavailable"},
		"bad secret":  {func(b *buckettest.Bucket) { b.Status.Store(403) }, "s3://pages/x", "Forbidden: the credentials are wrong, or may not read, write and list there", "Forbidden"},
		"read-only":   {func(b *buckettest.Bucket) { b.Refused.Store(403) }, "s3://pages/x", "", "Forbidden"},
		"absent":      {func(*buckettest.Bucket) {}, "s3://nobody/x", "bucket nobody at 127.0.0.1:PORT is not there", "is not there"},
		"odd answer":  {func(b *buckettest.Bucket) { b.Status.Store(418) }, "s3://pages/x", "I'm a teapot", "I'm a teapot"},
		"fine at all": {func(*buckettest.Bucket) {}, "s3://pages/x", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := buckettest.New(t)
			c.spoil(b)
			s := bucketStore(t, b, c.store)
			want := func(step string, err error, text string) {
				t.Helper()
				text = strings.ReplaceAll(text, "127.0.0.1:PORT", strings.TrimPrefix(b.URL, "http://"))
				if (err == nil) != (text == "") || err != nil && !strings.Contains(err.Error(), text) {
					t.Errorf("%s: %v, want %q", step, err, text)
				}
				if err != nil {
					buckettest.WantNoSecret(t, err)
				}
			}
			_, ok, err := s.Known(t.Context(), u)
			want("known", err, c.known)
			release, err := s.Claim(t.Context(), u)
			want("claim", err, c.put)
			if err == nil {
				release()
			}
			f := begin(t, s.Store, "hello")
			_, err = f.Keep(t.Context(), u, "")
			want("keep", err, c.put)
			f.Discard()
			wantSpoolEmpty(t, s.Store)
			b.Status.Store(0)
			b.Refused.Store(0)
			if left := s.names(); ok || c.put != "" && len(left) > 0 || c.put == "" && len(left) != 2 {
				t.Errorf("known %v, left %q", ok, left)
			}
		})
	}
}

// A short 503 is nobody's trouble.
func TestBucketIsAskedAgain(t *testing.T) {
	t.Parallel()
	b := buckettest.New(t)
	var n atomic.Int32
	b.Hold = func(*http.Request) { b.Status.Store(map[bool]int32{true: 503}[n.Add(1)%2 == 1]) }
	s := bucketStore(t, b, "s3://pages")
	keep(t, s.Store, "http://a.test/x", "image/png", "hello")
	if _, ok, err := s.Known(t.Context(), "http://a.test/x"); !ok || err != nil {
		t.Errorf("known %v %v", ok, err)
	}
}

// What is there is not sent again.
func TestSameContentIsUploadedOnce(t *testing.T) {
	t.Parallel()
	b := buckettest.New(t)
	s := bucketStore(t, b, "s3://pages/x")
	for n := range 5 {
		before := b.Puts.Load()
		keep(t, s.Store, fmt.Sprintf("http://a.test/%d.png", n), "", "hello")
		if puts := b.Puts.Load() - before; n > 0 && puts != 1 { // the note
			t.Errorf("%d uploads for file %d", puts, n)
		}
	}
}

func TestEnvironmentOfABucket(t *testing.T) {
	t.Parallel()
	o, err := ParseOptions(map[string]any{"store": "s3://pages/x"})
	if err != nil {
		t.Fatal(err)
	}
	for want, outside := range map[string]Outside{
		`store "s3://pages/x": of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only one is set`: {Spool: "x", Env: func(name string) string { return map[string]string{"AWS_ACCESS_KEY_ID": "s3cret"}[name] }},
		`store "s3://pages/x": endpoint: want http(s)://host:port`:                             {Spool: "x", Env: func(name string) string { return map[string]string{"AWS_ENDPOINT_URL_S3": "ftp://x"}[name] }},
		`store "s3://pages/x": a bucket needs a folder`:                                        {},
	} {
		_, err := NewStore(o, outside)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A site's Content-Type that no bucket takes does not keep its file out.
func TestOddContentTypes(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"text/html; charset=utf-8":              "text/html; charset=utf-8",
		"image/PNG; name=\"é\x01\"":             "image/png; name*=utf-8''%C3%A9%01",
		"x":                                     "x",
		"text/\x00html":                         "",
		"":                                      "",
		"a/b; x=" + strings.Repeat("y", 10_000): "a/b",
		"a/" + strings.Repeat("y", 10_000):      "",
		strings.Repeat("y", 10_000) + "; x=y":   "",
	} {
		if got := cleanType(given); got != want {
			t.Errorf("%.50q: %q, want %q", given, got, want)
		}
	}
}

// swallow is a bucket that takes everything in and keeps none of it.
func swallow(w http.ResponseWriter, r *http.Request) {
	n, _ := io.Copy(io.Discard, r.Body)
	switch query := r.URL.Query(); {
	case r.Method == http.MethodHead:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodPost && query.Has("uploads"):
		io.WriteString(w, `<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>`)
	case r.Method == http.MethodPost:
		io.WriteString(w, `<CompleteMultipartUploadResult><Bucket>pages</Bucket><ETag>"1-5"</ETag></CompleteMultipartUploadResult>`)
	default:
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, n))
	}
}

// TestLargeFilesAreNoMemory writes and uploads a file of which only pieces may be in memory. It runs alone, since it counts what the process
// allocates.
func TestLargeFilesAreNoMemory(t *testing.T) {
	const size, piece = 100 << 20, 1 << 20
	var uploaded atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			uploaded.Add(r.ContentLength)
		}
		swallow(w, r)
	}))
	defer server.Close()
	env := func(name string) string { return map[string]string{"AWS_ENDPOINT_URL": server.URL}[name] }
	s := newTestStore(t, map[string]any{"store": "s3://pages/x", "max_size": "1GB"}, Outside{Spool: t.TempDir(), Env: env})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	block := make([]byte, piece)
	for range size / piece {
		if _, err := f.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Keep(t.Context(), "http://a.test/x", ""); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	grown := after.TotalAlloc - before.TotalAlloc
	t.Logf("%d KB were allocated", grown>>10)
	if grown > size/16 {
		t.Errorf("%d MB were allocated for a file of %d MB", grown>>20, size>>20)
	}
	if uploaded.Load() < size {
		t.Errorf("%d bytes arrived", uploaded.Load())
	}
}

// A bucket that hangs is an error in time, and its claim does not outlive who has made it.
func TestBucketThatHangs(t *testing.T) {
	t.Parallel()
	b := buckettest.New(t)
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	b.Hold = func(r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}
	s := bucketStore(t, b, "s3://pages")
	s.keeper.(*objects).calls = 50 * time.Millisecond
	start := time.Now()
	if _, _, err := s.Known(t.Context(), "http://a.test/x"); err == nil {
		t.Error("it was known")
	}
	if _, err := s.Claim(t.Context(), "http://a.test/x"); err == nil || errors.Is(err, ErrClaimed) {
		t.Errorf("claim: %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}
