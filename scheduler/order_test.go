package scheduler

import (
	"fmt"
	"testing"
	"time"
)

func prio(path string, p int) Child {
	c := get(path)
	c.Request.Priority = p
	return c
}

func TestQueueOrder(t *testing.T) {
	for queue, want := range map[Queue]string{
		QueuePriority: "c b d a",
		QueueFIFO:     "a b c d",
		QueueLIFO:     "d c b a",
	} {
		t.Run(string(queue), func(t *testing.T) {
			each(t, Config{Queue: queue}, func(t *testing.T, k *kit) {
				k.add(prio("a", -1), prio("b", 0), prio("c", 1_000_000), prio("d", 0))
				if got := paths(k.lease(10)); got != want {
					t.Errorf("%s, want %s", got, want)
				}
				k.check()
			})
		})
	}
}

func TestEqualPrioritiesAcrossWorkersAndCommits(t *testing.T) {
	each(t, Config{LeaseAttempts: 50}, func(t *testing.T, k *kit) {
		want := ""
		for i := range 3 {
			var children []Child
			for j := range 10 {
				children = append(children, get(fmt.Sprintf("%d%d", i, j)))
				want += fmt.Sprintf("%d%d ", i, j)
			}
			k.add(children...)
		}
		two := k.join()
		var all []Lease
		for len(all) < 30 {
			all = append(all, k.exchange(k.Frontier, nil, 1, 0).Leases...)
			all = append(all, k.exchange(two, nil, 2, 0).Leases...)
		}
		if got := paths(all) + " "; got != want {
			t.Fatalf("first: %s", got)
		}
		// all of them expire, in another order: each returns to its own place
		for i := range all {
			k.expire(all[(i*7)%30])
			k.exchange(two, nil, 0, 0)
		}
		again := k.lease(30)
		if got := paths(again) + " "; got != want {
			t.Errorf("after expiry: %s", got)
		}
		for _, l := range again {
			if l.Attempts != 1 {
				t.Errorf("%s: %d attempts", l.Request.URL, l.Attempts)
			}
		}
		k.check()
	})
}

func TestReleaseKeepsPlaceAndAttempts(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("3"))
		leases := k.lease(2)
		if err := k.Release(k.ctx, ids(leases)); err != nil {
			t.Fatal(err)
		}
		k.check()
		again := k.lease(3)
		if got := paths(again); got != "1 2 3" {
			t.Errorf("after release: %s", got)
		}
		for _, l := range again {
			if l.Attempts != 0 {
				t.Errorf("%s has %d attempts", l.Request.URL, l.Attempts)
			}
		}
		if x := k.exchange(k.Frontier, []*Outcome{{Lease: leases[0]}}, 0, 0); x.Stored[0] {
			t.Error("the outcome of a released lease was stored")
		}
	})
}

func TestEqualRequestsNeverCollapse(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		twice := get("same")
		twice.Request.DontFilter = true
		k.add(twice, twice)
		if got := paths(k.lease(10)); got != "same same" {
			t.Errorf("leased %s", got)
		}
	})
}

func TestPartitionNoneIsGlobal(t *testing.T) {
	each(t, Config{Partition: PartitionNone, Delay: time.Millisecond, Concurrency: 100}, func(t *testing.T, k *kit) {
		var want []int
		var children []Child
		for i := range 20 {
			c := prio(fmt.Sprint(i), (i*7)%20)
			c.Request.URL = fmt.Sprintf("http://host%d.test/%d", i%5, (i*7)%20)
			children = append(children, c)
			want = append(want, 19-i)
		}
		k.add(children...)
		if n, err := k.rdb.ZCard(k.ctx, "hotnews:requests").Result(); n != 20 || err != nil {
			t.Fatalf("S:requests holds %d, %v", n, err)
		}
		for i, l := range k.await(k.Frontier, 20) {
			if l.Request.Priority != want[i] {
				t.Errorf("%d: priority %d, want %d", i, l.Request.Priority, want[i])
			}
		}
		k.check()
	})
}
