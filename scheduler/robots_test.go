package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const robotsHost = "http://a.test bot"

// look is LookRobots that must succeed.
func (k *kit) look(l Lease) Robots {
	k.t.Helper()
	r, err := k.LookRobots(k.ctx, l, robotsHost, false)
	if err != nil {
		k.t.Fatal(err)
	}
	return r
}

func (k *kit) keepRobots(l Lease, a RobotsAnswer) time.Duration {
	k.t.Helper()
	delay, err := k.KeepRobots(k.ctx, l, robotsHost, a)
	if err != nil {
		k.t.Fatal(err)
	}
	return delay
}

func TestOneLeaseAsksForRobotsAndAllKnow(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("3"))
		l := k.await(k.Frontier, 3)
		if got := k.look(l[0]); got.State != RobotsYours || got.Text != "" || got.Redirects != 0 {
			t.Fatalf("the first has %+v", got)
		}
		if got := k.look(l[0]); got.State != RobotsYours {
			t.Errorf("asked again, the first has %+v", got)
		}
		if got := k.look(l[1]); got.State != RobotsClaimed {
			t.Errorf("the second has %+v", got)
		}
		k.keepRobots(l[1], RobotsAnswer{Text: "of no claim", Keep: time.Hour})
		k.keepRobots(l[0], RobotsAnswer{Text: "http://b.test/r", Redirects: 1, Keep: time.Hour})
		if got := k.look(l[1]); got.State != RobotsYours || got.Text != "http://b.test/r" || got.Redirects != 1 {
			t.Errorf("after a redirect the second has %+v", got)
		}
		k.commit(&Outcome{Lease: l[1]}) // with the lease the claim ends, and the redirect is still known
		if got := k.look(l[1]); got.State != RobotsLate && got.State != RobotsClaimed {
			t.Errorf("a lease that has ended has %+v", got)
		}
		if got := k.look(l[2]); got.State != RobotsYours || got.Redirects != 1 {
			t.Errorf("the third has %+v", got)
		}
		text := "a policy\nof two lines\x00" + strings.Repeat("x", 500<<10)
		k.keepRobots(l[2], RobotsAnswer{Text: text, Keep: time.Hour})
		got := k.look(l[0])
		if got.State != RobotsKnown || got.Text != text || got.Keep > time.Hour || got.Keep < 50*time.Minute {
			t.Errorf("at last %s, kept %s, %d bytes", got.State, got.Keep, len(got.Text))
		}
		again, err := k.LookRobots(k.ctx, l[0], robotsHost, true)
		if err != nil || again.State != RobotsYours || again.Text != "" {
			t.Errorf("one that cannot be read: %+v, %v", again.State, err)
		}
		k.keepRobots(l[0], RobotsAnswer{Text: "old", Keep: -time.Second})
		if got := k.look(l[2]); got.State != RobotsYours || got.Text != "" {
			t.Errorf("after its time: %+v", got)
		}
		k.rdb.HSet(k.ctx, k.keys.robots, robotsHost, "nonsense")
		if got := k.look(l[0]); got.State != RobotsYours {
			t.Errorf("spoilt: %+v", got)
		}
	})
}

func TestAClaimEndsWithItsLease(t *testing.T) {
	each(t, Config{Lease: 300 * time.Millisecond}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		l := k.await(k.Frontier, 1)[0]
		if got := k.look(l); got.State != RobotsYours {
			t.Fatalf("%+v", got)
		}
		other := k.join()
		again := k.await(other, 1)[0] // the lease has expired: its holder was killed
		if got := k.look(again); got.State != RobotsYours {
			t.Errorf("the next has %+v", got)
		}
		if got := k.look(l); got.State == RobotsYours {
			t.Errorf("the one that was killed has %+v", got)
		}
	})
}

func TestCrawlDelayOnlySlowsDown(t *testing.T) {
	each(t, Config{Delay: 200 * time.Millisecond, Concurrency: 3}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		l := k.await(k.Frontier, 1)[0]
		for _, c := range []struct{ crawlDelay, want time.Duration }{
			{0, 200 * time.Millisecond}, {100 * time.Millisecond, 200 * time.Millisecond},
			{700 * time.Millisecond, 700 * time.Millisecond}, {300 * time.Millisecond, 700 * time.Millisecond},
		} {
			if _, err := k.LookRobots(k.ctx, l, robotsHost, true); err != nil {
				t.Fatal(err)
			}
			if got := k.keepRobots(l, RobotsAnswer{Text: "p", Keep: time.Hour, CrawlDelay: c.crawlDelay}); got != c.want {
				t.Errorf("crawl-delay %s: the slot has %s, want %s", c.crawlDelay, got, c.want)
			}
		}
		if got := k.rdb.HGet(k.ctx, k.keys.rules, "a.test").Val(); got != "r700" {
			t.Errorf("rule %q", got)
		}
	})
}

