package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// streamConfig keeps items in a stream of about 1000.
var streamConfig = Config{ItemStream: 1000}

// entries are the stream's: item and id.
func (k *kit) entries() []string {
	k.t.Helper()
	all, err := k.rdb.XRange(k.ctx, k.keys.items, "-", "+").Result()
	if err != nil {
		k.t.Fatal(err)
	}
	var out []string
	for _, m := range all {
		out = append(out, fmt.Sprint(m.Values["item"], " ", m.Values["item_id"]))
	}
	return out
}

func TestItemsInAStream(t *testing.T) {
	each(t, streamConfig, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"))
		l := k.lease(2)
		k.commit(&Outcome{Lease: l[0], Items: [][]byte{[]byte("{\"a\":\n1}"), []byte("{}")}, ItemIDs: []string{"id1", "id2"}})
		late := &Outcome{Lease: l[1], Items: [][]byte{[]byte("3")}}
		k.commit(late)
		if x := k.exchange(k.Frontier, []*Outcome{late}, 0, 0); x.Stored[0] {
			t.Error("an outcome was stored twice")
		}
		if got, want := k.entries(), []string{"{\"a\":\n1} id1", "{} id2", "3 "}; !slices.Equal(got, want) {
			t.Errorf("the stream holds %q, want %q", got, want)
		}
		if s := k.check(); s.Items != 3 || !k.StreamsItems() {
			t.Errorf("status: %d items", s.Items)
		}
	})
}

func TestStreamIsTrimmed(t *testing.T) {
	each(t, Config{ItemStream: 300}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		o := &Outcome{Lease: k.lease(1)[0]}
		for i := range 2000 {
			o.Items = append(o.Items, []byte(strconv.Itoa(i)))
		}
		k.commit(o)
		got := k.entries()
		if len(got) < 300 || len(got) > 500 || got[len(got)-1] != "1999 " {
			t.Errorf("%d entries are left, the last is %q", len(got), got[len(got)-1])
		}
	})
}

// A page whose items have nowhere to go stores nothing, and the error names the key.
func TestItemsOfAnotherType(t *testing.T) {
	each(t, streamConfig, func(t *testing.T, k *kit) {
		k.add(get("1"))
		o := &Outcome{Lease: k.lease(1)[0], Items: [][]byte{[]byte("1")}, Children: []Child{get("2")}}
		k.rdb.RPush(k.ctx, "hotnews:items", "mine")
		_, err := k.Exchange(k.ctx, []*Outcome{o}, 0, 0)
		if !errors.Is(err, ErrWrongType) || !strings.Contains(err.Error(), "hotnews:items holds a list, not a stream") {
			t.Errorf("%v", err)
		}
		if s := k.check(); s.Items != 1 || s.Pending != 0 || s.InFlight != 1 {
			t.Errorf("half a page was stored: %+v", s)
		}
		k.rdb.Del(k.ctx, "hotnews:items")
		k.commit(o)

		k.rdb.Del(k.ctx, "hotnews:items")
		k.rdb.Set(k.ctx, "hotnews:items", "x", 0)
		if _, err := k.client.Status(k.ctx, "hotnews", Keys{}); !errors.Is(err, ErrWrongType) || !strings.Contains(err.Error(), "hotnews:items holds a string, not a list or stream") {
			t.Errorf("status: %v", err)
		}
		if _, err := k.client.ReadItems(Fleet{Spider: "hotnews"}).Count(k.ctx); !errors.Is(err, ErrWrongType) {
			t.Errorf("reading: %v", err)
		}
	})
	t.Run("list", func(t *testing.T) {
		each(t, Config{}, func(t *testing.T, k *kit) {
			k.add(get("1"))
			k.rdb.XAdd(k.ctx, xadd("hotnews:items", "mine"))
			_, err := k.Exchange(k.ctx, []*Outcome{{Lease: k.lease(1)[0], Items: [][]byte{[]byte("1")}}}, 0, 0)
			if !errors.Is(err, ErrWrongType) || !strings.Contains(err.Error(), "hotnews:items holds a stream, not a list") {
				t.Errorf("%v", err)
			}
		})
	})
}

func TestItemReader(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		for _, kind := range []string{"list", "stream"} {
			t.Run(kind, func(t *testing.T) {
				k.rdb.Del(k.ctx, "hotnews:items")
				r := k.client.ReadItems(Fleet{Spider: "hotnews"})
				if got := readAll(t, k, r); len(got) != 0 {
					t.Errorf("there are %q", got)
				}
				k.put(kind, 0, 2500)
				n, err := r.Count(k.ctx)
				if got := readAll(t, k, r); n != 2500 || err != nil || !inOrder(got, 0, 2500) {
					t.Errorf("%d items, %v, read %d", n, err, len(got))
				}
				k.put(kind, 2500, 2510)
				if got := readAll(t, k, r); !inOrder(got, 2500, 2510) {
					t.Errorf("read on: %q", got)
				}
				for _, n := range []int64{0, 7, 1400} {
					r := k.client.ReadItems(Fleet{Spider: "hotnews"})
					if err := r.Skip(k.ctx, n); err != nil {
						t.Error(err)
					}
					if got := readAll(t, k, r); !inOrder(got, int(n), 2510) {
						t.Errorf("after %d: %d items", n, len(got))
					}
					r = k.client.ReadItems(Fleet{Spider: "hotnews"})
					if err := r.Tail(k.ctx, max(n, 1)); err != nil {
						t.Error(err)
					}
					if got := readAll(t, k, r); !inOrder(got, 2510-int(max(n, 1)), 2510) {
						t.Errorf("the last %d: %d items", n, len(got))
					}
				}
				all := k.client.ReadItems(Fleet{Spider: "hotnews"})
				if err := all.Tail(k.ctx, 5000); err != nil {
					t.Error(err)
				}
				if got := readAll(t, k, all); !inOrder(got, 0, 2510) {
					t.Errorf("more than there are: %d items", len(got))
				}
			})
		}
	})
}

func TestItemReaderOfAListThatShrinks(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.put("list", 0, 10)
		r := k.client.ReadItems(Fleet{Spider: "hotnews"})
		readAll(t, k, r)
		k.rdb.LTrim(k.ctx, "hotnews:items", 4, -1)
		if gone, err := r.Shrunk(k.ctx); gone != 4 || err != nil {
			t.Errorf("%d gone, %v", gone, err)
		}
		k.put("list", 10, 12)
		if got := readAll(t, k, r); !inOrder(got, 10, 12) {
			t.Errorf("%q", got)
		}
	})
}

// An entry of another program is an object of its fields.
func TestForeignEntry(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		x := xadd("hotnews:items", "1")
		x.Values = []string{"title", "a", "n", "2"}
		k.rdb.XAdd(k.ctx, x)
		if got := readAll(t, k, k.client.ReadItems(Fleet{Spider: "hotnews"})); !slices.Equal(got, []string{`{"n":"2","title":"a"}`}) {
			t.Errorf("%q", got)
		}
	})
}

func readAll(t *testing.T, k *kit, r *ItemReader) (all []string) {
	t.Helper()
	for item, err := range r.Next(k.ctx) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, item)
	}
	return all
}

// inOrder reports that items are the numbers from one to before another.
func inOrder(items []string, from, to int) bool {
	for i, item := range items {
		if item != strconv.Itoa(from+i) {
			return false
		}
	}
	return len(items) == to-from
}
