package export

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// fakeBucket is a bucket named "pages" in memory, which can be told to answer an error.
type fakeBucket struct {
	backend gofakes3.Backend
	url     string
	status  atomic.Int32 // answered to everything, 0 for none
	puts    atomic.Int32
	// lose makes the next PUT arrive, and its answer not.
	lose atomic.Bool
}

func newFakeBucket(t *testing.T) *fakeBucket {
	b := &fakeBucket{backend: s3mem.New()}
	if err := b.backend.CreateBucket("pages"); err != nil {
		t.Fatal(err)
	}
	handler := gofakes3.New(b.backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status := b.status.Load(); status != 0 {
			w.WriteHeader(int(status))
			_, _ = io.WriteString(w, "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>")
			return
		}
		if r.Method == http.MethodPut || r.Method == http.MethodPost {
			b.puts.Add(1)
			unsign(r)
			if b.lose.Load() {
				handler.ServeHTTP(httptest.NewRecorder(), r)
				w.WriteHeader(http.StatusServiceUnavailable)
				b.status.Store(http.StatusServiceUnavailable)
				return
			}
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
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

// config is a feed into the bucket by way of a folder.
func (b *fakeBucket) config(key, spool string) FeedConfig {
	env := map[string]string{"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s3cret-s3cret", "AWS_ENDPOINT_URL": b.url}
	return FeedConfig{URI: "s3://pages/" + key, Spool: spool, Spider: "news", Host: "h1", Crawl: "one", Env: func(name string) string { return env[name] }}
}

// objects writes the bucket's objects into a folder and returns their names.
func (b *fakeBucket) objects(t *testing.T) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	list, err := b.backend.ListBucket("pages", &gofakes3.Prefix{}, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range list.Contents {
		object, err := b.backend.GetObject("pages", content.Key, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(object.Contents)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(content.Key, "/", "_")), body, 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, content.Key)
	}
	return dir, names
}

func TestBucketGetsWholeParts(t *testing.T) {
	t.Parallel()
	everyShape(t, func(t *testing.T, ending string) {
		b, spool := newFakeBucket(t), filepath.Join(t.TempDir(), "spool")
		c := b.config("%(spider)s/%(host)s-%(part)d."+ending, spool)
		c.RotateCount = 10
		sink := openFeed(t, c)
		write(t, sink, records(0, 25))
		_, names := b.objects(t)
		if diff := cmp.Diff([]string{"news/h1-1." + ending, "news/h1-2." + ending}, names); diff != "" {
			t.Errorf("while it is written: %s", diff)
		}
		crash(t, sink)
		sink = openFeed(t, c)
		write(t, sink, records(0, 28))
		closeFeed(t, sink)
		dir, names := b.objects(t)
		if len(names) != 3 {
			t.Errorf("objects: %v", names)
		}
		wantOnce(t, dir, 28)
		if rest := spooled(t, spool); len(rest) > 0 {
			t.Errorf("left in the spool: %v", rest)
		}
	})
}

// spooled are a spool's files but for journal and lock.
func spooled(t *testing.T, spool string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(spool)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if ext := filepath.Ext(entry.Name()); ext != ".lock" && ext != ".journal" {
			names = append(names, entry.Name())
		}
	}
	return names
}

func TestBucketThatAnswers503IsDown(t *testing.T) {
	t.Parallel()
	b, spool := newFakeBucket(t), t.TempDir()
	c := b.config("items-%(part)d.jsonl", spool)
	c.RotateCount = 10
	var log bytes.Buffer
	c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	sink := openFeed(t, c)
	b.status.Store(http.StatusServiceUnavailable)
	write(t, sink, records(0, 10)) // safe in the spool
	for range 2 {
		_, err := sink.Write(t.Context(), records(10, 20))
		if err == nil || !strings.Contains(err.Error(), "bucket pages at "+strings.TrimPrefix(b.url, "http://")+": Service Unavailable") {
			t.Errorf("got %v", err)
		}
		wantNoSecret(t, err)
	}
	crash(t, sink)
	again, err := NewFeed(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Open(t.Context()); err == nil {
		t.Error("a bucket that is down was opened")
	}
	b.status.Store(0)
	sink = openFeed(t, c)
	if _, names := b.objects(t); len(names) != 1 {
		t.Errorf("what waited for the bucket is not there once it is up: %v", names)
	}
	write(t, sink, records(10, 20))
	closeFeed(t, sink)
	dir, _ := b.objects(t)
	wantOnce(t, dir, 20)
	if strings.Contains(log.String(), "s3cret") {
		t.Errorf("the log holds the secret:\n%s", log.String())
	}
}

func wantNoSecret(t *testing.T, err error) {
	t.Helper()
	if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "AKIAEXAMPLE") {
		t.Errorf("a credential is in the message: %v", err)
	}
}

func TestBucketThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	b := newFakeBucket(t)
	c := b.config("items-%(part)d.jsonl", t.TempDir())
	c.URI = "s3://other/items-%(part)d.jsonl"
	sink, err := NewFeed(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "bucket other at ") || !strings.Contains(err.Error(), "is not there") {
		t.Errorf("got %v", err)
	}
	b.status.Store(http.StatusForbidden)
	sink, _ = NewFeed(b.config("items-%(part)d.jsonl", t.TempDir()))
	err = sink.Open(t.Context())
	if err == nil || !strings.Contains(err.Error(), "Forbidden") {
		t.Errorf("got %v", err)
	}
	wantNoSecret(t, err)
	c.Spool = ""
	if _, err := NewFeed(c); err == nil || !strings.Contains(err.Error(), "needs a folder") {
		t.Errorf("got %v", err)
	}
	c = b.config("items-%(part)d.jsonl", t.TempDir())
	c.Env = func(name string) string { return map[string]string{"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE"}[name] }
	if _, err := NewFeed(c); err == nil || !strings.Contains(err.Error(), "only one is set") {
		t.Errorf("got %v", err)
	}
}

