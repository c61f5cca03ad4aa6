package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func pointer[T any](v T) *T { return &v }

// slot looks at one slot.
func (k *kit) slot(name string) Slot {
	k.t.Helper()
	s, err := k.client.Slot(k.ctx, k.cfg.Spider, Keys{}, name)
	if err != nil || len(s.First) != 1 {
		k.t.Fatalf("slot %s: %+v, %v", name, s.First, err)
	}
	return s.First[0]
}

// setSlot is SetSlot that must succeed.
func (k *kit) setSlot(slot string, rule SlotRule, values map[string]string) SlotChanged {
	k.t.Helper()
	done, err := k.client.SetSlot(k.ctx, k.cfg.Spider, Keys{}, SlotChange{Slot: slot, Values: values, Rule: rule, Author: "ann"})
	if err != nil {
		k.t.Fatal(err)
	}
	return done
}

func TestWhoseRuleHolds(t *testing.T) {
	each(t, Config{Delay: 200 * time.Millisecond, Concurrency: 4}, func(t *testing.T, k *kit) {
		for rule, want := range map[string]Slot{
			"":                          {Delay: 200, Limit: 4},
			"700 3":                     {Delay: 700, Limit: 3, Says: SaysLive},
			"0 3":                       {Limit: 3, Says: SaysLive},
			"r700":                      {Delay: 700, Limit: 4, Says: SaysRobots},
			"r100":                      {Delay: 200, Limit: 4},
			"fd50 fc1":                  {Delay: 50, Limit: 1, Says: SaysFile},
			"fd50 fc1 fj1 ld20 lc9 lj0": {Delay: 20, Limit: 9, Says: SaysLive},
			"fd900 fc1 fj1 lc9":         {Delay: 900, Limit: 9, Says: SaysFile, Randomized: true},
			"fd50 ld60 r500":            {Delay: 500, Limit: 4, Says: SaysRobots},
			"ld600 r500":                {Delay: 600, Limit: 4, Says: SaysLive},
			"lc0":                       {Delay: 200, Limit: 1}, // a slot that never starts would hang the crawl
			"nonsense 5 -- \x00":        {Delay: 200, Limit: 4},
		} {
			k.rdb.HSet(k.ctx, k.keys.rules, "a.test", rule)
			want.Name, want.Wait, want.Delay = "a.test", WaitWork, want.Delay*time.Millisecond
			got := k.slot("a.test")
			got.Next = time.Time{}
			if got != want {
				t.Errorf("rule %q: %+v, want %+v", rule, got, want)
			}
		}
	})
}

func TestTheLeaseObeysRules(t *testing.T) {
	each(t, Config{Delay: 10 * time.Second, Concurrency: 1}, func(t *testing.T, k *kit) {
		k.setSlot("a.test", SlotRule{Delay: pointer(time.Duration(0)), Concurrency: 3}, map[string]string{"delay": "0", "concurrency": "3"})
		k.setSlot("c.test", SlotRule{Delay: pointer(time.Minute)}, map[string]string{"delay": "60"})
		k.add(on("a", 1), on("a", 2), on("a", 3), on("a", 4), on("b", 1), on("b", 2), on("c", 1))
		before := k.rdb.Time(k.ctx).Val().UnixMilli()
		leases, count := k.lease(10), map[string]int{}
		for _, l := range leases {
			count[l.Slot]++
		}
		if count["a.test"] != 3 || count["b.test"] != 1 || count["c.test"] != 1 {
			t.Errorf("leased %v", count)
		}
		k.finish(leases)
		for slot, want := range map[string]float64{"b.test": 10_000, "c.test": 60_000} {
			if late := k.score(slot) - float64(before); late < want || late > want+5_000 {
				t.Errorf("%s starts in %v ms", slot, late)
			}
		}
		k.check()
	})
}

