package scheduler

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const slotA = "a.test"

// answer leases a request of a.test at once, whatever its slot waits for, and commits an answer to it that was leased so long ago.
func (k *kit) answer(v Verdict, latency, ago time.Duration) {
	k.t.Helper()
	if err := k.rdb.ZAdd(k.ctx, k.keys.slots, slotAt(0)).Err(); err != nil {
		k.t.Fatal(err)
	}
	l := k.lease(1)
	if len(l) != 1 {
		k.t.Fatalf("%d leases", len(l))
	}
	l[0].At = l[0].At.Add(-ago)
	k.commit(&Outcome{Lease: l[0], Answer: Answer{Verdict: v, Latency: latency}})
}

// later waits until Redis' clock has moved on, so that what is leased now is leased after what was stored before.
func (k *kit) later() {
	k.t.Helper()
	first := k.now()
	for k.now().Sub(first) < 3*time.Millisecond {
	}
}

func (k *kit) now() time.Time {
	k.t.Helper()
	now, err := k.rdb.Time(k.ctx).Result()
	if err != nil {
		k.t.Fatal(err)
	}
	return now
}

// slowed is how far a slot is slowed down, in ms; 0 for not at all.
func (k *kit) slowed(slot string) int64 {
	k.t.Helper()
	found, err := k.client.Slot(k.ctx, k.cfg.Spider, k.cfg.Keys, slot)
	if err != nil || len(found.First) != 1 {
		k.t.Fatalf("%v: %v", found.First, err)
	}
	if s := found.First[0]; s.Says == SaysRefused || s.Says == SaysLatency {
		return s.Delay.Milliseconds()
	}
	return 0
}

// addPages schedules n pages of a.test.
func (k *kit) addPages(n int) {
	k.t.Helper()
	children := make([]Child, n)
	for i := range children {
		children[i] = get(strconv.Itoa(i))
	}
	k.add(children...)
}

// TestManyRefusalsAtOnceAreOneStep: what was on its way when the site refused knows nothing of the new pace.
func TestManyRefusalsAtOnceAreOneStep(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.addPages(12)
		onTheirWay := k.lease(8)
		var together []*Outcome
		for _, l := range onTheirWay[:4] {
			together = append(together, &Outcome{Lease: l, Answer: Answer{Verdict: Refused, Latency: time.Millisecond}})
		}
		k.exchange(k.Frontier, together, 0, 0)
		k.later()
		for _, l := range onTheirWay[4:] {
			k.commit(&Outcome{Lease: l, Answer: Answer{Verdict: Refused, Latency: time.Millisecond}})
		}
		if got := k.slowed(slotA); got != 1000 {
			t.Fatalf("slowed down to %d ms", got)
		}
		if x := k.exchange(k.Frontier, nil, 8, 0); len(x.Leases) != 0 || x.Wait > time.Second {
			t.Errorf("%d leases at once, wait %s", len(x.Leases), x.Wait)
		}
		k.await(k.Frontier, 1)
		if x := k.exchange(k.Frontier, nil, 8, 0); len(x.Leases) != 0 || x.Wait < 500*time.Millisecond {
			t.Errorf("%d more with the next, wait %s", len(x.Leases), x.Wait)
		}
		k.check()
	})
}

// TestARefusingSiteIsSlowedAndRecovers: doubled up to the most, then a tenth faster with each page, then nothing is left.
func TestARefusingSiteIsSlowedAndRecovers(t *testing.T) {
	each(t, Config{Throttling: Throttling{MaxDelay: 3 * time.Second}}, func(t *testing.T, k *kit) {
		k.addPages(100)
		for i, want := range []int64{1000, 2000, 3000, 3000} {
			k.later()
			k.answer(Refused, time.Millisecond, 0)
			if got := k.slowed(slotA); got != want {
				t.Fatalf("after %d refusals: %d ms, want %d", i+1, got, want)
			}
		}
		k.answer(Accepted, time.Millisecond, time.Minute) // leased at the old pace
		k.later()
		k.answer(Answered, time.Millisecond, 0) // an error page
		if got := k.slowed(slotA); got != 3000 {
			t.Errorf("recovered to %d ms by what shows nothing", got)
		}
		pages, was := 0, int64(3000)
		for ; was > 0 && pages < 80; pages++ {
			k.answer(Accepted, time.Millisecond, 0)
			got := k.slowed(slotA)
			if got >= was {
				t.Fatalf("page %d: %d ms after %d", pages, got, was)
			}
			was = got
		}
		if was != 0 || pages < 20 || pages > 50 {
			t.Errorf("after %d pages still slowed down by %d ms", pages, was)
		}
		k.forgotten()
	})
}

