package host

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"luacrawl/scheduler"
)

// leastKept is the part of its rate that a spider keeps beside one with slow callbacks.
const leastKept = 0.45

// fairSite never ends: each page links to two more. Its pages cost no time of their own.
func fairSite(t *testing.T) *httptest.Server {
	filler := strings.Repeat(`<p class="row">some <b>text</b> of a page <a href="/same">same</a></p>`, 100)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<a href="%sa">a</a><a href="%sb">b</a>%s`, r.URL.Path, r.URL.Path, filler)
	}))
	t.Cleanup(site.Close)
	return site
}

// crawler is a spider that follows all links, 16 at once, after it has run some code.
func crawler(name, code string) *scheduler.Revision {
	return revision(name, name+".lua", fmt.Sprintf(`local spider = { name = %q, settings = { concurrent_requests_per_domain = 16, concurrent_requests = 16, callback_timeout = 60 } }
function spider.parse(response)
  %s
  emit(response:follow_all(response:links(), "parse"))
end
return spider
`, name, code))
}

// TestSlowSpiderLeavesOthersTheirShare: in one process, a spider whose callbacks burn 300 ms of CPU each, 16 in flight, beside an ordinary one.
// The ordinary one's rate is taken with the other paused and running, in turns.
func TestSlowSpiderLeavesOthersTheirShare(t *testing.T) {
	f := newFleet(t)
	f.site = fairSite(t)
	f.push(crawler("ordinary", ""), scheduler.Adopt)
	turns := 1_250_000
	if raced {
		turns /= 10
	}
	f.push(crawler("slow", fmt.Sprintf("local x = 0 for i = 1, %d do x = x + i %% 7 end", turns)), scheduler.Adopt)
	h := f.host("")
	f.seed("ordinary")
	for i := range 100 {
		f.redis.Strings("RPUSH", "slow:start_urls", fmt.Sprintf("%s/slow/%d/", f.site.URL, i))
	}
	state := func(s scheduler.State) {
		if _, err := f.client.SetControl(t.Context(), "slow", scheduler.Keys{}, scheduler.Change{State: s}); err != nil {
			t.Fatal(err)
		}
	}
	status := func(spider string) (s Status) {
		for _, one := range h.Spiders() {
			if one.Spider == spider {
				s = one
			}
		}
		return s
	}
	type sample struct{ rate, perCPU float64 }
	look := func(window time.Duration) sample {
		before, used, start := status("ordinary").Progress.Pages, cpuTime(t), time.Now()
		<-time.After(window)
		pages := float64(status("ordinary").Progress.Pages - before)
		return sample{pages / time.Since(start).Seconds(), pages / (cpuTime(t) - used).Seconds()}
	}
	wait := func(what string, ok func() bool) {
		if !poll(2*time.Minute, ok) {
			t.Fatalf("%s: never; %+v", what, h.Spiders())
		}
	}
	f.eventually("the ordinary spider runs", func() bool { return status("ordinary").Progress.Pages > 100 })
	var kept, parts []float64
	state(scheduler.Stopped)
	wait("the slow spider has stopped", func() bool { return status("slow").Spider == "" })
	before := look(2 * time.Second)
	for range 5 {
		state(scheduler.Running)
		wait("the slow spider runs", func() bool { return status("slow").Progress.InFlight >= 12 })
		beside := look(5 * time.Second)
		state(scheduler.Stopped)
		wait("the slow spider has stopped", func() bool { return status("slow").Spider == "" })
		after := look(2 * time.Second)
		kept = append(kept, 2*beside.rate/(before.rate+after.rate))
		parts = append(parts, 2*beside.perCPU/(before.perCPU+after.perCPU))
		t.Logf("ordinary %.0f pages a second alone, %.0f beside, %.0f alone: %.2f of its rate, %.2f of the process's CPU", before.rate, beside.rate, after.rate, kept[len(kept)-1], parts[len(parts)-1])
		before = after
	}
	slices.Sort(kept)
	slices.Sort(parts)
	t.Logf("the ordinary spider kept %.2f of its rate, with %.2f of the CPU", kept[2], parts[2])
	if kept[2] < leastKept {
		t.Errorf("the ordinary spider kept %.2f of its rate, want %.2f", kept[2], leastKept)
	}
	state(scheduler.Running)
	wait("the slow spider has made a page", func() bool { return status("slow").Progress.Pages > 0 })
}

// cpuTime is what the process has used.
func cpuTime(t *testing.T) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
