package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"luacrawl/scheduler"
)

// spoil gives a key of the registry another type.
func (f *fleet) spoil(key string) {
	f.redis.Strings("DEL", key)
	f.redis.Strings("SET", key, "mine")
}

// kept starts a host on a good revision and ends it, so that the revision is on disk.
func (f *fleet) kept(data string) (*scheduler.Revision, int64) {
	f.t.Helper()
	rev, v := f.pushText("news", "1")
	h := f.host(data)
	h.confirms(rev, v)
	f.eventually("the revision is on disk", func() bool { r, err := h.shelf.get("news"); return err == nil && r != nil && r.ID == rev.ID })
	h.stop()
	return rev, v
}

// TestStartFromDisk: when the newest revision is broken, or the registry cannot be read, the last good one runs, and it is said.
func TestStartFromDisk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(f *fleet, good *scheduler.Revision)
		mend  func(f *fleet, good *scheduler.Revision)
		says  string
	}{
		"broken": {
			func(f *fleet, _ *scheduler.Revision) { f.push(revision("news", "news.lua", "oops"), scheduler.Adopt) },
			func(f *fleet, good *scheduler.Revision) { f.push(good, scheduler.Adopt) },
			"news.lua:1: parse error",
		},
		"damaged": {
			func(f *fleet, good *scheduler.Revision) {
				f.redis.Strings("SET", "luacrawl:revision:"+good.ID[:12], "{}")
			},
			func(f *fleet, good *scheduler.Revision) { f.push(good, scheduler.Adopt) },
			"damaged",
		},
		"registry of another type": {
			func(f *fleet, _ *scheduler.Revision) { f.spoil("luacrawl:registry") },
			func(f *fleet, good *scheduler.Revision) {
				f.redis.Strings("DEL", "luacrawl:registry")
				f.push(good, scheduler.Adopt)
			},
			"the registry cannot be read",
		},
		"damaged entry": {
			func(f *fleet, _ *scheduler.Revision) { f.redis.Strings("HSET", "luacrawl:registry", "news", "garbage") },
			func(f *fleet, good *scheduler.Revision) {
				f.redis.Strings("HDEL", "luacrawl:registry", "news")
				f.push(good, scheduler.Adopt)
			},
			"it is no entry of the registry",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			data := t.TempDir()
			good, _ := f.kept(data)
			c.spoil(f, good)
			h := f.host(data)
			h.says("news: running revision " + good.ID[:12] + ", the last good one")
			h.says(c.says)
			h.reports("news", "the last good revision runs", func(s *scheduler.SpiderReport) bool { return s.Revision == good.ID && s.Error != "" })
			f.seed("news")
			f.itemsFrom("news", "1")
			c.mend(f, good)
			h.reports("news", "all is well", func(s *scheduler.SpiderReport) bool { return s.Revision == good.ID && s.Error == "" })
			rev, v := f.pushText("news", "2")
			h.confirms(rev, v)
			f.itemsFrom("news", "2")
		})
	}
}

// TestNothingToRun: without a good revision anywhere the host says so, and runs the first good one that comes.
func TestNothingToRun(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	data := t.TempDir()
	f.push(revision("news", "news.lua", "oops"), scheduler.Adopt)
	h := f.host(data)
	h.says("no good revision is kept on disk")
	h.reports("news", "nothing runs", func(s *scheduler.SpiderReport) bool {
		return s.Revision == "" && strings.Contains(s.Error, "parse error")
	})
	rev, v := f.pushText("news", "1")
	h.confirms(rev, v)
}

// TestShelfRefuses: what lies on disk and is not what was put there is not run.
func TestShelfRefuses(t *testing.T) {
	t.Parallel()
	s := newShelf(t.TempDir(), "team")
	if s.folder != filepath.Join(filepath.Dir(s.folder), "@team") {
		t.Error(s.folder)
	}
	rev := revision("news", "news.lua", spiderText("news", "1"))
	if err := s.put(rev); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(s.file("news"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.get("news"); err != nil || got.ID != rev.ID {
		t.Fatalf("%+v, %v", got, err)
	}
	if names := s.names(); len(names) != 1 || names[0] != "news" {
		t.Errorf("names %v", names)
	}
	for name, text := range map[string]string{
		"truncated": string(whole[:len(whole)/2]), "empty": "", "edited": strings.Replace(string(whole), rev.ID[:12], strings.Repeat("0", 12), 1),
		"of another spider": strings.Replace(string(whole), `"Spider":"news"`, `"Spider":"shop"`, 1),
	} {
		if err := os.WriteFile(s.file("news"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := s.get("news"); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, name := range []string{"../news", "", "a/b"} {
		if r, err := s.get(name); r != nil || err != nil {
			t.Errorf("%q: %v, %v", name, r, err)
		}
	}
}

// TestRegistryOfAnotherType: what runs goes on, it is said once, and the fleet sees it.
func TestRegistryOfAnotherType(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rev, v := f.pushText("news", "1")
	h := f.host("")
	f.seed("news")
	h.confirms(rev, v)
	f.itemsFrom("news", "1")
	f.spoil("luacrawl:registry")
	f.spoil("luacrawl:version")
	h.says("the registry cannot be read")
	h.reports("news", "the registry cannot be read", func(s *scheduler.SpiderReport) bool { return s.Revision == rev.ID && s.Error != "" })
	n := len(f.redis.Strings("LRANGE", "news:items", "0", "-1"))
	f.eventually("items go on", func() bool { return len(f.redis.Strings("LRANGE", "news:items", "0", "-1")) > n+20 })
	f.redis.Strings("DEL", "luacrawl:registry", "luacrawl:version")
	rev, v = f.pushText("news", "2")
	h.confirms(rev, v)
	if n := strings.Count(h.log.String(), "the registry cannot be read"); n > 3 {
		t.Errorf("said %d times:\n%s", n, h.log)
	}
}