// forgotten checks that nothing is kept of slots that were slowed down.
func (k *kit) forgotten() {
	k.t.Helper()
	if n := k.rdb.Exists(k.ctx, k.keys.throttle).Val(); n != 0 {
		k.t.Errorf("%s is left: %v", k.keys.throttle, k.rdb.HGetAll(k.ctx, k.keys.throttle).Val())
	}
	if k.rdb.HExists(k.ctx, k.keys.meta, "throttled").Val() {
		k.t.Errorf("leases still ask for it")
	}
}

// TestARefusalDoublesTheSlotsOwnDelay, whoever has set it; where the site's own delay is longer, that holds.
func TestARefusalDoublesTheSlotsOwnDelay(t *testing.T) {
	for name, c := range map[string]struct {
		delay time.Duration
		meta  []any
		rule  string
		want  int64
	}{
		"none":       {0, nil, "", 1000},
		"short":      {200 * time.Millisecond, nil, "", 1000},
		"the fleet":  {2 * time.Second, nil, "", 4000},
		"set live":   {2 * time.Second, []any{"kept:download_delay", "700"}, "", 1400},
		"a rule":     {0, nil, "5000 8", 10_000},
		"above most": {0, nil, "90000 8", 0},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, Config{Delay: c.delay}, func(t *testing.T, k *kit) {
				k.addPages(2)
				if c.meta != nil {
					k.rdb.HSet(k.ctx, k.keys.meta, c.meta...)
				}
				if c.rule != "" {
					k.rdb.HSet(k.ctx, k.keys.rules, slotA, c.rule)
				}
				k.answer(Refused, time.Millisecond, 0)
				if got := k.slowed(slotA); got != c.want {
					t.Errorf("slowed down to %d ms, want %d", got, c.want)
				}
				if err := k.rdb.ZAdd(k.ctx, k.keys.slots, slotAt(0)).Err(); err != nil {
					t.Fatal(err)
				}
				l, now := k.lease(1), k.now()
				next, err := k.rdb.ZScore(k.ctx, k.keys.slots, slotA).Result()
				if wait := int64(next) - now.UnixMilli(); err != nil || len(l) != 1 || wait > max(c.want, 90_000) || c.want == 0 && wait < 80_000 {
					t.Errorf("%d leases, the next start in %d ms: %v", len(l), wait, err)
				}
			})
		})
	}
}

// TestDelaysByLatency are Scrapy's AutoThrottle: half way to latency by target, at once where that is more, never faster by an error.
func TestDelaysByLatency(t *testing.T) {
	type step struct {
		verdict Verdict
		latency int // ms
		want    int64
	}
	for name, c := range map[string]struct {
		target float64
		steps  []step
	}{
		"quick":   {1, []step{{Accepted, 200, 600}, {Accepted, 200, 400}, {Accepted, 200, 300}}},
		"slow":    {1, []step{{Accepted, 3000, 3000}, {Accepted, 1000, 2000}}},
		"errors":  {1, []step{{Accepted, 200, 600}, {Answered, 10, 600}, {Answered, 900, 900}}},
		"most":    {1, []step{{Accepted, 60_000, 10_000}, {Accepted, 2, 5001}}},
		"two":     {2, []step{{Accepted, 400, 600}, {Accepted, 400, 400}}},
		"part":    {0.5, []step{{Accepted, 400, 900}, {Accepted, 900, 1800}}},
		"settles": {1, []step{{Accepted, 999, 999}, {Accepted, 998, 998}, {Accepted, 998, 998}}},
		"refused": {1, []step{{Accepted, 200, 600}, {Refused, 10, 1200}, {Accepted, 200, 1080}, {Accepted, 200, 972}, {Accepted, 972, 972}, {Accepted, 200, 586}}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Throttling: Throttling{ByLatency: true, StartDelay: time.Second, MaxDelay: 10 * time.Second, TargetConcurrency: c.target}}
			each(t, cfg, func(t *testing.T, k *kit) {
				k.addPages(10)
				for i, s := range c.steps {
					k.later()
					k.answer(s.verdict, time.Duration(s.latency)*time.Millisecond, 0)
					if got := k.slowed(slotA); got != s.want {
						t.Fatalf("step %d: %d ms, want %d", i, got, s.want)
					}
				}
			})
		})
	}
}

