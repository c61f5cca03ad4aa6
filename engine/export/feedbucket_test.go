package export

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"luacrawl/engine/bucket/buckettest"
)

// toBucket is a feed into a bucket by way of a folder.
func toBucket(b *buckettest.Bucket, key, spool string) FeedConfig {
	return FeedConfig{URI: "s3://pages/" + key, Spool: spool, Spider: "news", Host: "h1", Crawl: "one", Env: b.Env}
}

// objects writes the bucket's objects into a folder and returns their names.
func objects(t *testing.T, b *buckettest.Bucket) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	for key, content := range b.Objects(t) {
		if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(key, "/", "_")), content, 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, key)
	}
	slices.Sort(names)
	return dir, names
}

func TestBucketGetsWholeParts(t *testing.T) {
	t.Parallel()
	everyShape(t, func(t *testing.T, ending string) {
		b, spool := buckettest.New(t), filepath.Join(t.TempDir(), "spool")
		c := toBucket(b, "%(spider)s/%(host)s-%(part)d."+ending, spool)
		c.RotateCount = 10
		sink := openFeed(t, c)
		write(t, sink, records(0, 25))
		_, names := objects(t, b)
		if diff := cmp.Diff([]string{"news/h1-1." + ending, "news/h1-2." + ending}, names); diff != "" {
			t.Errorf("while it is written: %s", diff)
		}
		crash(t, sink)
		sink = openFeed(t, c)
		write(t, sink, records(0, 28))
		closeFeed(t, sink)
		dir, names := objects(t, b)
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
	b, spool := buckettest.New(t), t.TempDir()
	c := toBucket(b, "items-%(part)d.jsonl", spool)
	c.RotateCount = 10
	var log bytes.Buffer
	c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	sink := openFeed(t, c)
	b.Status.Store(http.StatusServiceUnavailable)
	write(t, sink, records(0, 10)) // safe in the spool
	for range 2 {
		_, err := sink.Write(t.Context(), records(10, 20))
		if err == nil || !strings.Contains(err.Error(), "bucket pages at "+strings.TrimPrefix(b.URL, "http://")+": Service Unavailable") {
			t.Errorf("got %v", err)
		}
		buckettest.WantNoSecret(t, err)
	}
	crash(t, sink)
	again, err := NewFeed(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Open(t.Context()); err == nil {
		t.Error("a bucket that is down was opened")
	}
	b.Status.Store(0)
	sink = openFeed(t, c)
	if _, names := objects(t, b); len(names) != 1 {
		t.Errorf("what waited for the bucket is not there once it is up: %v", names)
	}
	write(t, sink, records(10, 20))
	closeFeed(t, sink)
	dir, _ := objects(t, b)
	wantOnce(t, dir, 20)
	if strings.Contains(log.String(), "s3cret") {
		t.Errorf("the log holds the secret:\n%s", log.String())
	}
}

func TestBucketThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	b := buckettest.New(t)
	c := toBucket(b, "items-%(part)d.jsonl", t.TempDir())
	c.URI = "s3://other/items-%(part)d.jsonl"
	sink, err := NewFeed(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "bucket other at ") || !strings.Contains(err.Error(), "is not there") {
		t.Errorf("got %v", err)
	}
	b.Status.Store(http.StatusForbidden)
	sink, _ = NewFeed(toBucket(b, "items-%(part)d.jsonl", t.TempDir()))
	err = sink.Open(t.Context())
	if err == nil || !strings.Contains(err.Error(), "Forbidden") {
		t.Errorf("got %v", err)
	}
	buckettest.WantNoSecret(t, err)
	c.Spool = ""
	if _, err := NewFeed(c); err == nil || !strings.Contains(err.Error(), "needs a folder") {
		t.Errorf("got %v", err)
	}
	c = toBucket(b, "items-%(part)d.jsonl", t.TempDir())
	c.Env = func(name string) string { return map[string]string{"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE"}[name] }
	if _, err := NewFeed(c); err == nil || !strings.Contains(err.Error(), "only one is set") {
		t.Errorf("got %v", err)
	}
}

// TestUploadWhoseAnswerIsLost checks that a part that has arrived is not put under a second key, whoever asks again: the client by itself,
// or the feed when that has given up.
func TestUploadWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lost   int32 // answers
		simple bool
		fails  bool
	}{
		"one answer":                     {lost: 1},
		"two answers":                    {lost: 2},
		"all answers":                    {lost: 1000, fails: true},
		"one answer of a simple server":  {lost: 1, simple: true},
		"all answers of a simple server": {lost: 1000, simple: true, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := buckettest.New(t)
			b.Simple.Store(c.simple)
			feed := toBucket(b, "items-%(part)d.jsonl", t.TempDir())
			sink := openFeed(t, feed)
			write(t, sink, records(0, 10))
			b.Lose.Store(c.lost)
			if err := sink.Close(t.Context()); (err != nil) != c.fails {
				t.Errorf("got %v", err)
			}
			b.Lose.Store(0)
			before := b.Puts.Load()
			closeFeed(t, openFeed(t, feed))
			dir, names := objects(t, b)
			if len(names) != 1 || b.Puts.Load() != before {
				t.Errorf("objects %v, %d more uploads", names, b.Puts.Load()-before)
			}
			wantOnce(t, dir, 10)
		})
	}
}

// TestHostsThatShareKeysTakeTurns has two feeds with the same keys, as without %(host)s.
func TestHostsThatShareKeysTakeTurns(t *testing.T) {
	t.Parallel()
	b := buckettest.New(t)
	for host := range 2 {
		c := toBucket(b, "items-%(part)d.csv", t.TempDir())
		c.RotateCount = 5
		sink := openFeed(t, c)
		write(t, sink, records(host*10, host*10+10))
		closeFeed(t, sink)
	}
	dir, names := objects(t, b)
	if want := []string{"items-1.csv", "items-2.csv", "items-3.csv", "items-4.csv"}; !cmp.Equal(want, names) {
		t.Errorf("objects: %v", names)
	}
	wantOnce(t, dir, 20)
}

func TestOverwriteReplacesObjects(t *testing.T) {
	t.Parallel()
	b, spool := buckettest.New(t), t.TempDir()
	for i := range 2 {
		c := toBucket(b, "latest-%(part)d.jsonl", spool)
		c.Overwrite, c.Crawl = true, fmt.Sprint(i)
		sink := openFeed(t, c)
		write(t, sink, records(i*10, i*10+10))
		closeFeed(t, sink)
	}
	dir, names := objects(t, b)
	if len(names) != 1 {
		t.Errorf("objects: %v", names)
	}
	wantNumbers(t, filepath.Join(dir, "latest-1.jsonl"), 10, 20)
}

// TestLargePartsAreUploadedInPieces has a part larger than what one request takes.
func TestLargePartsAreUploadedInPieces(t *testing.T) {
	t.Parallel()
	b := buckettest.New(t)
	c := toBucket(b, "items-%(part)d.jsonl", t.TempDir())
	sink := openFeed(t, c)
	list := records(0, 40)
	for i := range list {
		list[i].JSON = fmt.Appendf(nil, `{"n":%d,"x":%q}`, i, strings.Repeat(string(rune('a'+i%26)), 1<<20))
	}
	write(t, sink, list)
	closeFeed(t, sink)
	dir, names := objects(t, b)
	if len(names) != 1 || b.Puts.Load() < 3 {
		t.Errorf("objects %v by %d requests", names, b.Puts.Load())
	}
	wantOnce(t, dir, 40)
}
