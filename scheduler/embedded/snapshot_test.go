package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

var allBytes = func() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}()

var scores = map[string]float64{
	"max": math.MaxFloat64, "tiny": math.SmallestNonzeroFloat64, "inf": math.Inf(1), "-inf": math.Inf(-1), "third": 1.0 / 3,
	"sum": 0.1 + 0.2, "parked": 1e15 + 1700000000123, "2^53": 1 << 53, "negative": -1234.5678901234567, "zero": 0, allBytes: 42,
}

func fill(t *testing.T, c *redis.Client) {
	t.Helper()
	ctx := t.Context()
	_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Set(ctx, "text", allBytes, 0)
		p.Set(ctx, "empty", "", 0)
		p.Set(ctx, allBytes, "key of bytes", 0)
		p.Set(ctx, "leaving", "x", time.Hour)
		p.HSet(ctx, "hash", "b", "2", "a", allBytes, allBytes, "", "", "c")
		p.RPush(ctx, "list", "one", "", allBytes, "one")
		p.SAdd(ctx, "set", "x", "", allBytes)
		for member, score := range scores {
			p.ZAdd(ctx, "zset", redis.Z{Member: member, Score: score})
		}
		for i := 1; i <= 5; i++ {
			p.XAdd(ctx, &redis.XAddArgs{Stream: "stream", ID: fmt.Sprintf("%d-0", i), Values: []string{"item", allBytes, "item_id", ""}})
		}
		p.XGroupCreate(ctx, "stream", "group", "0")
		p.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "group", Consumer: "a", Streams: []string{"stream", ">"}, Count: 3})
		p.XAck(ctx, "stream", "group", "2-0")
		p.PExpire(ctx, "zset", 90*time.Minute)
		p.Do(ctx, "SELECT", 3)
		p.RPush(ctx, "elsewhere", "x")
		p.Do(ctx, "SELECT", 0)
		return nil
	})
	must(t, err)
}

func check(t *testing.T, c *redis.Client) {
	t.Helper()
	ctx := t.Context()
	for key, want := range map[string]string{"text": allBytes, "empty": "", allBytes: "key of bytes", "leaving": "x"} {
		if got, err := c.Get(ctx, key).Result(); err != nil || got != want {
			t.Errorf("GET %q = %q, %v, want %q", key, got, err, want)
		}
	}
	if got := c.HGetAll(ctx, "hash").Val(); !maps.Equal(got, map[string]string{"b": "2", "a": allBytes, allBytes: "", "": "c"}) {
		t.Errorf("hash = %q", got)
	}
	if got := c.LRange(ctx, "list", 0, -1).Val(); !slices.Equal(got, []string{"one", "", allBytes, "one"}) {
		t.Errorf("list = %q", got)
	}
	if got := slices.Sorted(slices.Values(c.SMembers(ctx, "set").Val())); !slices.Equal(got, []string{"", allBytes, "x"}) {
		t.Errorf("set = %q", got)
	}
	got := map[string]float64{}
	for _, z := range c.ZRangeWithScores(ctx, "zset", 0, -1).Val() {
		got[z.Member.(string)] = z.Score
	}
	if !maps.Equal(got, scores) {
		t.Errorf("zset = %v, want %v", got, scores)
	}
	for key, want := range map[string]time.Duration{"leaving": time.Hour, "zset": 90 * time.Minute, "text": -1} {
		if got := c.PTTL(ctx, key).Val(); got > want || got < want-time.Minute {
			t.Errorf("PTTL %s = %v, want %v", key, got, want)
		}
	}
	if got := c.XRange(ctx, "stream", "-", "+").Val(); len(got) != 5 || got[4].ID != "5-0" || !maps.Equal(got[4].Values, map[string]any{"item": allBytes, "item_id": ""}) {
		t.Errorf("stream = %v", got)
	}
	if got := c.XPending(ctx, "stream", "group").Val(); got == nil || got.Count != 2 || got.Lower != "1-0" || got.Higher != "3-0" || got.Consumers["a"] != 2 {
		t.Errorf("pending of the stream = %+v", got)
	}
	if got := c.XInfoGroups(ctx, "stream").Val(); len(got) != 1 || got[0].LastDeliveredID != "3-0" {
		t.Errorf("groups of the stream = %+v", got)
	}
	if got := c.Keys(ctx, "*").Val(); len(got) != 9 {
		t.Errorf("keys = %q", got)
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "folder")
	s := start(t, Options{Dir: dir})
	fill(t, dial(t, s.Addr()))
	closeServer(t, s)
	closeServer(t, s) // again: nothing

	s = start(t, Options{Dir: dir})
	check(t, dial(t, s.Addr()))
	elsewhere := redis.NewClient(&redis.Options{Addr: s.Addr(), DB: 3})
	defer elsewhere.Close()
	if got := elsewhere.LRange(t.Context(), "elsewhere", 0, -1).Val(); !slices.Equal(got, []string{"x"}) {
		t.Errorf("database 3: %q", got)
	}
}

