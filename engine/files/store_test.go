package files

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"luacrawl/engine/bucket/buckettest"
)

// testStore is a store in a folder or a bucket, with a back door.
type testStore struct {
	*Store
	put    func(name, content string)
	remove func(name string)
	names  func() []string // of all that lies there
}

// everyStore runs a test on a folder, on a bucket, on one with an odd prefix, and on one whose server knows no conditions.
func everyStore(t *testing.T, test func(t *testing.T, s testStore)) {
	t.Helper()
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		test(t, folderStore(t))
	})
	for name, store := range map[string]string{"bucket": "s3://pages", "odd prefix": "s3://pages/%s a+b%20c/?x=#y/é😀/", "simple bucket": "s3://pages/x"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := buckettest.New(t)
			b.Simple.Store(name == "simple bucket")
			test(t, bucketStore(t, b, store))
		})
	}
}

func newTestStore(t *testing.T, table map[string]any, outside Outside) *Store {
	t.Helper()
	table["max_size"], table["expires"] = cmp.Or(table["max_size"], any("1KB")), 1.0
	o, err := ParseOptions(table)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewStore(o, outside)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func folderStore(t *testing.T) testStore {
	t.Helper()
	root := filepath.Join(t.TempDir(), "store")
	path := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	return testStore{
		Store: newTestStore(t, map[string]any{"store": root}, Outside{}),
		put: func(name, content string) {
			t.Helper()
			if err := os.WriteFile(path(name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		remove: func(name string) {
			t.Helper()
			if err := os.Remove(path(name)); err != nil {
				t.Fatal(err)
			}
		},
		names: func() (all []string) {
			_ = filepath.WalkDir(root, func(at string, d os.DirEntry, err error) error {
				if name, relErr := filepath.Rel(root, at); err == nil && relErr == nil && !d.IsDir() {
					all = append(all, filepath.ToSlash(name))
				}
				return nil
			})
			return all
		},
	}
}

func bucketStore(t *testing.T, b *buckettest.Bucket, store string) testStore {
	t.Helper()
	_, prefix, err := parseStore(store)
	if err != nil {
		t.Fatal(err)
	}
	if prefix != "" {
		prefix += "/"
	}
	return testStore{
		Store:  newTestStore(t, map[string]any{"store": store}, Outside{Spool: t.TempDir(), Env: b.Env}),
		put:    func(name, content string) { b.Put(t, prefix+name, content) },
		remove: func(name string) { b.Delete(t, prefix+name) },
		names: func() (all []string) {
			for _, key := range slices.Sorted(maps.Keys(b.Objects(t))) {
				name, ok := strings.CutPrefix(key, prefix)
				if !ok {
					t.Errorf("an object beside the store: %q", key)
				}
				all = append(all, name)
			}
			return all
		},
	}
}

func begin(t *testing.T, s *Store, body string) *File {
	t.Helper()
	f, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Discard)
	if _, err := io.WriteString(f, body); err != nil {
		t.Fatal(err)
	}
	return f
}

func keep(t *testing.T, s *Store, u, contentType, body string) Entry {
	t.Helper()
	e, err := begin(t, s, body).Keep(t.Context(), u, contentType)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// wantSpoolEmpty checks that nothing is left on the way.
func wantSpoolEmpty(t *testing.T, s *Store) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(s.keeper.spool(), "*")); len(left) > 0 {
		t.Errorf("left in the spool: %q", left)
	}
}

func TestStoreNamesByContent(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, s testStore) {
		const hello = "full/2c/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
		for u, c := range map[string]struct{ contentType, want string }{
			"http://a.test/x.JPG?y":             {"text/plain", hello + ".jpg"},
			"http://a.test/x":                   {"image/png; q=1", hello + ".png"},
			"http://a.test/y":                   {"image/png", hello + ".png"},
			"http://a.test/x.php5extension":     {"", hello},
			"http://a.test/x.%2e%2e%2fetc":      {"image/unheard", hello},
			"http://a.test/..%2f..%2fx.p%00df/": {"nonsense", hello},
			"http://a.test/é😀 ?a=\x00\n#'\"<":   {"text/plain; charset=\"ü\"", hello + ".txt"},
		} {
			e := keep(t, s.Store, u, c.contentType, "hello")
			if e.Path != c.want || e.Size != 5 || e.Checksum != hello[8:] {
				t.Errorf("%s: %+v, want %s", u, e, c.want)
			}
			known, ok, err := s.Known(t.Context(), u)
			if !ok || err != nil || known.Path != c.want {
				t.Errorf("%s: known %+v %v %v", u, known, ok, err)
			}
		}
		notes, contents := 0, 0
		for _, name := range s.names() {
			switch {
			case strings.HasPrefix(name, "urls/") && strings.HasSuffix(name, ".json"):
				notes++
			case strings.HasPrefix(name, hello):
				contents++
			default:
				t.Errorf("there is %s", name)
			}
		}
		if notes != 7 || contents != 4 {
			t.Errorf("%d notes and %d files: %q", notes, contents, s.names())
		}
		wantSpoolEmpty(t, s.Store)
	})
}