// TestUploadWhoseAnswerIsLost checks that a part that has arrived is not put under a second key.
func TestUploadWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	b := newFakeBucket(t)
	c := b.config("items-%(part)d.jsonl", t.TempDir())
	sink := openFeed(t, c)
	write(t, sink, records(0, 10))
	b.lose.Store(true)
	if err := sink.Close(t.Context()); err == nil {
		t.Error("nobody said that the part may not have arrived")
	}
	b.lose.Store(false)
	b.status.Store(0)
	before := b.puts.Load()
	closeFeed(t, openFeed(t, c))
	dir, names := b.objects(t)
	if len(names) != 1 || b.puts.Load() != before {
		t.Errorf("objects %v, %d more uploads", names, b.puts.Load()-before)
	}
	wantOnce(t, dir, 10)
}

// TestHostsThatShareKeysTakeTurns has two feeds with the same keys, as without %(host)s.
func TestHostsThatShareKeysTakeTurns(t *testing.T) {
	t.Parallel()
	b := newFakeBucket(t)
	for host := range 2 {
		c := b.config("items-%(part)d.csv", t.TempDir())
		c.RotateCount = 5
		sink := openFeed(t, c)
		write(t, sink, records(host*10, host*10+10))
		closeFeed(t, sink)
	}
	dir, names := b.objects(t)
	if want := []string{"items-1.csv", "items-2.csv", "items-3.csv", "items-4.csv"}; !cmp.Equal(want, names) {
		t.Errorf("objects: %v", names)
	}
	wantOnce(t, dir, 20)
}

func TestOverwriteReplacesObjects(t *testing.T) {
	t.Parallel()
	b, spool := newFakeBucket(t), t.TempDir()
	for i := range 2 {
		c := b.config("latest-%(part)d.jsonl", spool)
		c.Overwrite, c.Crawl = true, fmt.Sprint(i)
		sink := openFeed(t, c)
		write(t, sink, records(i*10, i*10+10))
		closeFeed(t, sink)
	}
	dir, names := b.objects(t)
	if len(names) != 1 {
		t.Errorf("objects: %v", names)
	}
	wantNumbers(t, filepath.Join(dir, "latest-1.jsonl"), 10, 20)
}

// TestLargePartsAreUploadedInPieces has a part larger than what one request takes.
func TestLargePartsAreUploadedInPieces(t *testing.T) {
	t.Parallel()
	b := newFakeBucket(t)
	c := b.config("items-%(part)d.jsonl", t.TempDir())
	sink := openFeed(t, c)
	list := records(0, 40)
	for i := range list {
		list[i].JSON = fmt.Appendf(nil, `{"n":%d,"x":%q}`, i, strings.Repeat(string(rune('a'+i%26)), 1<<20))
	}
	write(t, sink, list)
	closeFeed(t, sink)
	dir, names := b.objects(t)
	if len(names) != 1 || b.puts.Load() < 3 {
		t.Errorf("objects %v by %d requests", names, b.puts.Load())
	}
	wantOnce(t, dir, 40)
}
