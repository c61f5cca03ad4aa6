package scheduler

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// seeds takes in and leases up to n seeds.
func (k *kit) takeSeeds(n int) string {
	k.t.Helper()
	return paths(k.exchange(k.Frontier, nil, n, n).Leases)
}

func TestSeedsByType(t *testing.T) {
	each(t, Config{Delay: 10e9, Concurrency: 1}, func(t *testing.T, k *kit) {
		key := k.keys.startURLs
		for name, c := range map[string]struct {
			fill func()
			want string
		}{
			"rpush is first in first out": {func() { k.rdb.RPush(k.ctx, key, "a", "b", "c") }, "a b c"},
			"lpush is last in first out":  {func() { k.rdb.LPush(k.ctx, key, "a", "b", "c") }, "c b a"},
			"zset highest first":          {func() { k.rdb.ZAdd(k.ctx, key, z(1, "a"), z(3, "b"), z(2, "c")) }, "b c a"},
			"set in any order":            {func() { k.rdb.SAdd(k.ctx, key, "a", "b", "c") }, ""},
		} {
			c.fill()
			got := k.takeSeeds(10)
			if c.want == "" {
				words := strings.Fields(got)
				slices.Sort(words)
				got, c.want = strings.Join(words, " "), "a b c"
			}
			if got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
			if n := k.rdb.Exists(k.ctx, key).Val(); n != 0 {
				t.Errorf("%s: start_urls is not empty", name)
			}
			k.check()
		}
	})
}

func TestSeedsAreLeasedLikeRequests(t *testing.T) {
	each(t, Config{LeaseAttempts: 2}, func(t *testing.T, k *kit) {
		raw := "not \xff UTF-8"
		k.rdb.RPush(k.ctx, k.keys.startURLs, raw, "second")
		l := k.exchange(k.Frontier, nil, 1, 1).Leases
		if len(l) != 1 || string(l[0].Seed) != raw || l[0].Slot != "@seeds" || l[0].Request != nil {
			t.Fatalf("%+v", l)
		}
		k.expire(l...)
		if s := k.check(); s.Enqueued != 1 || s.InFlight != 1 || s.Seeds != 1 {
			t.Errorf("%+v", s)
		}
		l = k.exchange(k.Frontier, nil, 2, 5).Leases // not back to start_urls, where it would loop
		if got := paths(l); got != raw+" second" {
			t.Fatalf("leased %q", got)
		}
		k.expire(l[0])
		k.exchange(k.Frontier, []*Outcome{{Lease: l[1], Dead: []DeadLetter{{Kind: DeadSeed, Reason: ReasonBadSeed, Seed: raw}}}}, 1, 0)
		if s := k.check(); s.Dead != 2 || s.Enqueued != 2 || s.DeadLetters != 2 {
			t.Errorf("%+v", s)
		}
		letters, _ := k.client.DeadLetters(k.ctx, "hotnews", Keys{}, 0, -1)
		for _, l := range letters {
			if !strings.Contains(l, `"kind":"seed"`) || !strings.Contains(l, `"seed_base64":"bm90IP8gVVRGLTg="`) {
				t.Errorf("letter %s", l)
			}
		}
	})
}

func TestRefillStopsAtMaxPending(t *testing.T) {
	each(t, Config{MaxPending: 5}, func(t *testing.T, k *kit) {
		k.rdb.RPush(k.ctx, k.keys.startURLs, "1", "2", "3", "4", "5", "6", "7")
		x := k.exchange(k.Frontier, nil, 0, 100)
		if x.Refilled != 5 || x.Pending != 5 {
			t.Errorf("%+v", x)
		}
		if x := k.exchange(k.Frontier, nil, 1, 100); x.Refilled != 0 || len(x.Leases) != 1 {
			t.Errorf("%+v", x)
		}
		if x := k.exchange(k.Frontier, nil, 0, 100); x.Refilled != 1 {
			t.Errorf("%+v", x)
		}
		k.check()
	})
}

func TestPushSeeds(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		key := k.keys.startURLs
		for name, c := range map[string]struct {
			fill  func()
			want  string
			taken int
		}{
			"new":  {func() {}, "x y z x", 4},
			"list": {func() { k.rdb.RPush(k.ctx, key, "a") }, "a x y z x", 4},
			"zset": {func() { k.rdb.ZAdd(k.ctx, key, z(-3, "a"), z(7, "b")) }, "b a x y z", 3},
			"set":  {func() { k.rdb.SAdd(k.ctx, key, "x") }, "x y z", 2},
		} {
			c.fill()
			n, err := k.client.PushSeeds(k.ctx, "hotnews", Keys{}, [][]byte{[]byte("x"), []byte("y"), []byte("z"), []byte("x")})
			if err != nil || n != c.taken {
				t.Errorf("%s: %d, %v", name, n, err)
			}
			got := k.takeSeeds(10)
			if name == "set" {
				words := strings.Fields(got)
				slices.Sort(words)
				got = strings.Join(words, " ")
			}
			if got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
		k.rdb.Set(k.ctx, key, "a string", 0)
		if _, err := k.client.PushSeeds(k.ctx, "hotnews", Keys{}, [][]byte{[]byte("x")}); err == nil || !strings.Contains(err.Error(), "hotnews:start_urls holds a string") {
			t.Errorf("wrong type: %v", err)
		}
	})
}

func TestPushManySeedsKeepsOrder(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		var seeds [][]byte
		for i := range 2500 {
			seeds = append(seeds, []byte{byte('0' + i/1000), byte('0' + i/100%10), byte('0' + i/10%10), byte('0' + i%10)})
		}
		if n, err := k.client.PushSeeds(k.ctx, "hotnews", Keys{}, seeds); n != 2500 || err != nil {
			t.Fatal(n, err)
		}
		x := k.exchange(k.Frontier, nil, 256, 2500)
		if len(x.Leases) != 256 || string(x.Leases[255].Seed) != "0255" {
			t.Errorf("leased %d, last %s", len(x.Leases), x.Leases[255].Seed)
		}
		if s := k.check(); s.Pending != 2500-256 { // Refilled is not known after a lost reply
			t.Errorf("%+v", s)
		}
	})
}

func TestWrongTypeOfStartURLs(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		k.rdb.Set(k.ctx, k.keys.startURLs, "a string", 0)
		if x := k.exchange(k.Frontier, nil, 1, 1); len(x.Leases) != 1 {
			t.Error("work that is there does not go on")
		}
		const want = "hotnews:start_urls holds a string, not a list, set or zset: rename or delete it, or set another key name"
		x := k.exchange(k.Frontier, nil, 1, 1)
		if !errors.Is(x.Seeds, ErrWrongType) || x.Seeds.Error() != want || len(x.Leases) != 0 || !k.Down().IsZero() {
			t.Errorf("%+v", x)
		}
		k.rdb.Del(k.ctx, k.keys.startURLs)
		k.rdb.RPush(k.ctx, k.keys.startURLs, "seed")
		if x := k.exchange(k.Frontier, nil, 1, 1); x.Seeds != nil || paths(x.Leases) != "seed" {
			t.Errorf("when the key is mended: %+v", x)
		}
	})
}
