package scheduler

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"luacrawl/scheduler/redistest"
)

func TestSlotsSayWhatTheyWaitFor(t *testing.T) {
	each(t, Config{Delay: time.Hour, Concurrency: 2}, func(t *testing.T, k *kit) {
		var children []Child
		for _, host := range []string{"free", "delayed", "empty", "broken"} {
			for i := range 3 {
				children = append(children, Child{Request: &Request{URL: fmt.Sprintf("http://%s.test/%d", host, i)}})
			}
		}
		k.add(children...)
		k.finish(k.await(k.Frontier, 4)) // one of each: all have their hour to wait
		k.rdb.ZAdd(k.ctx, k.keys.slots, z(1, "free.test"), z(1e15+float64(time.Now().UnixMilli()), "full.test"))
		k.rdb.Del(k.ctx, k.keys.queue("empty.test"))
		k.rdb.Set(k.ctx, k.keys.queue("broken.test"), "x", 0)
		k.rdb.ZAdd(k.ctx, k.keys.queue("full.test"), z(0, "00000000000000{}"))
		k.rdb.HSet(k.ctx, k.keys.busy, "full.test", 5)
		k.rdb.HSet(k.ctx, k.keys.rules, "full.test", "250 5")
		s, err := k.client.Slots(k.ctx, k.cfg.Spider, Keys{}, 50)
		if err != nil {
			t.Fatal(err)
		}
		if s.Due != 1 || s.Delayed != 3 || s.Full != 1 {
			t.Errorf("counts %+v", s.SlotCounts)
		}
		want := map[string]Slot{
			"free.test":    {Wait: WaitWorker, Limit: 2, Delay: time.Hour, Queued: 2},
			"delayed.test": {Wait: WaitDelay, Limit: 2, Delay: time.Hour, Queued: 2},
			"empty.test":   {Wait: WaitWork, Limit: 2, Delay: time.Hour},
			"broken.test":  {Wait: WaitBroken, Limit: 2, Delay: time.Hour},
			"full.test":    {Wait: WaitFull, Limit: 5, Delay: 250 * time.Millisecond, Says: SaysLive, Busy: 5, Queued: 1},
		}
		for _, got := range s.First {
			w := want[got.Name]
			if w.Name, w.Next = got.Name, got.Next; got != w {
				t.Errorf("got %+v, want %+v", got, w)
			}
			if late := got.Next.Sub(s.Time); got.Wait == WaitDelay && (late <= 0 || late > time.Hour) || got.Wait == WaitFull && late > time.Minute {
				t.Errorf("%s starts in %v", got.Name, late)
			}
			delete(want, got.Name)
		}
		if len(want) > 0 {
			t.Errorf("missing %v", want)
		}
	})
}

func TestSlotsSayWhyTheyAreHeld(t *testing.T) {
	each(t, Config{Delay: time.Second}, func(t *testing.T, k *kit) {
		var children []Child
		for _, host := range []string{"asked", "robots", "both", "short", "over", "empty"} {
			children = append(children, on(host, 1), on(host, 2))
		}
		later := on("later", 1)
		later.Delay = time.Hour
		k.add(append(children, later, on("empty", 3))...)
		holds := map[string]Outcome{
			"asked.test": {Hold: time.Minute}, "robots.test": {Hold: time.Minute, HoldWhy: WaitRobots}, "short.test": {Hold: time.Millisecond},
			"both.test": {Hold: 2 * time.Minute, HoldWhy: WaitRetryAfter}, "over.test": {Hold: time.Millisecond, HoldWhy: WaitRobots}, "empty.test": {Hold: time.Minute},
		}
		for _, l := range k.await(k.Frontier, 6) {
			o := holds[l.Slot]
			o.Lease = l
			k.commit(&o)
		}
		k.rdb.ZAdd(k.ctx, k.keys.holds, z(float64(time.Now().Add(time.Minute).UnixMilli()), "robots both.test"))
		k.rdb.Del(k.ctx, k.keys.queue("empty.test"))
		want := map[string]Wait{
			"asked.test": WaitRetryAfter, "robots.test": WaitRobots, "both.test": WaitRetryAfter, "short.test": WaitDelay, "over.test": WaitDelay,
			"empty.test": WaitRetryAfter, "later.test": WaitBackoff,
		}
		s, err := k.client.Slots(k.ctx, k.cfg.Spider, Keys{}, 50)
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range s.First {
			if got.Wait != want[got.Name] {
				t.Errorf("%s waits for %s, want %s", got.Name, got.Wait, want[got.Name])
			}
			if got.Name == "later.test" && (got.Later != 1 || got.Next.Sub(s.Time) < 50*time.Minute || got.Delay != time.Second) {
				t.Errorf("%+v", got)
			}
			delete(want, got.Name)
		}
		if len(want) > 0 {
			t.Errorf("missing %v", want)
		}
		if got := k.slot("later.test"); got.Wait != WaitBackoff {
			t.Errorf("alone: %+v", got)
		}
		for _, l := range k.await(k.Frontier, 2) { // of short and over; what is past leaves with the next hold
			k.commit(&Outcome{Lease: l, Hold: time.Minute})
		}
		if n := k.rdb.ZCard(k.ctx, k.keys.holds).Val(); n != 7 {
			t.Errorf("%d holds are noted", n)
		}
	})
}