// Sites that nobody visits any more do not gather: what is over goes, a few with each that is written. Fresh policies, and claims whose lease
// is held, stay.
func TestOldRobotsGo(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"))
		l := k.await(k.Frontier, 2)
		keep := func(lease Lease, site int, a RobotsAnswer) {
			t.Helper()
			host := fmt.Sprintf("http://%d.test bot", site)
			if known, err := k.LookRobots(k.ctx, lease, host, false); err != nil || known.State != RobotsYours {
				t.Fatalf("%s: %+v, %v", host, known, err)
			}
			if _, err := k.KeepRobots(k.ctx, lease, host, a); err != nil {
				t.Fatal(err)
			}
		}
		held := k.now().Add(-time.Hour).UnixMilli()
		lasting := map[string]string{
			"claimed":  fmt.Sprintf("C %d 0 %s\n", held, redisID(l[1].ID)),
			"policy":   fmt.Sprintf("P %d 0 -\nfresh", k.now().Add(time.Hour).UnixMilli()),
			"redirect": fmt.Sprintf("H %d 1 -\nhttp://b.test/r", k.now().Add(time.Hour).UnixMilli()),
		}
		for field, rec := range lasting {
			k.rdb.HSet(k.ctx, k.keys.robots, field, rec)
		}
		for i := range 300 {
			k.rdb.HSet(k.ctx, k.keys.robots, fmt.Sprintf("http://old%d.test bot", i), fmt.Sprintf("P %d 0 -\nold", held))
		}
		k.rdb.HSet(k.ctx, k.keys.robots, "lost claim", fmt.Sprintf("C %d 0 gone:1\n", held), "spoilt", "nonsense")
		const fresh = 400
		for i := range fresh {
			keep(l[0], i, RobotsAnswer{Text: "p", Keep: time.Hour})
		}
		all := k.rdb.HGetAll(k.ctx, k.keys.robots).Val()
		for field, rec := range lasting {
			if all[field] != rec {
				t.Errorf("%s became %q", field, all[field])
			}
		}
		for i := range fresh {
			if field := fmt.Sprintf("http://%d.test bot", i); !strings.HasPrefix(all[field], "P ") {
				t.Fatalf("%s became %q", field, all[field])
			}
		}
		hosts := 0
		for field := range all {
			if !strings.HasSuffix(field, "\n") {
				hosts++
			}
		}
		if old := hosts - fresh - len(lasting); old > 20 {
			t.Errorf("%d of 302 old ones are left", old)
		}
		if orphans := len(all) - hosts - fresh; orphans > 0 {
			t.Errorf("%d ends without their records", orphans)
		}
	})
}

// A policy may have hundreds of kilobytes: whether it is over is read from its head alone, and both go.
func TestOldRobotsGoUnread(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		l := k.await(k.Frontier, 1)[0]
		fresh, over := k.now().Add(time.Hour).UnixMilli(), k.now().Add(-time.Hour).UnixMilli()
		k.rdb.HSet(k.ctx, k.keys.robots, "fresh", "nonsense", "fresh\n", fmt.Sprintf("P %d 0 -\n", fresh))
		k.rdb.HSet(k.ctx, k.keys.robots, "over", fmt.Sprintf("P %d 0 -\ntext", fresh), "over\n", fmt.Sprintf("P %d 0 -\n", over))
		for i := 0; k.rdb.HExists(k.ctx, k.keys.robots, "over").Val(); i++ {
			if i == 200 {
				t.Fatalf("at last %v", k.rdb.HGetAll(k.ctx, k.keys.robots).Val())
			}
			if _, err := k.LookRobots(k.ctx, l, robotsHost, true); err != nil {
				t.Fatal(err)
			}
		}
		k.keepRobots(l, RobotsAnswer{Text: "all", Keep: time.Hour})
		all := k.rdb.HGetAll(k.ctx, k.keys.robots).Val()
		head, _, _ := strings.Cut(all[robotsHost], "\n")
		if len(all) != 4 || all["fresh"] != "nonsense" || all[robotsHost+"\n"] != head+"\n" || !strings.HasPrefix(head, "P ") {
			t.Errorf("%q", all)
		}
	})
}
