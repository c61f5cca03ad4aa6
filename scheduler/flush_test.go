package scheduler

import (
	"errors"
	"strings"
	"testing"
)

func TestFlushIsRefusedWhileAWorkerIsAlive(t *testing.T) {
	each(t, Config{Worker: "host:1"}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		err := k.client.Flush(k.ctx, "hotnews", Keys{}, FlushOptions{Items: true})
		if !errors.Is(err, ErrFleetAlive) || !strings.Contains(err.Error(), "host:1;") {
			t.Errorf("%v", err)
		}
		if s := k.check(); s.Pending != 1 || s.Seen != 1 {
			t.Errorf("%+v", s)
		}
		if err := k.client.Flush(k.ctx, "hotnews", Keys{}, FlushOptions{Force: true}); err != nil {
			t.Error(err)
		}
		if s := k.check(); s.Pending != 0 || s.Seen != 0 || s.Epoch != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestFlushTakesWhatIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		o    FlushOptions
		want [3]int64 // items, dead letters, counters
	}{
		"nothing": {FlushOptions{}, [3]int64{1, 1, 0}},
		"items":   {FlushOptions{Items: true}, [3]int64{0, 1, 0}},
		"dead":    {FlushOptions{Dead: true}, [3]int64{1, 0, 0}},
		"stats":   {FlushOptions{Stats: true}, [3]int64{1, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, Config{}, func(t *testing.T, k *kit) {
				k.add(get("1"), get("2"))
				l := k.lease(1)[0]
				k.commit(&Outcome{Lease: l, Items: [][]byte{[]byte("{}")}, Dead: []DeadLetter{{Kind: DeadRequest}}, Stats: map[string]int64{"pages": 7}})
				k.rdb.RPush(k.ctx, k.keys.startURLs, "seed")
				if err := k.Close(k.ctx); err != nil {
					t.Fatal(err)
				}
				if err := k.client.Flush(k.ctx, "hotnews", Keys{}, c.o); err != nil {
					t.Fatal(err)
				}
				s := k.check()
				if got := [3]int64{s.Items, s.DeadLetters, int64(len(s.Stats))}; got != c.want || s.Seeds != 1 || s.Enqueued != 0 {
					t.Errorf("%v, want %v: %+v", got, c.want, s)
				}
				if kept := k.rdb.HExists(k.ctx, k.keys.stats, "pages").Val(); kept == c.o.Stats {
					t.Errorf("the raw counter is there: %v", kept)
				}
				k.Frontier = k.join()
				k.add(get("1"))
				if s := k.check(); s.Pending != 1 || s.Done != 1 {
					t.Errorf("afterwards: %+v", s)
				}
			})
		})
	}
}

func TestFleetNamesTheKeys(t *testing.T) {
	own := Keys{Items: "mine", Dupefilter: "%(spider)s:df", Requests: "%(spider)s:q"}
	each(t, Config{Keys: own, Partition: PartitionDomain, Queue: QueueFIFO}, func(t *testing.T, k *kit) {
		f, err := k.client.Fleet(k.ctx, "hotnews", Keys{})
		if err != nil || f.Keys.of("hotnews") != own.of("hotnews") || f.Partition != PartitionDomain || f.Queue != QueueFIFO {
			t.Errorf("%+v %v", f, err)
		}
		f, err = k.client.Fleet(k.ctx, "other", own)
		if err != nil || f.Keys != own || f.Partition != PartitionHost || f.Queue != QueuePriority {
			t.Errorf("%+v %v", f, err)
		}
	})
}
