package scheduler

import (
	"errors"
	"testing"

	"luacrawl/scheduler/redistest"
)

// TestRegistryIsReadBeforeItIsWritten: a key of another type refuses a change whole.
func TestRegistryIsReadBeforeItIsWritten(t *testing.T) {
	for _, key := range []string{"news:meta", "luacrawl:registry"} {
		t.Run(key, func(t *testing.T) {
			each(t, Config{}, func(t *testing.T, k *kit) {
				r := revisionOf("news", map[string]string{"news.lua": ""})
				if _, err := k.client.PutRevision(k.ctx, r); err != nil {
					t.Fatal(err)
				}
				k.rdb.Set(k.ctx, key, "x", 0)
				if _, err := push(t, k, r, 0); !errors.Is(err, ErrWrongType) {
					t.Errorf("a push: %v", err)
				}
				if _, err := k.client.SetControl(k.ctx, "news", Keys{}, Change{State: Paused}); !errors.Is(err, ErrWrongType) {
					t.Errorf("a pause: %v", err)
				}
				if n := k.rdb.Exists(k.ctx, "luacrawl:version", "luacrawl:log:news").Val(); n != 0 {
					t.Error("a change that was refused is in the history")
				}
			})
		})
	}
}

// TestDamagedEntryIsMended by a push, or removed, on the version that its error names.
func TestDamagedEntryIsMended(t *testing.T) {
	for raw, want := range map[string]int64{
		"": 0, "mine": 0, "7": 0, "+7 {}": 0, "007 {}": 0, "99999999999999999999 {}": 0, "7 {": 7, `7 {"revision":"x"}`: 7,
	} {
		t.Run(raw, func(t *testing.T) {
			each(t, Config{}, func(t *testing.T, k *kit) {
				spoil := func() int64 {
					t.Helper()
					k.rdb.HSet(k.ctx, "luacrawl:registry", "news", raw)
					_, err := k.client.RegistryEntry(k.ctx, "news")
					var damaged *DamagedEntryError
					if !errors.As(err, &damaged) || damaged.Version != want {
						t.Fatalf("%v, want version %d", err, want)
					}
					return damaged.Version
				}
				if _, err := push(t, k, revisionOf("news", map[string]string{"news.lua": ""}), spoil()); err != nil {
					t.Errorf("a push: %v", err)
				}
				if _, err := k.client.RegistryEntry(k.ctx, "news"); err != nil {
					t.Error(err)
				}
				if err := k.client.Remove(k.ctx, "news", spoil(), "ann"); err != nil {
					t.Errorf("a removal: %v", err)
				}
				if _, err := k.client.RegistryEntry(k.ctx, "news"); !errors.Is(err, ErrNoEntry) {
					t.Error(err)
				}
			})
		})
	}
}

// TestRemovalWhoseReplyIsLost is done, and its caller is told so.
func TestRemovalWhoseReplyIsLost(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, url string) {
		p := newCuttingProxy(t, url)
		k := newKit(t, p.url, Config{})
		v, err := push(t, k, revisionOf("news", map[string]string{"news.lua": ""}), 0)
		if err != nil {
			t.Fatal(err)
		}
		p.cutAfter(0)
		if err := k.client.Remove(k.ctx, "news", v, "ann"); err != nil || p.cuts.Load() != 1 {
			t.Errorf("%v, %d replies lost", err, p.cuts.Load())
		}
		var conflict *ConflictError
		if err := k.client.Remove(k.ctx, "news", v, "ann"); !errors.As(err, &conflict) {
			t.Errorf("a removal of what another has removed: %v", err)
		}
	})
}
