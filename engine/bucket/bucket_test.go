package bucket_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"luacrawl/engine/bucket"
	"luacrawl/engine/bucket/buckettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, b *buckettest.Bucket, name string) *bucket.Bucket {
	t.Helper()
	opened, err := bucket.Open(name, bucket.Config{Env: b.Env})
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// A bucket whose server knows no conditional PUT answers as one that does.
func TestObjects(t *testing.T) {
	t.Parallel()
	for _, simple := range []bool{false, true} {
		for _, key := range []string{"x", "a/b c+d%20e/?f=#g&h", "é😀/漢\"'<>\\^`{|}~[]:;@!$*(),", "-/.../x."} {
			fake := buckettest.New(t)
			fake.Simple.Store(simple)
			b, ctx := open(t, fake, "pages"), t.Context()
			if _, err := b.Stat(ctx, key); !errors.Is(err, bucket.ErrAbsent) {
				t.Errorf("%q: stat of nothing: %v", key, err)
			}
			if _, err := b.Read(ctx, key, 10); !errors.Is(err, bucket.ErrAbsent) {
				t.Errorf("%q: reading nothing: %v", key, err)
			}
			if err := b.Put(ctx, key, []byte("first"), bucket.PutOptions{IfAbsent: true, Mark: "m", Type: "text/plain"}); err != nil {
				t.Errorf("%q: %v", key, err)
			}
			if err := b.Put(ctx, key, []byte("second"), bucket.PutOptions{IfAbsent: true}); !errors.Is(err, bucket.ErrTaken) {
				t.Errorf("%q: put twice: %v", key, err)
			}
			if o, err := b.Stat(ctx, key); err != nil || o.Size != 5 || o.Mark != "m" || o.Modified.IsZero() {
				t.Errorf("%q: %+v %v", key, o, err)
			}
			file := filepath.Join(t.TempDir(), "x")
			if err := os.WriteFile(file, []byte("third of a file"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := b.PutFile(ctx, key, file, bucket.PutOptions{IfAbsent: true}); !errors.Is(err, bucket.ErrTaken) {
				t.Errorf("%q: file put twice: %v", key, err)
			}
			if err := b.PutFile(ctx, key, file, bucket.PutOptions{}); err != nil {
				t.Errorf("%q: %v", key, err)
			}
			if got, err := b.Read(ctx, key, 5); err != nil || string(got) != "third" {
				t.Errorf("%q: %q %v", key, got, err)
			}
			if all := fake.Objects(t); len(all) != 1 || string(all[key]) != "third of a file" {
				t.Errorf("%q: objects %q", key, all)
			}
			for range 2 {
				if err := b.Remove(ctx, key); err != nil {
					t.Errorf("%q: %v", key, err)
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	fake := buckettest.New(t)
	absent, b := open(t, fake, "nobody"), open(t, fake, "pages")
	wants := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(want, "HOST", strings.TrimPrefix(fake.URL, "http://"))) {
			t.Errorf("%v, want %s", err, want)
			return
		}
		buckettest.WantNoSecret(t, err)
	}
	_, readErr := absent.Read(t.Context(), "x", 1)
	for _, err := range []error{absent.Check(t.Context()), readErr, absent.Put(t.Context(), "x", []byte("x"), bucket.PutOptions{IfAbsent: true})} {
		wants(err, "bucket nobody at HOST is not there")
	}
	for status, want := range map[int32]string{
		http.StatusForbidden:          "bucket pages at HOST: Forbidden: the credentials are wrong, or may not read",
		http.StatusServiceUnavailable: "bucket pages at HOST: Service Unavailable: ",
	} {
		fake.Status.Store(status)
		_, readErr := b.Read(t.Context(), "x", 1)
		_, statErr := b.Stat(t.Context(), "x")
		for _, err := range []error{b.Check(t.Context()), readErr, statErr, b.Put(t.Context(), "x", []byte("x"), bucket.PutOptions{}), b.Remove(t.Context(), "x")} {
			wants(err, want)
		}
	}
	fake.Status.Store(0)
	fake.Refused.Store(http.StatusConflict)
	if err := b.Put(t.Context(), "x", []byte("x"), bucket.PutOptions{IfAbsent: true}); !errors.Is(err, bucket.ErrConflict) {
		t.Errorf("conflict: %v", err)
	}
}

// What is wrong with one object is told from what is wrong with the bucket, the credentials, or the moment.
func TestRefusesObject(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{400: true, 411: true, 413: true, 422: true, 401: false, 403: false, 404: false, 408: false, 429: false, 500: false, 501: false, 503: false} {
		fake := buckettest.New(t)
		fake.Refused.Store(int32(status))
		if err := open(t, fake, "pages").Put(t.Context(), "x", []byte("x"), bucket.PutOptions{}); err == nil || bucket.RefusesObject(err) != want {
			t.Errorf("%d: %v is refused %v, want %v", status, err, !want, want)
		}
	}
	if bucket.RefusesObject(nil) || bucket.RefusesObject(bucket.ErrTaken) {
		t.Error("no answer is a refusal")
	}
}
