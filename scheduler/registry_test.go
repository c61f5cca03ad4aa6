package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func revisionOf(spider string, files map[string]string) *Revision {
	r := &Revision{Spider: spider, Main: spider + ".lua", Files: map[string][]byte{}, Author: "ann", Message: "first", Time: time.Unix(1700000000, 0).UTC(), Tool: "test"}
	for name, text := range files {
		r.Files[name] = []byte(text)
	}
	r.ID = RevisionID(r.Main, r.Files)
	return r
}

func push(t *testing.T, k *kit, r *Revision, was int64) (int64, error) {
	t.Helper()
	if _, err := k.client.PutRevision(k.ctx, r); err != nil {
		t.Fatal(err)
	}
	return k.client.Flip(k.ctx, Entry{Spider: r.Spider, Revision: r.ID, Main: r.Main, Policy: Adopt, Author: "ann", Time: r.Time}, was, "push")
}

func TestRegistry(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		one := revisionOf("news", map[string]string{"news.lua": "return 1", "lib/text.lua": "return {}"})
		two := revisionOf("news", map[string]string{"news.lua": "return 2", "lib/text.lua": "return {}"})

		if _, err := k.client.Flip(k.ctx, Entry{Spider: "news", Revision: one.ID, Main: "news.lua"}, 0, "push"); !errors.Is(err, ErrNoRevision) {
			t.Errorf("a flip to a revision that is not there: %v", err)
		}
		v1, err := push(t, k, one, 0)
		if err != nil {
			t.Fatal(err)
		}
		var conflict *ConflictError
		if _, err := push(t, k, two, 0); !errors.As(err, &conflict) || conflict.Now.Revision != one.ID {
			t.Errorf("a push made of nothing over a push: %v", err)
		}
		sent, err := k.client.PutRevision(k.ctx, two)
		if err != nil || sent != 0 {
			t.Errorf("files that are there were sent again: %d bytes, %v", sent, err)
		}
		v2, err := push(t, k, two, v1)
		if err != nil || v2 <= v1 {
			t.Fatalf("version %d after %d: %v", v2, v1, err)
		}
		got, err := k.client.Revision(k.ctx, one.ID[:12])
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(one, got); d != "" {
			t.Errorf("revision (-pushed +read):\n%s", d)
		}
		entries, err := k.client.Registry(k.ctx)
		if err != nil || len(entries) != 1 || entries[0].Revision != two.ID || entries[0].Version != v2 || entries[0].State != Running {
			t.Errorf("registry %+v, %v", entries, err)
		}
		if v, err := k.client.RegistryVersion(k.ctx); err != nil || v != v2 {
			t.Errorf("registry version %d, want %d, %v", v, v2, err)
		}
		if err := k.client.Remove(k.ctx, "news", v1, "bob"); !errors.As(err, &conflict) {
			t.Errorf("a removal of an older entry: %v", err)
		}
		if err := k.client.Remove(k.ctx, "news", v2, "bob"); err != nil {
			t.Error(err)
		}
		if _, err := k.client.RegistryEntry(k.ctx, "news"); !errors.Is(err, ErrNoEntry) {
			t.Errorf("a removed entry: %v", err)
		}
		events, err := k.client.History(k.ctx, "news")
		if err != nil {
			t.Fatal(err)
		}
		var what []string
		for _, e := range events {
			what = append(what, e.What+" "+e.Author)
		}
		if d := cmp.Diff([]string{"push ann", "push ann", "remove bob"}, what); d != "" {
			t.Errorf("history (-want +got):\n%s", d)
		}
	})
}

