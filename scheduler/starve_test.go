package scheduler

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

const (
	smallSites = 500
	smallPages = 10
	largePages = 200_000
)

// TestOneLargeSiteStarvesNoSmallOne: beside a site of 200,000 pending pages, 500 sites with ten are done within 1.2 times what they take alone,
// and 99 of 100 leases take less than 10 ms of Redis, or on a busy machine hardly longer than alone. Time is counted in leases, which no
// other work lengthens.
func TestOneLargeSiteStarvesNoSmallOne(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{"at once": {Concurrency: 8}, "with a delay": {Concurrency: 8, Delay: 5 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 3 { // what else the machine does may lengthen the worst 1 % of one round, and hardly of three
				alone, together := drainSmall(t, cfg, 0), drainSmall(t, cfg, largePages)
				t.Logf("alone %d leases in %v, scripts %v in the worst 1%%; beside the large site %d in %v, scripts %v, leases as a worker sees them %v",
					alone.leases, alone.took, alone.scripts, together.leases, together.took, together.scripts, together.p99)
				if together.leases*10 > alone.leases*12 {
					t.Fatalf("the small sites were done after %d leases, alone after %d", together.leases, alone.leases)
				}
				if together.scripts <= max(10*time.Millisecond, 2*alone.scripts) {
					return
				}
			}
			t.Error("scripts took too long in the worst 1% of each round")
		})
	}
}

// drained is what it took until all pages of the small sites were done.
type drained struct {
	leases  int
	took    time.Duration
	p99     time.Duration // of leases and the commits that they ride on
	scripts time.Duration // the 99th percentile by Redis' own clock
}

func drainSmall(t *testing.T, cfg Config, large int) drained {
	t.Helper()
	cfg.Lease = time.Hour
	k := newKit(t, redistest.Start(t, redistest.Options{}).URL(), cfg)
	k.enqueueMany(large, func(i int) Child { return on("large", i) })
	k.enqueueMany(smallSites*smallPages, func(i int) Child { return on(fmt.Sprint("small", i%smallSites), i) })
	if err := k.rdb.ConfigResetStat(k.ctx).Err(); err != nil {
		t.Fatal(err)
	}
	var d drained
	var each []time.Duration
	var done []*Outcome
	begun := time.Now()
	for left := smallSites * smallPages; left > 0; {
		asked := time.Now()
		x := k.exchange(k.Frontier, done, 8, 0)
		each = append(each, time.Since(asked))
		done = done[:0]
		for _, l := range x.Leases {
			if done = append(done, &Outcome{Lease: l}); l.Slot != "large.test" {
				left--
			}
		}
		d.leases += len(x.Leases)
		if len(x.Leases) == 0 && !sleep(k.ctx, x.Wait) {
			t.Fatalf("%d pages are left", left)
		}
	}
	d.took = time.Since(begun)
	slices.Sort(each)
	d.p99, d.scripts = each[len(each)*99/100], k.worstScripts()
	return d
}

// enqueueMany schedules n children.
func (k *kit) enqueueMany(n int, child func(i int) Child) {
	k.t.Helper()
	const chunk = 2000
	for from := 0; from < n; from += chunk {
		var children []Child
		for i := from; i < min(from+chunk, n); i++ {
			children = append(children, child(i))
		}
		if added, _, err := k.Enqueue(k.ctx, children); err != nil || added != len(children) {
			k.t.Fatalf("%d of %d added: %v", added, len(children), err)
		}
	}
}

// worstScripts is the 99th percentile of the time that scripts took.
func (k *kit) worstScripts() time.Duration {
	k.t.Helper()
	info, err := k.rdb.Info(k.ctx, "latencystats").Result()
	if err != nil {
		k.t.Fatal(err)
	}
	found := regexp.MustCompile(`evalsha:.*\bp99=([\d.]+)`).FindStringSubmatch(info)
	if found == nil {
		k.t.Fatalf("redis keeps no latencies: %s", strings.TrimSpace(info))
	}
	us, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		k.t.Fatal(err)
	}
	return time.Duration(us * float64(time.Microsecond))
}
