package cli_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"luacrawl/engine/bucket/buckettest"
)

// fileStore is where a test's files of items go: a folder or a bucket.
type fileStore struct {
	spool  string             // "--data" of the workers
	store  string             // as in the spider
	bucket *buckettest.Bucket // nil for a folder
}

// everyFileStore runs a test with a folder and with a bucket.
func everyFileStore(t *testing.T, test func(t *testing.T, s *fileStore)) {
	t.Helper()
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		test(t, &fileStore{spool: t.TempDir(), store: filepath.ToSlash(filepath.Join(t.TempDir(), "store"))})
	})
	t.Run("bucket", func(t *testing.T) {
		t.Parallel()
		test(t, &fileStore{spool: t.TempDir(), store: "s3://pages/some/shots", bucket: buckettest.New(t)})
	})
}

func (s *fileStore) environ() []string {
	if s.bucket == nil {
		return nil
	}
	return s.bucket.Environ()
}

// all are the files that lie there, by their names below the store.
func (s *fileStore) all(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	if s.bucket != nil {
		for key, content := range s.bucket.Objects(t) {
			all[strings.TrimPrefix(key, "some/shots/")] = content
		}
		return all
	}
	paths, _ := filepath.Glob(filepath.Join(s.store, "*", "*", "*"))
	partial, _ := filepath.Glob(filepath.Join(s.store, "partial", "*"))
	for _, path := range append(paths, partial...) {
		name, err := filepath.Rel(s.store, path)
		if err != nil {
			t.Fatal(err)
		}
		if all[filepath.ToSlash(name)], err = os.ReadFile(path); err != nil && !os.IsNotExist(err) { // it may have been moved
			t.Fatal(err)
		}
	}
	return all
}

// count is how many files lie below a folder of the store, with an ending.
func (s *fileStore) count(t *testing.T, folder, ending string) (n int) {
	t.Helper()
	for name := range s.all(t) {
		if strings.HasPrefix(name, folder+"/") && strings.HasSuffix(name, ending) {
			n++
		}
	}
	return n
}

// wantNothingHalf checks that nothing is left of files that were not kept, and of claims.
func (s *fileStore) wantNothingHalf(t *testing.T) {
	t.Helper()
	spooled, _ := filepath.Glob(filepath.Join(s.spool, "spool", "files", "*"))
	if busy, partial := s.count(t, "urls", ".busy"), s.count(t, "partial", ""); busy+partial+len(spooled) > 0 {
		t.Errorf("left over: %d claims, %d files, and %q", busy, partial, spooled)
	}
}

// fail makes the store take nothing until mend is called.
func (s *fileStore) fail(t *testing.T) (mend func()) {
	t.Helper()
	if s.bucket != nil {
		s.bucket.Status.Store(http.StatusServiceUnavailable)
		return func() { s.bucket.Status.Store(0) }
	}
	if err := os.WriteFile(s.store, nil, 0o644); err != nil { // a file in the folder's place
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(s.store); err != nil {
			t.Fatal(err)
		}
	}
}