func TestPeopleSetASlot(t *testing.T) {
	each(t, Config{Delay: 200 * time.Millisecond, Concurrency: 4}, func(t *testing.T, k *kit) {
		if done := k.setSlot("b.test", SlotRule{Delay: pointer(time.Second)}, map[string]string{"delay": "1"}); !done.Changed || done.Known {
			t.Errorf("a slot that nobody knows: %+v", done)
		}
		k.add(get("1"))
		k.rdb.HSet(k.ctx, k.keys.rules, "a.test", "r700")
		two := map[string]string{"delay": "0.1", "concurrency": "2"}
		done := k.setSlot("a.test", SlotRule{Delay: pointer(100 * time.Millisecond), Concurrency: 2}, two)
		if !done.Changed || !done.Known || done.Robots != 700*time.Millisecond {
			t.Errorf("%+v", done)
		}
		if got := k.slot("a.test"); got.Limit != 2 || got.Delay != 700*time.Millisecond || got.Says != SaysRobots {
			t.Errorf("%+v", got)
		}
		if done := k.setSlot("a.test", SlotRule{Delay: pointer(100 * time.Millisecond), Concurrency: 2}, two); done.Changed {
			t.Error("the same again is a change")
		}
		k.setSlot("a.test", SlotRule{}, map[string]string{"delay": "", "concurrency": "", "randomize_delay": ""})
		if got := k.rdb.HGet(k.ctx, k.keys.rules, "a.test").Val(); got != "r700" {
			t.Errorf("taken back, the rule is %q", got)
		}
		k.setSlot("b.test", SlotRule{}, map[string]string{"delay": ""})
		if k.rdb.HExists(k.ctx, k.keys.rules, "b.test").Val() {
			t.Error("a rule that says nothing stays")
		}
		events, err := k.client.History(k.ctx, k.cfg.Spider)
		if err != nil || len(events) != 4 {
			t.Fatalf("%d events, %v", len(events), err)
		}
		if e := events[1]; e.What != "slot" || e.Slot != "a.test" || e.Author != "ann" || e.Settings["concurrency"] != "2" {
			t.Errorf("%+v", e)
		}
	})
}

func TestRulesOfTheFile(t *testing.T) {
	a, b := SlotRule{Delay: pointer(2 * time.Second), Concurrency: 1}, SlotRule{Randomize: pointer(true)}
	each(t, Config{SlotRules: NewSlotRules(map[string]SlotRule{"a.test": a, "b.test": b})}, func(t *testing.T, k *kit) {
		rules := func(want map[string]string) {
			t.Helper()
			if got := k.rdb.HGetAll(k.ctx, k.keys.rules).Val(); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("rules %v, want %v", got, want)
			}
		}
		rules(map[string]string{"a.test": "fd2000 fc1", "b.test": "fj1"})
		k.setSlot("a.test", SlotRule{Concurrency: 3}, map[string]string{"concurrency": "3"})
		k.rdb.Set(k.ctx, "luacrawl:version", 10, 0)

		other := k.cfg
		other.SlotRules = NewSlotRules(map[string]SlotRule{"a.test": a})
		_, err := Open(k.ctx, k.client, other)
		var differs *SettingsError
		if !errors.As(err, &differs) || differs.Name != "download_slots" || !strings.Contains(differs.Fleet, `"b.test":{"randomize_delay":true}`) {
			t.Errorf("another file beside a worker: %v", err)
		}
		if err := k.Agree(k.ctx, 5, other); err != nil {
			t.Fatal(err)
		}
		rules(map[string]string{"a.test": "fd2000 fc1 lc3"})
		other.SlotRules = NewSlotRules(map[string]SlotRule{"c.test": {Delay: pointer(250 * time.Millisecond), Randomize: pointer(false)}})
		if err := k.Agree(k.ctx, 4, other); err != nil {
			t.Fatal(err)
		}
		rules(map[string]string{"a.test": "fd2000 fc1 lc3"}) // an older push changes nothing
		if err := k.Agree(k.ctx, 6, other); err != nil {
			t.Fatal(err)
		}
		rules(map[string]string{"a.test": "lc3", "c.test": "fd250 fj0"})
		if err := k.Flush(k.ctx); err != nil {
			t.Fatal(err)
		}
		rules(map[string]string{"a.test": "lc3", "c.test": "fd250 fj0"})
		if err := k.Close(k.ctx); err != nil {
			t.Fatal(err)
		}
		other.SlotRules = ""
		if _, err := Open(k.ctx, k.client, other); err != nil {
			t.Fatal(err)
		}
		rules(map[string]string{"a.test": "lc3"})
	})
}

