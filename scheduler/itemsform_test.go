package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// takeLeft takes until what others have left comes, or nothing is left.
func (k *kit) takeLeft(c *Consumer, n int) Taken {
	k.t.Helper()
	for {
		got := k.take(c, n)
		if len(got.Items) > 0 || got.Others == 0 {
			return got
		}
		if !sleep(k.ctx, 5*time.Millisecond) {
			k.t.Fatalf("nothing comes, %d are in other hands", got.Others)
		}
	}
}

// What consumers held of a list when items became a stream comes once; those who are alive still end it or have it back.
func TestListInHandBecomesAStream(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.put("list", 0, 6)
		killed, alive, slow := k.consumer("killed", 300*time.Millisecond), k.consumer("alive", time.Hour), k.consumer("slow", time.Hour)
		k.take(killed, 2)
		k.take(alive, 2)
		k.take(slow, 2)
		k.put("stream", 6, 8)
		if s := k.check(); s.Items != 2 || s.InHand != 6 {
			t.Errorf("%d items, %d in hand", s.Items, s.InHand)
		}
		next := k.consumer("next", time.Hour)
		first := k.takeLeft(next, 9)
		k.done(next)
		second := k.takeLeft(next, 9)
		if got := slices.Sorted(slices.Values(append(first.Items, second.Items...))); fmt.Sprint(got) != "[0 1 6 7]" {
			t.Errorf("the next took %q, then %q", first.Items, second.Items)
		}
		if err := next.Keep(k.ctx); err != nil {
			t.Error(err)
		}
		k.done(next)
		if kept, err := killed.Done(k.ctx); kept || err != nil {
			t.Errorf("items that another has done: kept %v, %v", kept, err)
		}
		if n, err := slow.Back(k.ctx); n != 2 || err != nil {
			t.Errorf("%d back, %v", n, err)
		}
		if got := k.take(next, 9); !inOrder(got.Items, 4, 6) || got.Others != 2 {
			t.Errorf("what was handed back does not come: %+v", got)
		}
		k.done(next)
		k.done(alive)
		if got := k.take(next, 9); len(got.Items)+int(got.Others) != 0 {
			t.Errorf("they come again: %+v", got)
		}
		if left := k.rdb.Keys(k.ctx, "hotnews:items*").Val(); !slices.Equal(left, []string{"hotnews:items"}) {
			t.Errorf("keys are left: %q", left)
		}
	})
}

// Who has taken items off a list that another left goes on with the stream, and an answer that was lost loses none.
func TestLostTakeOfAListLeftBehind(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.put("list", 0, 2)
		k.take(k.consumer("killed", time.Millisecond), 2)
		sleep(k.ctx, 5*time.Millisecond) // its hold is over
		k.put("stream", 2, 4)
		c := k.consumer("a", time.Hour)
		k.takeLeft(c, 1)
		if got := k.takeLeft(c, 1); !inOrder(got.Items, 0, 2) {
			t.Errorf("asked again: %q", got.Items)
		}
		if n, err := c.Back(k.ctx); n != 2 || err != nil {
			t.Errorf("%d back, %v", n, err)
		}
		if got := k.takeLeft(c, 1); !inOrder(got.Items, 0, 2) {
			t.Errorf("after it: %q", got.Items)
		}
		k.done(c)
		if got := k.take(c, 9); !inOrder(got.Items, 2, 4) {
			t.Errorf("of the stream: %q", got.Items)
		}
		k.done(c)
	})
}

// A crawl does not begin while its key of items is of another form: nothing is fetched that could not be stored. What is there can be
// taken out meanwhile.
func TestItemsOfTheOtherForm(t *testing.T) {
	for kind, c := range map[string]struct {
		stream int64 // that is asked for
		says   string
	}{
		"list": {1000, "hotnews:items holds a list of 2 items, and the spider keeps a stream by now: " +
			`the crawl begins when they are taken out ("luacrawl items consume hotnews"), or the key is renamed, or items_key is another`},
		"stream": {0, "hotnews:items holds a stream of 3 items, and the spider keeps a list by now: " +
			`the crawl begins when the key is deleted, once each group has had its items ("luacrawl items consume hotnews --group NAME"), or renamed, or items_key is another`},
	} {
		t.Run(kind, func(t *testing.T) {
			each(t, Config{}, func(t *testing.T, k *kit) {
				k.put(kind, 0, 3)
				k.take(k.consumer("killed", time.Millisecond), 1)
				k.rdb.SAdd(k.ctx, k.keys.dupefilter, "seen")
				if err := k.Close(k.ctx); err != nil {
					t.Fatal(err)
				}
				k.cfg.ItemStream, k.cfg.FlushOnStart = c.stream, true
				if _, err := Open(k.ctx, k.client, k.cfg); !errors.Is(err, ErrWrongType) || err.Error() != "joining the crawl of hotnews: "+c.says {
					t.Errorf("%v\nwant %s", err, c.says)
				}
				if k.rdb.SCard(k.ctx, k.keys.dupefilter).Val() != 1 {
					t.Error("it was flushed all the same")
				}
				k.takeAll(3)
				if kind == "stream" {
					k.rdb.Del(k.ctx, k.keys.items)
				}
				k.join()
			})
		})
	}
}