func TestInMemory(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	fill(t, dial(t, s.Addr()))
	check(t, dial(t, strings.TrimPrefix(s.URL(), "redis://")))
	closeServer(t, s)
}

func TestExpiredIsNotRestored(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Dir: t.TempDir()})
	c := dial(t, s.Addr())
	must(t, c.Set(t.Context(), "k", "v", time.Millisecond).Err())
	must(t, c.Set(t.Context(), "stays", "v", time.Hour).Err())
	s.mu.Lock()
	s.expiry.advance(s.redis, s.expiry.last.Add(-time.Minute)) // a clock that was set back
	s.expiry.advance(s.redis, s.expiry.last.Add(59*time.Minute))
	s.mu.Unlock()
	if got := c.Keys(t.Context(), "*").Val(); !slices.Equal(got, []string{"stays"}) {
		t.Errorf("59 minutes later there are %q", got)
	}
	if !restore(s.redis, record{kind: "string", key: "old", expires: 1, values: []string{"v"}}) || s.redis.Exists("old") {
		t.Error("a key that had expired is back")
	}
}

func TestUnchangedIsNotWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, Options{Dir: dir})
	c := dial(t, s.Addr())
	fill(t, c)
	for i := range 100 {
		must(t, c.HSet(t.Context(), "hash", "field"+strconv.Itoa(i), "v").Err())
		must(t, c.SAdd(t.Context(), "set", i).Err())
	}
	must(t, s.snapshot())
	before, err := os.Stat(filepath.Join(dir, snapshotName))
	must(t, err)
	must(t, c.RPush(t.Context(), "list", "two").Err())
	must(t, c.RPop(t.Context(), "list").Err())
	must(t, s.snapshot())
	after, err := os.Stat(filepath.Join(dir, snapshotName))
	must(t, err)
	if !os.SameFile(before, after) {
		t.Error("the same content was written again")
	}
	must(t, c.RPush(t.Context(), "list", "two").Err())
	must(t, s.snapshot())
	after, err = os.Stat(filepath.Join(dir, snapshotName))
	must(t, err)
	if os.SameFile(before, after) {
		t.Error("a change was not written")
	}
	must(t, os.Remove(filepath.Join(dir, snapshotName)))
	must(t, s.snapshot())
	if _, err := os.Stat(filepath.Join(dir, snapshotName)); err != nil {
		t.Error("a snapshot that was deleted is not written again:", err)
	}
}

func TestWritesAreCounted(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	c := dial(t, s.Addr())
	ctx := t.Context()
	for _, tc := range []struct {
		name    string
		do      func() error
		changes bool
	}{
		{"a read", func() error { return c.HGetAll(ctx, "h").Err() }, false},
		{"a script that reads", func() error {
			return c.Eval(ctx, `return redis.call("TIME")[1] .. redis.call("ZCARD", "z")`, nil).Err()
		}, false},
		{"a write", func() error { return c.Set(ctx, "k", "v", 0).Err() }, true},
		{"a script that writes", func() error { return c.Eval(ctx, `return redis.call("SET", "k", "v")`, nil).Err() }, true},
		{"a transaction", func() error {
			_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Get(ctx, "k"); return nil })
			return err
		}, true},
	} {
		before := s.writes.total.Load()
		must(t, tc.do())
		if got := s.writes.total.Load() != before; got != tc.changes {
			t.Errorf("%s counts as a change: %v", tc.name, got)
		}
	}
}