func TestStoreForgets(t *testing.T) {
	t.Parallel()
	const u = "http://a.test/x.pdf"
	for name, spoil := range map[string]func(s testStore, e Entry){
		"expired":   func(s testStore, _ Entry) { s.now = func() time.Time { return time.Now().Add(25 * time.Hour) } },
		"file gone": func(s testStore, e Entry) { s.remove(e.Path) },
		"file cut":  func(s testStore, e Entry) { s.put(e.Path, "he") },
		"note torn": func(s testStore, _ Entry) { s.put(s.note(u), `{"url":"http://a.te`) },
		"note leads out": func(s testStore, _ Entry) {
			s.put(s.note(u), `{"url":"`+u+`","path":"../../x","size":5,"fetched":"2999-01-01T00:00:00Z"}`)
		},
		"note huge":                func(s testStore, _ Entry) { s.put(s.note(u), strings.Repeat(" ", 1<<20)) },
		"note of another":          func(s testStore, _ Entry) { s.put(s.note(u), `{"url":"http://b.test/","path":"full","size":5}`) },
		"larger than max_size now": func(s testStore, _ Entry) { s.MaxSize = 4 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyStore(t, func(t *testing.T, s testStore) {
				spoil(s, keep(t, s.Store, u, "", "hello"))
				if _, ok, err := s.Known(t.Context(), u); ok || err != nil {
					t.Errorf("known %v %v", ok, err)
				}
				if name == "larger than max_size now" || name == "expired" {
					return
				}
				keep(t, s.Store, u, "", "hello") // mends it
				if _, ok, err := s.Known(t.Context(), u); !ok || err != nil {
					t.Errorf("known again %v %v", ok, err)
				}
			})
		})
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, s testStore) {
		release, err := s.Claim(t.Context(), "http://a.test/x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Claim(t.Context(), "http://a.test/x"); !errors.Is(err, ErrClaimed) {
			t.Errorf("claimed twice: %v", err)
		}
		other := *s.Store
		other.now = func() time.Time { return time.Now().Add(time.Minute) } // who made it is dead
		taken, err := other.Claim(t.Context(), "http://a.test/x")
		if err != nil {
			t.Errorf("a dead claim holds: %v", err)
		} else {
			taken()
		}
		release()
		again, err := s.Claim(t.Context(), "http://a.test/x")
		if err != nil {
			t.Fatal(err)
		}
		again()
		if left := s.names(); len(left) > 0 {
			t.Errorf("left over: %q", left)
		}
	})
}

// A file that is not kept leaves nothing, and one that is cut off is nowhere.
func TestDiscardedFiles(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, s testStore) {
		begin(t, s.Store, "half a fi").Discard()
		wantSpoolEmpty(t, s.Store)
		if left := s.names(); len(left) > 0 {
			t.Errorf("left over: %q", left)
		}
	})
}

// What killed processes have left in the spool goes once it is old.
func TestSpoolIsSwept(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, s testStore) {
		old, young := begin(t, s.Store, "old").file.Name(), begin(t, s.Store, "young").file.Name()
		long := time.Now().Add(-2*s.Timeout - 2*time.Hour)
		if err := os.Chtimes(old, long, long); err != nil {
			t.Fatal(err)
		}
		next, err := NewStore(s.Options, Outside{Spool: s.keeper.spool(), Env: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		begin(t, next, "")
		if _, err := os.Stat(old); err == nil {
			t.Error("the old one is there")
		}
		if _, err := os.Stat(young); err != nil {
			t.Error(err)
		}
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	o, err := ParseOptions(map[string]any{"store": "s3://b-1/x/y", "endpoint": "localhost:9000", "region": "eu", "max_size": "1.5MB", "types": []any{"image/*", "Application/PDF"}, "expires": 2.0, "timeout": "3m", "urls_field": "image_urls", "result_field": "images"})
	if err != nil || o.MaxSize != 3<<19 || o.Expires != 48*time.Hour || o.Timeout != 3*time.Minute || o.URLs != "image_urls" || o.Result != "images" {
		t.Errorf("%+v %v", o, err)
	}
	for contentType, want := range map[string]bool{"image/png": true, "IMAGE/PNG; x=y": true, "application/pdf": true, "text/html": false, "": false, "image": false} {
		if o.Takes(contentType) != want {
			t.Errorf("%q is taken: %v", contentType, !want)
		}
	}
	for want, m := range map[string]map[string]any{
		"store is missing":               {},
		"want a folder":                  {"store": "ftp://bucket"},
		"store: want s3://bucket/key":    {"store": "s3:///x"},
		"holds credentials or a port":    {"store": "s3://id:secret@bucket/x"},
		"is no bucket's name":            {"store": "s3://b/x"},
		"has empty parts, . or ..":       {"store": "s3://bucket/x/../../y"},
		"prefix has empty parts":         {"store": "s3://bucket//x"},
		"more than 800 bytes":            {"store": "s3://bucket/" + strings.Repeat("x", 801)},
		"this one is not":                {"store": "s3://bucket/\xff"},
		"files: endpoint: want http(s):": {"store": "s3://bucket/x", "endpoint": "ftp://x"},
		"files: region: want text":       {"store": "s3://bucket/x", "region": 1.0},
		"and store is the folder":        {"store": "d", "region": "eu"},
		"files: max_size: want a number": {"store": "d", "max_size": "big"},
		"files: timeout: want a number":  {"store": "d", "timeout": -1.0},
		"files: expires: want a number":  {"store": "d", "expires": "1Y"},
		"no media type":                  {"store": "d", "types": "png"},
		"the list is empty":              {"store": "d", "types": []any{}},
		"there is no such key":           {"store": "d", "max": 1.0},
		"are both \"files\"":             {"store": "d", "urls_field": "files"},
		"files: store: want text":        {"store": 1.0},
		"files: urls_field: want text":   {"store": "d", "urls_field": ""},
	} {
		if _, err := ParseOptions(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", m, err, want)
		}
	}
}