// While a worker of the other form is alive, it is a setting that differs; when somebody else's items came into its way, all the same those.
func TestItemsOfTheOtherFormInAFleet(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.put("list", 0, 1)
		cfg := k.cfg
		cfg.ItemStream = 10
		var differs *SettingsError
		if _, err := Open(k.ctx, k.client, cfg); !errors.As(err, &differs) || differs.Name != "items_type" {
			t.Errorf("of another form than the fleet: %v", err)
		}
		k.rdb.Del(k.ctx, k.keys.items)
		k.put("stream", 0, 1)
		if _, err := Open(k.ctx, k.client, k.cfg); !errors.Is(err, ErrWrongType) || !strings.Contains(err.Error(), "a stream of 1 item, ") {
			t.Errorf("of the fleet's form: %v", err)
		}
		k.rdb.Del(k.ctx, k.keys.items)
		k.rdb.Set(k.ctx, k.keys.items, "x", 0)
		if _, err := Open(k.ctx, k.client, k.cfg); !errors.Is(err, ErrWrongType) || !strings.Contains(err.Error(), "hotnews:items holds a string, not a list: rename or delete it") {
			t.Errorf("a string: %v", err)
		}
	})
}

// takeAll takes all items out, which are numbers in any order.
func (k *kit) takeAll(n int) {
	k.t.Helper()
	c := k.consumer("all", 20*time.Millisecond)
	var all []string
	for taken := k.takeLeft(c, 9); len(taken.Items) > 0; taken = k.takeLeft(c, 9) {
		all = append(all, taken.Items...)
		k.done(c)
	}
	if slices.Sort(all); !inOrder(all, 0, n) {
		k.t.Errorf("taken out: %q", all)
	}
}

// Whatever lies under the key of items, a spider that keeps none in Redis begins, and tells its state.
func TestNoItemsInRedis(t *testing.T) {
	for kind, put := range map[string]func(k *kit){
		"stream": func(k *kit) { k.put("stream", 0, 1) },
		"string": func(k *kit) { k.rdb.Set(k.ctx, k.keys.items, "x", 0) },
		"hash":   func(k *kit) { k.rdb.HSet(k.ctx, k.keys.items, "x", "y") },
	} {
		t.Run(kind, func(t *testing.T) {
			each(t, Config{}, func(t *testing.T, k *kit) {
				put(k)
				if _, err := Open(k.ctx, k.client, k.cfg); !errors.Is(err, ErrWrongType) {
					t.Errorf("one that keeps some: %v", err)
				}
				keeping := k.cfg
				k.cfg.NoItems = true
				f := k.join()
				if _, err := f.Stats(k.ctx); err != nil {
					t.Errorf("its counters: %v", err)
				}
				want := int64(0)
				if kind == "stream" {
					want = 1
				}
				if s := k.check(); s.Items != want {
					t.Errorf("%d items", s.Items)
				}
				if kind == "stream" {
					return
				}
				k.rdb.Rename(k.ctx, k.keys.items, "aside")
				if _, err := Open(k.ctx, k.client, keeping); err != nil {
					t.Fatal(err)
				}
				k.rdb.Rename(k.ctx, "aside", k.keys.items)
				if _, err := f.Stats(k.ctx); !errors.Is(err, ErrWrongType) {
					t.Errorf("once a spider keeps items again: %v", err)
				}
			})
		})
	}
}

// What goes back of a list that is empty by now stays in hand when a crawl has begun that makes a stream of the items.
func TestBackBeforeTheStreamBegins(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.put("list", 0, 2)
		held := k.consumer("held", time.Hour)
		k.take(held, 2)
		if err := k.Close(k.ctx); err != nil {
			t.Fatal(err)
		}
		k.cfg.ItemStream = 1000
		k.Frontier = k.join()
		if n, err := held.Back(k.ctx); n != 2 || err != nil {
			t.Errorf("%d back, %v", n, err)
		}
		k.add(get("1"))
		page := k.await(k.Frontier, 1)[0]
		k.commit(&Outcome{Lease: page, Items: [][]byte{[]byte("2")}, ItemIDs: []string{"id"}})
		next := k.consumer("next", time.Hour)
		first := k.takeLeft(next, 9)
		k.done(next)
		if second := k.takeLeft(next, 9); !inOrder(append(first.Items, second.Items...), 0, 3) {
			t.Errorf("taken: %q, then %q", first.Items, second.Items)
		}
	})
}

// A key that is new in the spider's file is none that a command which is given the spider's name works on.
func TestItemsOfTheOtherFormUnderANewKey(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		if err := k.Close(k.ctx); err != nil {
			t.Fatal(err)
		}
		k.rdb.RPush(k.ctx, "other", "1")
		k.cfg.Keys.Items, k.cfg.ItemStream = "other", 10
		const want = "joining the crawl of hotnews: other holds a list of 1 item, and the spider keeps a stream by now: the crawl begins when the key is renamed or deleted, " +
			`or items_key is another (until then "luacrawl items consume hotnews" takes from hotnews:items, the key in force)`
		for _, before := range []string{"with", "without"} {
			if _, err := Open(k.ctx, k.client, k.cfg); !errors.Is(err, ErrWrongType) || err.Error() != want {
				t.Errorf("%s a crawl before: %v", before, err)
			}
			k.rdb.Del(k.ctx, k.keys.meta)
		}
	})
}

// What consumers hold of a list is counted, and a flush of the items takes it too.
func TestItemsInHandAreCounted(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.put("list", 0, 5)
		k.take(k.consumer("killed", time.Millisecond), 3)
		if s := k.check(); s.Items != 2 || s.InHand != 3 {
			t.Errorf("%d items, %d in hand", s.Items, s.InHand)
		}
		if err := k.client.Flush(k.ctx, "hotnews", Keys{}, FlushOptions{Force: true, Items: true}); err != nil {
			t.Fatal(err)
		}
		if s := k.check(); s.Items != 0 || s.InHand != 0 {
			t.Errorf("after the flush: %d items, %d in hand", s.Items, s.InHand)
		}
	})
}