func TestSnapshotsNeeded(t *testing.T) {
	t.Parallel()
	var seen snapshotsSeen
	for i, tc := range []struct {
		writes uint64
		want   bool
	}{{0, false}, {3, true}, {3, true}, {3, false}, {3, false}, {4, true}, {5, true}, {5, true}, {5, false}} {
		if got := seen.needed(tc.writes); got != tc.want {
			t.Errorf("step %d: needed(%d) = %v", i, tc.writes, got)
		}
	}
}

// A snapshot is one point in time: a script that moves a value between keys is never seen half done.
func TestSnapshotIsAtomic(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Dir: t.TempDir()})
	c := dial(t, s.Addr())
	ctx := t.Context()
	must(t, c.RPush(ctx, "a", "x").Err())
	var stop atomic.Bool
	done := make(chan error)
	go func() {
		var err error
		for i := 0; err == nil && !stop.Load(); i++ {
			from, to := "a", fmt.Sprint("b", i%50)
			err = c.Eval(ctx, `redis.call("LPOP", KEYS[1]); redis.call("RPUSH", KEYS[2], "x"); return 1`, []string{from, to}).Err()
			if err == nil {
				err = c.Eval(ctx, `redis.call("LPOP", KEYS[1]); redis.call("RPUSH", KEYS[2], "x"); return 1`, []string{to, from}).Err()
			}
		}
		done <- err
	}()
	for range 200 {
		n := 0
		must(t, readAll(s.redis, func(r record) { n += len(r.values) }))
		if n != 1 {
			t.Errorf("a snapshot has %d values, want 1", n)
			break
		}
	}
	stop.Store(true)
	must(t, <-done)
}

func TestOtherTypesAreNamed(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := start(t, Options{Dir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, dial(t, s.Addr()).PFAdd(t.Context(), "hll-key", "a").Err())
	must(t, s.snapshot())
	must(t, s.snapshot())
	if n := strings.Count(log.String(), "hll-key"); n != 1 {
		t.Errorf("said %d times that a count is not kept:\n%s", n, &log)
	}
}

func TestDamagedSnapshot(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	s := start(t, Options{Dir: whole})
	fill(t, dial(t, s.Addr()))
	closeServer(t, s)
	data, err := os.ReadFile(filepath.Join(whole, snapshotName))
	must(t, err)

	flipped := slices.Clone(data)
	flipped[len(flipped)/2] ^= 1
	for name, damage := range map[string][]byte{
		"flipped bit": flipped,
		"cut short":   data[:len(data)-5],
		"cut hard":    data[:20],
		"empty":       {},
		"foreign":     []byte("REDIS0009\n"),
		"newer":       bytes.Replace(data, []byte("snapshot 1\n"), []byte("snapshot 2\n"), 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, snapshotName)
			must(t, os.WriteFile(file, damage, 0o644))
			for range 2 { // the lock is given back
				_, err := Start(t.Context(), Options{Dir: dir})
				if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "move the file away") {
					t.Fatalf("Start: %v", err)
				}
			}
			if _, err := Find(t.Context(), dir); !errors.Is(err, ErrDamaged) {
				t.Errorf("Find: %v", err)
			}
			if now, _ := os.ReadFile(file); !bytes.Equal(now, damage) {
				t.Error("the damaged file was changed")
			}
			must(t, os.Remove(file))
			closeServer(t, start(t, Options{Dir: dir}))
		})
	}
}

// Nonsense under a right checksum is refused too, and never crashes.
func TestEveryByteMatters(t *testing.T) {
	t.Parallel()
	body := appendRecord(nil, record{kind: "zset", key: "k", values: []string{"m", "1.5"}})
	body = appendRecord(body, record{db: 15, kind: "hash", key: "h", expires: 1 << 50, values: []string{"f", "v"}})
	for i := range body {
		for _, c := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			changed := slices.Clone(body)
			changed[i] = c
			d := decoder{data: changed}
			for len(d.data) > 0 && !d.bad {
				restore(miniredis.NewMiniRedis(), d.record())
			}
		}
	}
}
