package cli_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

const (
	politeHosts  = 50
	politeDelay  = 200 // ms
	politeAtSite = 180 // ms, apart at the server
)

// politeRounds is how long the crawls are: pages a host in the round that is measured, and further rounds in which things break.
func politeRounds() (pages, rounds int) {
	if os.Getenv("LUACRAWL_SOAK") != "" {
		return 150, 20
	}
	return 16, 2
}

// TestFleetIsPoliteAsOneCrawler: four processes and fifty hosts, with redirects, retries and robots.txt; then workers and Redis are killed
// while the queue is drained and refilled. By Redis' clock no two starts of a host are closer than the delay.
func TestFleetIsPoliteAsOneCrawler(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, redistest.Options{AppendOnly: true, Args: []string{"--appendfsync", "always"}})
	site := newPoliteSite(t, politeHosts, 0)
	pages, rounds := politeRounds()
	busy := watchMachine(t)
	f := politeFleet(t, redis, "download_delay=0.2")
	f.seed(redis, site.round(0, pages))
	f.drained(redis)
	rate := f.rate()
	for round := range rounds {
		before := site.asked()
		f.seed(redis, site.round(1+round, 6))
		eventually(t, time.Minute, "the round is under way", func() bool { return site.asked() > before+2*politeHosts })
		f.killOne()
		if round%2 == 1 {
			redis.Kill()
			redis.Restart()
		}
		f.drained(redis)
	}
	f.stop()
	site.Close() // all that came is noted

	times, starts := leaseTimes(f.all), 0
	for i := range politeHosts {
		host := site.host(i)
		at, came := times[host], site.came[host]
		starts += len(at)
		if len(at) < len(came) {
			t.Errorf("%s was asked %d times in %d leases", host, len(came), len(at))
		}
		if gap := closest(at); gap < politeDelay {
			t.Errorf("%s: two leases %d ms apart", host, gap)
		}
		if n := site.robots[host]; n != 1 {
			t.Errorf("%s was asked %d times for its robots.txt", host, n)
		}
	}
	if len(site.private) > 0 {
		t.Errorf("forbidden by robots.txt, and asked for: %.1000q", site.private)
	}
	close, all := closeAtSite(site)
	late := busy()
	t.Logf("%d starts; %.1f%% of the ideal rate; at the server %d of %d less than %d ms apart; %.2f%% of the test's own ticks were late", starts, 100*rate, close, all, politeAtSite, 100*late)
	if late > 0.001 || raced {
		return // something else would be measured
	}
	if rate < 0.9 {
		t.Errorf("%.2f of the ideal rate", rate)
	}
	few := all / 1000
	if os.Getenv("LUACRAWL_SOAK") == "" {
		few = all / 50 // when connections are made, and that is most of the short form
	}
	if close > few {
		t.Errorf("at the server %d of %d starts are less than %d ms apart", close, all, politeAtSite)
	}
}

// TestFleetKeepsConcurrencyAsOneCrawler: without a delay no host ever answers more requests at once than the fleet may have.
func TestFleetKeepsConcurrencyAsOneCrawler(t *testing.T) {
	t.Parallel()
	const most = 2
	redis := redistest.Start(t, redistest.Options{AppendOnly: true, Args: []string{"--appendfsync", "always"}})
	site := newPoliteSite(t, politeHosts/5, 30*time.Millisecond)
	pages, rounds := politeRounds()
	rounds = min(rounds, 6) // of some 20 s each, in the long form
	f := politeFleet(t, redis, "concurrent_requests_per_domain=2")
	for round := range 1 + rounds {
		before := site.asked()
		f.seed(redis, site.round(round, 2*pages))
		for range 3 {
			eventually(t, time.Minute, "the round is under way", func() bool { return site.asked() > before+2*pages })
			f.killOne()
			before += 2 * pages
		}
		if round%2 == 1 {
			redis.Kill()
			redis.Restart()
		}
		f.drained(redis)
	}
	f.stop()
	site.Close()
	reached := false
	for host, n := range site.most {
		reached = reached || n == most
		if n > most {
			t.Errorf("%s: %d requests at once", host, n)
		}
	}
	if !reached {
		t.Errorf("no host has had %d requests at once: the test shows nothing", most)
	}
}

// politeCrawl is a fleet that waits for seeds.
type politeCrawl struct {
	*fleet
	all []*process // those that were killed too
}

func politeFleet(t *testing.T, redis *redistest.Server, setting string) *politeCrawl {
	t.Helper()
	f := startFleet(t, 0, "graph.lua", "--redis", redis.URL(), "--log-format", "json", "-v", "--set", "lease=3", "--set", "robotstxt_obey=true", "--set", "user_agent=polite", "--set", setting)
	f.waits = true
	f.grow(4)
	return &politeCrawl{fleet: f, all: slices.Clone(f.workers)}
}