func TestDamagedRevisionIsRefused(t *testing.T) {
	damage := map[string]func(k *kit, r *Revision){
		"edited file":    func(k *kit, r *Revision) { k.rdb.Append(k.ctx, fileKey(k, r, "news.lua"), " ") },
		"truncated file": func(k *kit, r *Revision) { k.rdb.Set(k.ctx, fileKey(k, r, "news.lua"), "ret", 0) },
		"file of other type": func(k *kit, r *Revision) {
			key := fileKey(k, r, "news.lua")
			k.rdb.Del(k.ctx, key)
			k.rdb.LPush(k.ctx, key, "x")
		},
		"missing file":       func(k *kit, r *Revision) { k.rdb.Del(k.ctx, fileKey(k, r, "news.lua")) },
		"truncated manifest": func(k *kit, r *Revision) { k.rdb.Set(k.ctx, k.client.registry().revision(r.ID), `{"id":`, 0) },
		"other manifest": func(k *kit, r *Revision) {
			k.rdb.Set(k.ctx, k.client.registry().revision(r.ID), `{"id":"`+r.ID+`","spider":"news","main":"x.lua"}`, 0)
		},
		"files of another": func(k *kit, r *Revision) {
			other := revisionOf("news", map[string]string{"news.lua": "return 2"})
			if _, err := k.client.PutRevision(k.ctx, other); err != nil {
				k.t.Fatal(err)
			}
			m := newManifest(other)
			m.ID = r.ID
			text, err := json.Marshal(m)
			if err != nil {
				k.t.Fatal(err)
			}
			k.rdb.Set(k.ctx, k.client.registry().revision(r.ID), text, 0)
		},
		"path outside": func(k *kit, r *Revision) {
			k.rdb.Set(k.ctx, k.client.registry().revision(r.ID), `{"files":[{"path":"../x"}]}`, 0)
		},
	}
	for name, spoil := range damage {
		t.Run(name, func(t *testing.T) {
			each(t, Config{}, func(t *testing.T, k *kit) {
				r := revisionOf("news", map[string]string{"news.lua": "return 1"})
				if _, err := k.client.PutRevision(k.ctx, r); err != nil {
					t.Fatal(err)
				}
				spoil(k, r)
				if _, err := k.client.Revision(k.ctx, r.ID); !errors.Is(err, ErrRevisionDamaged) {
					t.Fatalf("reading it: %v", err)
				}
				if _, err := k.client.PutRevision(k.ctx, r); err != nil && name != "file of other type" {
					t.Fatalf("pushing it again: %v", err)
				}
				if _, err := k.client.Revision(k.ctx, r.ID); err != nil {
					t.Errorf("after it was pushed again: %v", err)
				}
			})
		})
	}
}

func fileKey(k *kit, r *Revision, path string) string {
	for _, f := range newManifest(r).Files {
		if f.Path == path {
			return k.client.registry().file(f.SHA256)
		}
	}
	k.t.Fatalf("no file %s", path)
	return ""
}

func TestRevisionsThatAreRefused(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", MaxRevisionFile+1)
	for name, files := range map[string]map[string]string{
		"no main file": {"other.lua": ""},
		"large file":   {"news.lua": large},
		"large in all": {"news.lua": "", "a.lua": large[1:], "b.lua": large[1:], "c.lua": large[1:], "d.lua": large[1:], "e.lua": "x"},
		"outside":      {"news.lua": "", "../x.lua": ""},
		"absolute":     {"news.lua": "", "/etc/passwd": ""},
	} {
		if err := revisionOf("news", files).Validate(); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestRegistryKeyOfAnotherType(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.rdb.Set(k.ctx, "luacrawl:registry", "x", 0)
		if _, err := k.client.Registry(k.ctx); err == nil || !strings.Contains(err.Error(), "luacrawl:registry holds a string") {
			t.Errorf("error %v", err)
		}
		if _, err := push(t, k, revisionOf("news", map[string]string{"news.lua": ""}), 0); err == nil || !strings.Contains(err.Error(), "luacrawl:registry holds a string") {
			t.Errorf("error %v", err)
		}
	})
}

func TestNamespacesAreApart(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		if _, err := push(t, k, revisionOf("news", map[string]string{"news.lua": ""}), 0); err != nil {
			t.Fatal(err)
		}
		k.PushSeedsTo("news", "http://a.test/")
		other := &Client{rdb: k.rdb, name: "other", namespace: "team", logger: k.client.logger}
		if all, err := other.Registry(k.ctx); err != nil || len(all) != 0 {
			t.Errorf("the other team's registry: %v, %v", all, err)
		}
		if _, err := other.PushSeeds(k.ctx, "news", Keys{}, [][]byte{[]byte("http://b.test/")}); err != nil {
			t.Fatal(err)
		}
		if got := k.rdb.LRange(k.ctx, "team:news:start_urls", 0, -1).Val(); !cmp.Equal(got, []string{"http://b.test/"}) {
			t.Errorf("the other team's seeds: %q", got)
		}
		if got := k.rdb.LRange(k.ctx, "news:start_urls", 0, -1).Val(); !cmp.Equal(got, []string{"http://a.test/"}) {
			t.Errorf("our seeds: %q", got)
		}
	})
}

// PushSeedsTo gives seeds to a spider.
func (k *kit) PushSeedsTo(spider string, urls ...string) {
	k.t.Helper()
	var seeds [][]byte
	for _, u := range urls {
		seeds = append(seeds, []byte(u))
	}
	if _, err := k.client.PushSeeds(k.ctx, spider, Keys{}, seeds); err != nil {
		k.t.Fatal(err)
	}
}

func TestChangesAreHeard(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		ctx, cancel := context.WithCancel(k.ctx)
		defer cancel()
		heard := k.client.Changes(ctx)
		if first := <-heard; first != "" {
			t.Fatalf("first %q", first)
		}
		if _, err := push(t, k, revisionOf("news", map[string]string{"news.lua": ""}), 0); err != nil {
			t.Fatal(err)
		}
		if name := <-heard; name != "news" {
			t.Errorf("heard %q", name)
		}
	})
}
