package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newTestStore(t *testing.T) *Store {
	t.Helper()
	o, err := ParseOptions(map[string]any{"store": filepath.Join(t.TempDir(), "store"), "max_size": "1KB", "expires": 1.0})
	if err != nil {
		t.Fatal(err)
	}
	return NewStore(o)
}

func keep(t *testing.T, s *Store, u, contentType, body string) Entry {
	t.Helper()
	f, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	if _, err := io.WriteString(f, body); err != nil {
		t.Fatal(err)
	}
	e, err := f.Keep(u, contentType)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestStoreNamesByContent(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	const hello = "full/2c/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	for u, c := range map[string]struct{ contentType, want string }{
		"http://a.test/x.JPG?y":             {"text/plain", hello + ".jpg"},
		"http://a.test/x":                   {"image/png; q=1", hello + ".png"},
		"http://a.test/x.php5extension":     {"", hello},
		"http://a.test/x.%2e%2e%2fetc":      {"image/unheard", hello},
		"http://a.test/..%2f..%2fx.p%00df/": {"nonsense", hello},
	} {
		e := keep(t, s, u, c.contentType, "hello")
		if e.Path != c.want || e.Size != 5 || e.Checksum != hello[8:] {
			t.Errorf("%s: %+v, want %s", u, e, c.want)
		}
		known, ok, err := s.Known(u)
		if !ok || err != nil || known.Path != c.want {
			t.Errorf("%s: known %+v %v %v", u, known, ok, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.Store, "partial", "*")); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

func TestStoreForgets(t *testing.T) {
	t.Parallel()
	const u = "http://a.test/x.pdf"
	for name, spoil := range map[string]func(s *Store, e Entry) error{
		"expired": func(s *Store, _ Entry) error {
			s.now = func() time.Time { return time.Now().Add(25 * time.Hour) }
			return nil
		},
		"file gone": func(s *Store, e Entry) error { return os.Remove(filepath.Join(s.Store, e.Path)) },
		"file cut":  func(s *Store, e Entry) error { return os.Truncate(filepath.Join(s.Store, e.Path), 2) },
		"note torn": func(s *Store, _ Entry) error { return os.Truncate(s.note(u), 20) },
		"note leads out": func(s *Store, _ Entry) error {
			return os.WriteFile(s.note(u), []byte(`{"url":"`+u+`","path":"../../x","size":5,"fetched":"2999-01-01T00:00:00Z"}`), 0o600)
		},
		"larger than max_size now": func(s *Store, _ Entry) error { s.MaxSize = 4; return nil },
	} {
		s := newTestStore(t)
		e := keep(t, s, u, "", "hello")
		if err := spoil(s, e); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := s.Known(u); ok || err != nil {
			t.Errorf("%s: known %v %v", name, ok, err)
		}
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	release, err := s.Claim("http://a.test/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim("http://a.test/x"); !errors.Is(err, ErrClaimed) {
		t.Errorf("claimed twice: %v", err)
	}
	other := *s
	other.now = func() time.Time { return time.Now().Add(time.Minute) } // who made it is dead
	taken, err := other.Claim("http://a.test/x")
	if err != nil {
		t.Errorf("a dead claim holds: %v", err)
	} else {
		taken()
	}
	release()
	again, err := s.Claim("http://a.test/x")
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestOptions(t *testing.T) {
	t.Parallel()
	o, err := ParseOptions(map[string]any{"store": "d", "max_size": "1.5MB", "types": []any{"image/*", "Application/PDF"}, "expires": 2.0, "timeout": "3m", "urls_field": "image_urls", "result_field": "images"})
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
		"no folder":                      {"store": "s3://bucket"},
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