// More rules than one script call can unpack.
func TestManyRulesOfTheFile(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		many := map[string]SlotRule{}
		for i := range 9_000 {
			many[fmt.Sprintf("%d.test", i)] = SlotRule{Concurrency: 1}
		}
		cfg := k.cfg
		cfg.SlotRules = NewSlotRules(many)
		if err := k.Agree(k.ctx, 1, cfg); err != nil || k.rdb.HLen(k.ctx, k.keys.rules).Val() != 9_000 {
			t.Errorf("%d rules, %v", k.rdb.HLen(k.ctx, k.keys.rules).Val(), err)
		}
		cfg.SlotRules = ""
		if err := k.Agree(k.ctx, 2, cfg); err != nil || k.rdb.HLen(k.ctx, k.keys.rules).Val() != 0 {
			t.Errorf("%d rules are left, %v", k.rdb.HLen(k.ctx, k.keys.rules).Val(), err)
		}
	})
}

// A randomized delay is never less than the delay, at most half more, and not always the same.
func TestRandomizedDelay(t *testing.T) {
	const sites = 60
	each(t, Config{Delay: 10 * time.Second, RandomizeDelay: true}, func(t *testing.T, k *kit) {
		k.setSlot("0.test", SlotRule{Randomize: pointer(false)}, map[string]string{"randomize_delay": "false"})
		var children []Child
		for i := range sites {
			children = append(children, on(fmt.Sprint(i), 1))
		}
		k.add(children...)
		var delays []float64
		for range 2 { // each site in a lease of its own, and many in one
			x := k.exchange(k.Frontier, nil, sites/2, 0)
			for _, l := range x.Leases {
				if delay := k.score(l.Slot) - float64(x.Now.UnixMilli()); l.Slot == "0.test" && delay != 10_000 {
					t.Errorf("a slot that is not randomized waits %v ms", delay)
				} else if l.Slot != "0.test" {
					delays = append(delays, delay)
				}
			}
		}
		slices.Sort(delays)
		if len(delays) != sites-1 || delays[0] < 10_000 || delays[len(delays)-1] > 15_000 {
			t.Fatalf("%d delays from %v to %v", len(delays), delays[0], delays[len(delays)-1])
		}
		if quarter := len(delays) / 4; delays[quarter] > 12_500 || delays[3*quarter] < 12_500 { // it fails once in many thousand runs
			t.Errorf("delays are not spread: %v", delays)
		}
		if _, err := k.client.SetControl(k.ctx, k.cfg.Spider, Keys{}, Change{Live: map[string]string{"randomize_download_delay": "false"}}); err != nil {
			t.Fatal(err)
		}
		if k.slot("5.test").Randomized || k.slot("0.test").Randomized {
			t.Error("it was turned off live")
		}
	})
}

func TestSlotNameOfAPerson(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"example.com": "example.com", "WWW.Example.COM": "www.example.com", " example.com ": "example.com", "example.com:80": "example.com",
		"example.com:443": "example.com", "example.com:8080": "example.com:8080", "bücher.example": "xn--bcher-kva.example", "[2001:DB8::1]": "[2001:db8::1]",
		"127.0.0.1:5000": "127.0.0.1:5000", "The API": "the api", "API": "api", "@seeds": slotName("@seeds"),
		strings.Repeat("x", 300): slotName(strings.Repeat("x", 300)),
	} {
		got, err := SlotName(word)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", word, got, err, want)
		}
		if again, err := SlotName(got); err != nil || again != got || slotName(got) != got {
			t.Errorf("%q: named again, it is %q, %v", got, again, err)
		}
	}
	for word, want := range map[string]string{
		"": "empty", "https://Example.com/x": `write the host alone, "example.com"`, "://": "write the host alone", "example.com/x": "has a path",
	} {
		if got, err := SlotName(word); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want an error with %q", word, got, err, want)
		}
	}
}

func TestARequestNamesItsSlot(t *testing.T) {
	each(t, Config{Concurrency: 1}, func(t *testing.T, k *kit) {
		long := strings.Repeat("x", 300)
		one, two, odd := get("1"), get("2"), get("3")
		one.Request.Slot, two.Request.Slot, odd.Request.Slot = "api", "api", long
		k.add(one, two, odd, get("4"))
		slots := map[string]int{}
		leases := k.lease(10)
		for _, l := range leases {
			slots[l.Slot]++
			if l.Slot == "api" && l.Request.Slot != "api" {
				t.Errorf("%+v", l.Request)
			}
		}
		if len(leases) != 3 || slots["api"] != 1 || slots["a.test"] != 1 || slots[slotName(long)] != 1 {
			t.Errorf("leased of %v", slots)
		}
		k.finish(leases)
		k.check()
	})
}