func TestOverview(t *testing.T) {
	each(t, Config{Keys: Keys{Items: "%(spider)s:things"}}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"))
		k.commit(&Outcome{Lease: k.lease(1)[0], Items: [][]byte{[]byte(`{}`)}})
		rev := &Revision{Spider: "pushed", Main: "p.lua", Files: map[string][]byte{"p.lua": []byte("x")}}
		rev.ID = RevisionID(rev.Main, rev.Files)
		if _, err := k.client.PutRevision(k.ctx, rev); err != nil {
			t.Fatal(err)
		}
		if _, err := k.client.Flip(k.ctx, Entry{Spider: "pushed", Revision: rev.ID, Main: rev.Main}, 0, "push"); err != nil {
			t.Fatal(err)
		}
		if _, err := k.client.SetControl(k.ctx, "pushed", Keys{}, Change{State: Draining}); err != nil {
			t.Fatal(err)
		}
		k.rdb.SAdd(k.ctx, "luacrawl:spiders", "spoilt")
		k.rdb.Set(k.ctx, "spoilt:items", "x", 0)
		k.rdb.HSet(k.ctx, "luacrawl:registry", "broken", "what")
		if _, err := k.client.Report(k.ctx, WorkerReport{ID: "a", Host: "a"}, -time.Minute); err != nil {
			t.Fatal(err)
		}

		o := k.client.Observe()
		view, err := o.Look(k.ctx, nil, k.cfg.Spider)
		if err != nil {
			t.Fatal(err)
		}
		if len(view.Spiders) != 3 {
			t.Fatalf("spiders %+v", view.Spiders)
		}
		news, pushed, spoilt := view.Spiders[0], view.Spiders[1], view.Spiders[2]
		if news.Spider != "hotnews" || news.Pending != 1 || news.Items != 1 || news.Entry != nil || news.State() != Running {
			t.Errorf("hotnews: %+v", news)
		}
		if pushed.Spider != "pushed" || pushed.Entry == nil || pushed.Entry.Revision != rev.ID || pushed.State() != Draining {
			t.Errorf("pushed: %+v", pushed)
		}
		if spoilt.Err == nil || !strings.Contains(spoilt.Err.Error(), "spoilt:items holds a string") {
			t.Errorf("spoilt: %v", spoilt.Err)
		}
		if view.Damaged == nil || !strings.Contains(view.Damaged.Error(), "field broken") {
			t.Errorf("damaged: %v", view.Damaged)
		}
		if len(view.Workers) != 1 || view.Workers[0].Silent < 50*time.Second {
			t.Errorf("workers: %+v", view.Workers)
		}
		if len(view.Slots.First) != 1 || view.Slots.First[0].Name != "a.test" {
			t.Errorf("slots: %+v", view.Slots)
		}
		if view, err = o.Look(k.ctx, []string{"hotnews"}, ""); err != nil || len(view.Spiders) != 1 || view.Spiders[0].Items != 1 || len(view.Slots.First) != 0 {
			t.Errorf("one: %+v, %v", view, err)
		}
	})
}

// A look costs the same few commands and the same time whatever is pending.
func TestLookNeverScansAQueue(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	k := newKit(t, server.URL(), Config{})
	k.add(get("1"))
	fill := func(slots, each int) {
		for s := range slots {
			members := make([]redis.Z, each)
			for i := range members {
				members[i].Member = fmt.Sprintf("%012x00{\"v\":1,\"url\":\"http://%d.test/%d\"}", i, s, i)
			}
			for from := 0; from < each; from += 10_000 {
				if err := k.rdb.ZAdd(k.ctx, k.keys.queue(fmt.Sprintf("%d.test", s)), members[from:min(from+10_000, each)]...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			k.rdb.ZAdd(k.ctx, k.keys.slots, redis.Z{Score: float64(s), Member: fmt.Sprintf("%d.test", s)})
		}
		k.rdb.HSet(k.ctx, k.keys.meta, "pending", slots*each+1)
	}
	o := k.client.Observe()
	look := func() (calls, micros int64) { // of the cheapest look, since the machine may be busy
		for i := range 21 {
			k.rdb.ConfigResetStat(k.ctx)
			view, err := o.Look(k.ctx, nil, k.cfg.Spider)
			if err != nil || view.Spiders[0].Pending < 1 {
				t.Fatalf("%+v %v", view, err)
			}
			n, us := spent(k.ctx, t, k.rdb)
			if i == 1 || i > 1 && us < micros {
				calls, micros = n, us
			}
		}
		return calls, micros
	}
	fill(100, 10)
	few, fewMicros := look()
	fill(100, 5_000)
	many, manyMicros := look()
	t.Logf("a look of one spider and its slots: %d commands, %d us of redis with 1,000 pending; %d commands, %d us with 500,000", few, fewMicros, many, manyMicros)
	if many != few {
		t.Errorf("%d commands with 1,000 pending, %d with 500,000", few, many)
	}
	if manyMicros > 10*fewMicros {
		t.Errorf("%d us of redis with 1,000 pending, %d with 500,000", fewMicros, manyMicros)
	}
}

// spent adds up what INFO commandstats says: commands, those inside scripts too, and their microseconds.
func spent(ctx context.Context, t *testing.T, rdb *redis.Client) (calls, micros int64) {
	t.Helper()
	info, err := rdb.Info(ctx, "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(info) {
		var n, us int64
		name, rest, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(name, "cmdstat_config") || strings.HasPrefix(name, "cmdstat_info") {
			continue
		}
		if _, err := fmt.Sscanf(rest, "calls=%d,usec=%d", &n, &us); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		calls += n
		micros += us
	}
	return calls, micros
}