// TestASiteNobodyKnowsBeginsSlowly when delays are by latency, and others do not wait for it.
func TestASiteNobodyKnowsBeginsSlowly(t *testing.T) {
	each(t, Config{Delay: 10 * time.Millisecond, Throttling: Throttling{ByLatency: true, StartDelay: time.Hour}}, func(t *testing.T, k *kit) {
		k.addPages(3)
		k.add(Child{Request: &Request{URL: "http://b.test/"}})
		got := k.lease(8)
		if len(got) != 2 || got[0].Slot == got[1].Slot {
			t.Errorf("leased %v", ids(got))
		}
		r, err := k.LookRobots(k.ctx, got[0], "http://"+got[0].Slot, false)
		if err != nil || r.Delay != time.Minute { // the most
			t.Errorf("for robots.txt the slot's delay is %s, %v", r.Delay, err)
		}
	})
}

// TestACrawlThatNobodyRefusesAsksForNoPace: the key is not even looked at.
func TestACrawlThatNobodyRefusesAsksForNoPace(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.rdb.Set(k.ctx, k.keys.throttle, "of another type", 0)
		k.addPages(3)
		for range 3 {
			k.answer(Accepted, time.Second, 0)
		}
		k.check()
	})
}

func TestTheThrottleKeyOfAnotherTypeIsNamed(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.addPages(1)
		l := k.lease(1)
		k.rdb.Set(k.ctx, k.keys.throttle, "of another type", 0)
		_, err := k.Exchange(k.ctx, []*Outcome{{Lease: l[0], Answer: Answer{Verdict: Refused}}}, 0, 0)
		if !errors.Is(err, ErrWrongType) || !strings.Contains(fmt.Sprint(err), k.keys.throttle) {
			t.Errorf("%v", err)
		}
	})
}

// TestThrottledSlotsThatAreOverDoNotGather: each new one takes some of the old ones out. What somebody has spoilt counts as none.
func TestThrottledSlotsThatAreOverDoNotGather(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		for i, entry := range []string{"5000 0 1000", "5000 0", "", "x y z", "-1 0 9999999999999", "5000 0 9999999999999x"} {
			for j := range 5 {
				k.rdb.HSet(k.ctx, k.keys.throttle, fmt.Sprintf("old%d-%d.test", i, j), entry)
			}
			if got := k.slowed(fmt.Sprintf("old%d-0.test", i)); got != 0 {
				t.Errorf("%q: %d ms", entry, got)
			}
		}
		const hosts = 20
		for i := range hosts {
			k.add(Child{Request: &Request{URL: fmt.Sprintf("http://new%d.test/", i)}})
		}
		for _, l := range k.lease(hosts) {
			k.commit(&Outcome{Lease: l, Answer: Answer{Verdict: Refused}})
		}
		left := k.rdb.HLen(k.ctx, k.keys.throttle).Val()
		if flag := k.rdb.HGet(k.ctx, k.keys.meta, "throttled").Val(); flag != fmt.Sprint(left) {
			t.Errorf("meta says %s, there are %d", flag, left)
		}
		if left < hosts || left > hosts+10 {
			t.Errorf("%d are left of 30 old and %d new", left, hosts)
		}
		if err := k.Flush(k.ctx); err != nil {
			t.Fatal(err)
		}
		k.forgotten()
	})
}

// A part's own keys come after those that every script has.
func TestPartsOfScriptsHaveTheirOwnKeys(t *testing.T) {
	t.Parallel()
	common := len(keyset{}.list())
	key := regexp.MustCompile(`KEYS\[(\d+)\]`)
	files, err := scriptFiles.ReadDir("scripts/parts")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, m := range key.FindAllStringSubmatch(mustRead("scripts/parts/"+file.Name()), -1) {
			if n, _ := strconv.Atoi(m[1]); n <= common != (file.Name() == "keys.lua") {
				t.Errorf("%s uses %s; there are %d keys that every script has", file.Name(), m[0], common)
			}
		}
	}
}

func slotAt(score float64) redis.Z { return redis.Z{Score: score, Member: slotA} }
