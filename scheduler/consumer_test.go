package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"luacrawl/scheduler/redistest"
)

func xadd(key, item string) *redis.XAddArgs {
	return &redis.XAddArgs{Stream: key, Values: []string{"item", item, "item_id", ""}}
}

// put adds items that are numbers, in a list or a stream.
func (k *kit) put(kind string, from, to int) {
	k.t.Helper()
	_, err := k.rdb.Pipelined(k.ctx, func(p redis.Pipeliner) error {
		for i := from; i < to; i++ {
			if kind == "list" {
				p.RPush(k.ctx, "hotnews:items", i)
			} else {
				p.XAdd(k.ctx, xadd("hotnews:items", strconv.Itoa(i)))
			}
		}
		return nil
	})
	if err != nil {
		k.t.Fatal(err)
	}
}

// eachKind runs a test with consumers of a list and of a stream, on every backend.
func eachKind(t *testing.T, test func(t *testing.T, k *kit, kind string)) {
	for _, kind := range []string{"list", "stream"} {
		t.Run(kind, func(t *testing.T) {
			each(t, Config{}, func(t *testing.T, k *kit) { test(t, k, kind) })
		})
	}
}

func (k *kit) consumer(name string, hold time.Duration) *Consumer {
	return k.client.Consume(Fleet{Spider: "hotnews"}, ConsumerOptions{Name: name, Hold: hold})
}

// take is Take that must succeed.
func (k *kit) take(c *Consumer, n int) Taken {
	k.t.Helper()
	t, err := c.Take(k.ctx, n)
	if err != nil {
		k.t.Fatal(err)
	}
	return t
}

func (k *kit) done(c *Consumer) {
	k.t.Helper()
	if kept, err := c.Done(k.ctx); err != nil || !kept {
		k.t.Fatalf("done: kept %v, %v", kept, err)
	}
}

func TestConsumer(t *testing.T) {
	eachKind(t, func(t *testing.T, k *kit, kind string) {
		a, b := k.consumer("a", time.Hour), k.consumer("b", time.Hour)
		if got := k.take(a, 3); len(got.Items) != 0 || got.Others != 0 {
			t.Errorf("of nothing: %+v", got)
		}
		k.put(kind, 0, 10)
		if got, err := a.Kind(k.ctx); got != kind || err != nil {
			t.Errorf("kind %q, %v", got, err)
		}
		if got := k.take(a, 3); !inOrder(got.Items, 0, 3) {
			t.Errorf("a took %q", got.Items)
		}
		if got := k.take(b, 3); !inOrder(got.Items, 3, 6) {
			t.Errorf("b took %q", got.Items)
		}
		k.done(a)
		if n, err := b.Back(k.ctx); n != 3 || err != nil {
			t.Errorf("%d back, %v", n, err)
		}
		if got := k.take(a, 3); !inOrder(got.Items, 3, 6) {
			t.Errorf("what was handed back does not come first: %q", got.Items)
		}
		if err := a.Keep(k.ctx); err != nil {
			t.Error(err)
		}
		k.done(a)
		if got := k.take(b, 100); !inOrder(got.Items, 6, 10) {
			t.Errorf("b took %q", got.Items)
		}
		if got := k.take(a, 100); len(got.Items) != 0 || got.Others != 4 {
			t.Errorf("at the end: %+v", got)
		}
		k.done(b)
		if got := k.take(a, 100); len(got.Items) != 0 || got.Others != 0 {
			t.Errorf("after it: %+v", got)
		}
		for _, c := range []*Consumer{a, b} {
			if err := c.Close(k.ctx); err != nil {
				t.Error(err)
			}
		}
		left, _ := k.rdb.Keys(k.ctx, "hotnews:items*").Result()
		want := map[string][]string{"stream": {"hotnews:items"}}[kind]
		if !slices.Equal(left, want) {
			t.Errorf("keys are left: %q", left)
		}
		if kind == "stream" {
			if got, err := k.rdb.XInfoConsumers(k.ctx, "hotnews:items", DefaultGroup).Result(); len(got) > 0 || err != nil {
				t.Errorf("consumers are left: %+v, %v", got, err)
			}
		}
	})
}