func (f *politeCrawl) seed(redis *redistest.Server, seeds []string) {
	push := []any{"RPUSH", "graph:start_urls"}
	for _, seed := range seeds {
		push = append(push, seed)
	}
	redis.Strings(push...)
}

// drained waits until nothing is left.
func (f *politeCrawl) drained(redis *redistest.Server) {
	f.t.Helper()
	eventually(f.t, 5*time.Minute, "the queue is drained", func() bool {
		return slices.Equal(redis.Strings("HMGET", "graph:meta", "pending"), []string{"0"}) && len(redis.Strings("ZRANGE", "graph:leases", "0", "-1")) == 0 &&
			len(redis.Strings("LRANGE", "graph:start_urls", "0", "-1")) == 0
	})
}

func (f *politeCrawl) killOne() {
	f.fleet.killOne()
	for _, p := range f.workers {
		if !slices.Contains(f.all, p) {
			f.all = append(f.all, p)
		}
	}
}

func (f *politeCrawl) stop() {
	f.t.Helper()
	for _, p := range f.workers {
		if err := p.Process.Signal(os.Interrupt); err != nil {
			f.t.Fatal(err)
		}
	}
	for _, p := range f.workers {
		p.wantExit(f.t, 20*time.Second, 130)
	}
}

// rate is that of the leases while every host had work, in parts of what the delay allows.
func (f *politeCrawl) rate() float64 {
	times := leaseTimes(f.all)
	var from, to int64
	for _, at := range times {
		first, last := at[min(2, len(at)-1)], at[max(0, len(at)-3)] // robots.txt and the hub; what was tried again
		from = max(from, first)
		if to == 0 || last < to {
			to = last
		}
	}
	n := 0
	for _, at := range times {
		for _, ms := range at {
			if from <= ms && ms < to {
				n++
			}
		}
	}
	return float64(n) * politeDelay / float64(len(times)) / float64(max(to-from, 1))
}

// closeAtSite counts how many requests came less than politeAtSite after the one before at their host.
func closeAtSite(site *politeSite) (close, all int) {
	for _, came := range site.came {
		slices.SortFunc(came, time.Time.Compare)
		for i := 1; i < len(came); i++ {
			all++
			if came[i].Sub(came[i-1]) < politeAtSite*time.Millisecond {
				close++
			}
		}
	}
	return close, all
}

// closest is the least time between two leases of a slot.
func closest(at []int64) int64 {
	least := int64(1 << 62)
	for i := 1; i < len(at); i++ {
		least = min(least, at[i]-at[i-1])
	}
	return least
}

// leased is one line of a worker's log at debug level: a request was handed out, by Redis' clock.
type leased struct {
	Msg  string `json:"msg"`
	Slot string `json:"slot"`
	At   int64  `json:"at"` // ms
}

// leaseTimes are the times at which slots were handed out, in order, as the workers logged them.
func leaseTimes(workers []*process) map[string][]int64 {
	times := map[string][]int64{}
	for _, p := range workers {
		for line := range strings.SplitSeq(p.output.String(), "\n") {
			var l leased
			if json.Unmarshal([]byte(line), &l) == nil && l.Msg == "leased" && !strings.HasPrefix(l.Slot, "@") {
				times[l.Slot] = append(times[l.Slot], l.At)
			}
		}
	}
	for _, at := range times {
		slices.Sort(at)
	}
	return times
}

// wantApart checks that the leases of each slot after a time are so many ms apart, and that there are some.
func wantApart(t *testing.T, workers []*process, after time.Time, delay int64, some int) {
	t.Helper()
	for slot, at := range leaseTimes(workers) {
		at = slices.DeleteFunc(at, func(ms int64) bool { return ms <= after.UnixMilli() })
		least := int64(math.MaxInt64)
		for i := 1; i < len(at); i++ {
			least = min(least, at[i]-at[i-1])
		}
		t.Logf("%s: %d leases, at least %d ms apart", slot, len(at), least)
		if len(at) < some || least < delay {
			t.Errorf("%s: two of %d leases are %d ms apart", slot, len(at), least)
		}
	}
}

// watchMachine looks how busy the machine is otherwise: the result is what part of a timer's ticks came more than 10 ms late.
func watchMachine(t *testing.T) (late func() float64) {
	const every, most = 5 * time.Millisecond, 10 * time.Millisecond
	var ticks, behind atomic.Int64
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			due := time.Now().Add(every)
			select {
			case <-time.After(every):
			case <-stop:
				return
			}
			ticks.Add(1)
			if time.Since(due) > most {
				behind.Add(1)
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-ended })
	return func() float64 { return float64(behind.Load()) / float64(max(ticks.Load(), 1)) }
}
