package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
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

// A flush stands in the spider's history, with who did it; one that was refused does not.
func TestFlushIsRecorded(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		o := FlushOptions{Author: "ann", Message: "7 pending"}
		if err := k.client.Flush(k.ctx, "hotnews", Keys{}, o); !errors.Is(err, ErrFleetAlive) {
			t.Errorf("%v", err)
		}
		o.Force = true
		if err := k.client.Flush(k.ctx, "hotnews", Keys{}, o); err != nil {
			t.Fatal(err)
		}
		if got := k.history(); !slices.Equal(got, []string{"flush ann: 7 pending"}) {
			t.Errorf("the history is %q", got)
		}
		k.rdb.Del(k.ctx, k.client.registry().log("hotnews"))
		k.rdb.Set(k.ctx, k.client.registry().log("hotnews"), "x", 0)
		k.rdb.SAdd(k.ctx, k.keys.dupefilter, "seen")
		if err := k.client.Flush(k.ctx, "hotnews", Keys{}, o); !errors.Is(err, ErrWrongType) || !strings.Contains(err.Error(), "luacrawl:log:hotnews holds a string, not a list") {
			t.Errorf("a spoilt history: %v", err)
		}
		if k.rdb.SCard(k.ctx, k.keys.dupefilter).Val() != 1 {
			t.Error("half a flush was done")
		}
	})
}

// A history of 1000 lines forgets what names no revision first, so that flushes push out no push.
func TestFlushesPushOutNoPush(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		log := k.client.registry().log("hotnews")
		fill := func(n int, event string) {
			lines := make([]any, n)
			for i := range lines {
				lines[i] = "1 " + event
			}
			k.rdb.RPush(k.ctx, log, lines...)
		}
		flush := func(author string) {
			if err := k.client.Flush(k.ctx, "hotnews", Keys{}, FlushOptions{Force: true, Author: author}); err != nil {
				t.Fatal(err)
			}
		}
		ends := func() string {
			lines := k.rdb.LRange(k.ctx, log, 0, -1).Val()
			return fmt.Sprintf("%d, %d of them pushes, the first %s", len(lines), strings.Count(strings.Join(lines, "\n"), `"push"`), lines[0])
		}
		push := Event{What: "push", Revision: "0123456789abcdef"}.text()
		fill(2, push)
		fill(998, Event{What: "flush", Message: `"revision":"x"`}.text())
		for range 5 {
			flush("cron")
		}
		if got, want := ends(), "1000, 2 of them pushes, the first 1 "+push; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		k.rdb.Del(k.ctx, log)
		fill(1000, push)
		for _, author := range []string{"ann", "bob"} {
			flush(author)
		}
		lines := k.rdb.LRange(k.ctx, log, -2, -1).Val()
		if got, want := ends(), "1000, 999 of them pushes, the first 1 "+push; got != want || !strings.Contains(lines[1], `"bob"`) {
			t.Errorf("%s, want %s; the last are %q", got, want, lines)
		}
	})
}

// history is what stands in the spider's history.
func (k *kit) history() []string {
	k.t.Helper()
	events, err := k.client.History(k.ctx, k.cfg.Spider)
	if err != nil {
		k.t.Fatal(err)
	}
	var lines []string
	for _, e := range events {
		if e.Version == 0 || time.Since(e.Time) > time.Hour {
			k.t.Errorf("an event without a version or a time: %+v", e)
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s", e.What, e.Author, e.Message))
	}
	return lines
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
