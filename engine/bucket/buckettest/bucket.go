// Package buckettest is a bucket in memory for tests.
package buckettest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Bucket is a bucket named "pages", which can be told to misbehave.
type Bucket struct {
	URL     string
	Status  atomic.Int32            // answered to everything, 0 for none
	Refused atomic.Int32            // answered to what writes, 0 for none
	Simple  atomic.Bool             // it knows no conditional PUT, and says so
	Lose    atomic.Int32            // so many PUTs and POSTs arrive, and their answers do not
	Refuse  func(*http.Request) int // nil unless set before the first request; answered to the request, 0 for none
	Puts    atomic.Int32            // and POSTs
	Hold    func(*http.Request)     // nil unless set before the first request; may keep a request waiting
	backend gofakes3.Backend
	handler http.Handler
}

// New starts a bucket, which ends with the test.
func New(t *testing.T) *Bucket {
	t.Helper()
	b := &Bucket{backend: s3mem.New()}
	if err := b.backend.CreateBucket("pages"); err != nil {
		t.Fatal(err)
	}
	b.handler = gofakes3.New(b.backend).Server()
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	b.URL = server.URL
	return b
}

func (b *Bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b.Hold != nil {
		b.Hold(r)
	}
	if b.Refuse != nil {
		if status := b.Refuse(r); status != 0 {
			refuse(w, int32(status))
			return
		}
	}
	writes := r.Method != http.MethodGet && r.Method != http.MethodHead
	switch {
	case b.Status.Load() != 0:
		refuse(w, b.Status.Load())
		return
	case writes && b.Refused.Load() != 0:
		refuse(w, b.Refused.Load())
		return
	case writes && b.Simple.Load() && r.Header.Get("If-None-Match") != "":
		refuse(w, http.StatusNotImplemented)
		return
	}
	if r.Method == http.MethodPut || r.Method == http.MethodPost {
		b.Puts.Add(1)
		unsign(r)
		if b.Lose.Add(-1) >= 0 {
			b.handler.ServeHTTP(httptest.NewRecorder(), r)
			refuse(w, http.StatusServiceUnavailable)
			return
		}
	}
	b.handler.ServeHTTP(w, r)
}

func refuse(w http.ResponseWriter, status int32) {
	code := map[int32]string{http.StatusServiceUnavailable: "SlowDown", http.StatusForbidden: "SignatureDoesNotMatch"}[status]
	w.WriteHeader(int(status))
	if code == "" {
		code = "Refused"
	}
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>as the test wants it</Message></Error>", code)
}

// unsign takes the signatures out of a body that is signed piece by piece (SigV4, aws-chunked), which the stand-in does not do for
// parts of an upload.
func unsign(r *http.Request) {
	if r.URL.Query().Get("partNumber") == "" || !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return
	}
	in, body := bufio.NewReader(r.Body), &bytes.Buffer{}
	for {
		var size int64
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		if _, err := fmt.Sscanf(line, "%x;", &size); err != nil || size == 0 {
			break
		}
		if _, err := io.CopyN(body, in, size); err != nil {
			break
		}
		_, _ = in.Discard(2)
	}
	r.Header.Del("X-Amz-Content-Sha256")
	r.Body, r.ContentLength = io.NopCloser(body), int64(body.Len())
	r.Header.Set("Content-Length", fmt.Sprint(body.Len()))
}

// Credentials are those of Env.
const keyID, secret = "AKIAEXAMPLE", "s3cret-s3cret"

// Environ is what a process needs to find the bucket, as NAME=value.
func (b *Bucket) Environ() []string {
	return []string{"AWS_ACCESS_KEY_ID=" + keyID, "AWS_SECRET_ACCESS_KEY=" + secret, "AWS_ENDPOINT_URL=" + b.URL}
}

// Env is Environ, by name.
func (b *Bucket) Env(name string) string {
	for _, line := range b.Environ() {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value
		}
	}
	return ""
}

// WantNoSecret fails a test whose message holds a credential.
func WantNoSecret(t *testing.T, err error) {
	t.Helper()
	if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), keyID) {
		t.Errorf("a credential is in the message: %v", err)
	}
}

// Objects are the bucket's objects by their keys.
func (b *Bucket) Objects(t *testing.T) map[string][]byte {
	t.Helper()
	list, err := b.backend.ListBucket("pages", &gofakes3.Prefix{}, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, content := range list.Contents {
		object, err := b.backend.GetObject("pages", content.Key, nil)
		if gofakes3.HasErrorCode(err, gofakes3.ErrNoSuchKey) {
			continue // it has gone meanwhile
		}
		if err != nil {
			t.Fatal(err)
		}
		if all[content.Key], err = io.ReadAll(object.Contents); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Put puts an object by the back door.
func (b *Bucket) Put(t *testing.T, key, content string) {
	t.Helper()
	if _, err := b.backend.PutObject("pages", key, map[string]string{}, strings.NewReader(content), int64(len(content)), nil); err != nil {
		t.Fatal(err)
	}
}

// Delete removes an object by the back door.
func (b *Bucket) Delete(t *testing.T, key string) {
	t.Helper()
	if _, err := b.backend.DeleteObject("pages", key); err != nil {
		t.Fatal(err)
	}
}