// What a consumer that was killed held goes to the next one, before new items; not before its hold has ended.
func TestKilledConsumer(t *testing.T) {
	eachKind(t, func(t *testing.T, k *kit, kind string) {
		k.put(kind, 0, 6)
		hold := 300 * time.Millisecond
		killed, next := k.consumer("same", hold), k.consumer("same", hold)
		k.take(killed, 3)
		begun := time.Now()
		if got := k.take(next, 2); !inOrder(got.Items, 3, 5) || time.Since(begun) > hold {
			t.Fatalf("the next took %q", got.Items)
		}
		k.done(next)
		if got := k.take(next, 2); !inOrder(got.Items, 5, 6) {
			t.Fatalf("the next took %q", got.Items)
		}
		k.done(next)
		got := k.take(next, 3)
		for ; len(got.Items) == 0; got = k.take(next, 3) {
			if got.Others != 3 || !sleep(k.ctx, 5*time.Millisecond) {
				t.Fatalf("%+v", got)
			}
		}
		if !inOrder(got.Items, 0, 3) {
			t.Errorf("taken over: %+v", got)
		}
		k.done(next)
		if kind == "list" {
			if kept, err := killed.Done(k.ctx); kept || err != nil {
				t.Errorf("items that another has done: kept %v, %v", kept, err)
			}
		}
		if got := k.take(next, 9); len(got.Items)+int(got.Others) != 0 {
			t.Errorf("they come again: %+v", got)
		}
	})
}

// A consumer that leaves with items in its hands leaves them to the next one.
func TestConsumerThatLeaves(t *testing.T) {
	eachKind(t, func(t *testing.T, k *kit, kind string) {
		k.put(kind, 0, 3)
		a, b := k.consumer("a", 50*time.Millisecond), k.consumer("b", 50*time.Millisecond)
		k.take(a, 3)
		if err := a.Close(k.ctx); err != nil {
			t.Fatal(err)
		}
		got := k.take(b, 3)
		for ; len(got.Items) == 0; got = k.take(b, 3) {
			if got.Others != 3 || !sleep(k.ctx, 5*time.Millisecond) {
				t.Fatalf("%+v", got)
			}
		}
		if !inOrder(got.Items, 0, 3) {
			t.Errorf("%q", got.Items)
		}
	})
}

// A sign of life keeps items for longer than the hold.
func TestKeptItems(t *testing.T) {
	eachKind(t, func(t *testing.T, k *kit, kind string) {
		k.put(kind, 0, 3)
		hold := 400 * time.Millisecond
		slow, other := k.consumer("slow", hold), k.consumer("other", hold)
		k.take(slow, 3)
		for end := time.Now().Add(3 * hold); time.Now().Before(end); sleep(k.ctx, hold/10) {
			if err := slow.Keep(k.ctx); err != nil {
				t.Fatal(err)
			}
			if got := k.take(other, 3); len(got.Items) > 0 || got.Others != 3 {
				t.Fatalf("another got %+v", got)
			}
		}
		k.done(slow)
	})
}

// An answer that was lost loses nothing: what was taken comes again.
func TestLostTake(t *testing.T) {
	eachKind(t, func(t *testing.T, k *kit, kind string) {
		k.put(kind, 0, 4)
		c := k.consumer("a", time.Hour)
		k.take(c, 3)
		if s, ok := c.holds.(*streamHolding); ok {
			s.ids, s.unsure = nil, true
		}
		if got := k.take(c, 3); !inOrder(got.Items, 0, 3) {
			t.Errorf("%q", got.Items)
		}
		k.done(c)
		if got := k.take(c, 3); !inOrder(got.Items, 3, 4) {
			t.Errorf("%q", got.Items)
		}
	})
}

func TestGroups(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.put("stream", 0, 3)
		for _, group := range []string{"one", "two"} {
			c := k.client.Consume(Fleet{Spider: "hotnews"}, ConsumerOptions{Group: group})
			if got := k.take(c, 9); !inOrder(got.Items, 0, 3) {
				t.Errorf("group %s: %q", group, got.Items)
			}
			k.done(c)
		}
	})
}

