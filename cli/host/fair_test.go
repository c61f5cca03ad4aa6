package host

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
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
	f.push(crawler("slow", "local x = 0 for i = 1, 2500000 do x = x + i % 7 end"), scheduler.Adopt)
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
	rate := func(spider string, window time.Duration) float64 {
		before, start := status(spider).Progress.Pages, time.Now()
		<-time.After(window)
		return float64(status(spider).Progress.Pages-before) / time.Since(start).Seconds()
	}
	wait := func(what string, ok func() bool) {
		if !poll(2*time.Minute, ok) {
			t.Fatalf("%s: never; %+v", what, h.Spiders())
		}
	}
	f.eventually("the ordinary spider runs", func() bool { return status("ordinary").Progress.Pages > 100 })
	var alone, beside []float64
	for range 5 {
		state(scheduler.Stopped)
		wait("the slow spider has stopped", func() bool { return status("slow").Spider == "" })
		alone = append(alone, rate("ordinary", time.Second))
		state(scheduler.Running)
		wait("the slow spider runs", func() bool { return status("slow").Progress.InFlight >= 12 })
		pages := status("slow").Progress.Pages
		beside = append(beside, rate("ordinary", 3*time.Second))
		t.Logf("ordinary %.0f pages a second alone, %.0f beside; slow %d in 3 s", alone[len(alone)-1], beside[len(beside)-1], status("slow").Progress.Pages-pages)
	}
	slices.Sort(alone)
	slices.Sort(beside)
	kept := beside[2] / alone[2]
	t.Logf("the ordinary spider kept %.2f of its rate", kept)
	if kept < leastKept {
		t.Errorf("the ordinary spider kept %.2f of its rate, want %.2f", kept, leastKept)
	}
}