// Entries that were trimmed while they were in somebody's hands are counted, and hold nothing up.
func TestTrimmedInHand(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	k := newKit(t, server.URL(), Config{})
	k.put("stream", 0, 5)
	c := k.consumer("a", time.Hour)
	k.take(c, 5)
	k.rdb.XTrimMaxLen(k.ctx, "hotnews:items", 2)
	c.holds.(*streamHolding).unsure = true
	if got := k.take(c, 5); !inOrder(got.Items, 3, 5) || got.Lost != 3 {
		t.Errorf("%+v", got)
	}
	k.done(c)
	if p := k.rdb.XPending(k.ctx, "hotnews:items", DefaultGroup).Val(); p.Count != 0 {
		t.Errorf("%d are pending", p.Count)
	}
}

// A full Redis is emptied by consumers: what they do needs no memory that it refuses.
func TestConsumerOfAFullRedis(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"list", "stream"} {
		server := redistest.Start(t, redistest.Options{})
		k := newKit(t, server.URL(), Config{})
		k.put(kind, 0, 6)
		c := k.consumer("a", time.Hour)
		if kind == "stream" {
			k.take(c, 1)
			k.done(c)
		}
		k.rdb.ConfigSet(k.ctx, "maxmemory", "1")
		if err := k.rdb.Set(k.ctx, "x", "y", 0).Err(); !outOfMemory(err) {
			t.Fatalf("redis is not full: %v", err)
		}
		ctx, cancel := context.WithTimeout(k.ctx, 10*time.Second)
		defer cancel()
		for range 2 {
			if got, err := c.Take(ctx, 2); err != nil || len(got.Items) != 2 {
				t.Fatalf("%s: %+v, %v", kind, got, err)
			}
			if err := c.Keep(ctx); err != nil {
				t.Fatal(kind, err)
			}
			if _, err := c.Back(ctx); err != nil {
				t.Fatal(kind, err)
			}
			if got, err := c.Take(ctx, 2); err != nil || len(got.Items) != 2 {
				t.Fatalf("%s, again: %+v, %v", kind, got, err)
			}
			if kept, err := c.Done(ctx); err != nil || !kept {
				t.Fatal(kind, kept, err)
			}
		}
	}
}

func TestFlushTakesItemsInHand(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.put("list", 0, 5)
		k.take(k.consumer("killed", time.Millisecond), 3)
		if err := k.client.Flush(k.ctx, "hotnews", Keys{}, FlushOptions{Force: true, Items: true}); err != nil {
			t.Fatal(err)
		}
		if left, _ := k.rdb.Keys(k.ctx, "hotnews:items*").Result(); len(left) > 0 {
			t.Errorf("keys are left: %q", left)
		}
	})
}

func TestConsumerOfAnotherType(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.rdb.Set(k.ctx, "hotnews:items", "x", 0)
		if _, err := k.consumer("a", 0).Take(k.ctx, 1); !errors.Is(err, ErrWrongType) || !slices.Contains([]string{"hotnews:items holds a string, not a list or stream: rename or delete it, or set another key name"}, fmt.Sprint(err)) {
			t.Errorf("%v", err)
		}
	})
}

// TestLateEndOfABatch: the end of a batch that a broken connection delivers when the next one is in hand leaves that alone.
func TestLateEndOfABatch(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		c := k.client.Consume(Fleet{Spider: k.cfg.Spider, Keys: k.cfg.Keys}, ConsumerOptions{Name: "w"})
		k.rdb.RPush(k.ctx, k.keys.items, "1", "2", "3")
		late := k.take(c, 1)
		name := (&listHolding{c}).name()
		if _, err := c.Done(k.ctx); err != nil {
			t.Fatal(err)
		}
		next := k.take(c, 1)
		for _, back := range []string{"0", "1"} {
			if _, err := k.run(k.ctx, itemsDoneScript, name, back); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := c.Back(k.ctx); err != nil || n != 1 || fmt.Sprint(late.Items, next.Items) != "[1] [2]" {
			t.Fatalf("%d came back of %v, after %v, %v", n, next.Items, late.Items, err)
		}
		if left := k.rdb.LRange(k.ctx, k.keys.items, 0, -1).Val(); fmt.Sprint(left) != "[2 3]" {
			t.Errorf("left are %v", left)
		}
	})
}
