package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/engine/fetch"
	"luacrawl/scheduler"
)

// fleet runs workers of one crawl on one Redis until it is finished, and returns the counters of the whole crawl.
func fleet(t *testing.T, url string, spider engine.Spider, workers int, settings engine.Settings, seeds ...string) map[string]int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for i := range workers {
		crawl := member(ctx, t, url, spider, fmt.Sprint("w", i), settings, seeds...)
		seeds = nil
		wg.Go(func() {
			if sum, err := crawl.Run(ctx); err != nil || sum.Reason != engine.ReasonFinished && sum.Reason != engine.ReasonNoWork {
				t.Errorf("worker %d ended: %s, %v", i, sum.Reason, err)
			}
		})
	}
	wg.Wait()
	return counters(ctx, t, url)
}

// member is one worker of a crawl.
func member(ctx context.Context, t *testing.T, url string, spider engine.Spider, name string, settings engine.Settings, seeds ...string) *engine.Crawl {
	t.Helper()
	frontier, err := scheduler.Open(ctx, dial(ctx, t, url), scheduler.Config{
		Spider: "t", Partition: settings.Partition, Concurrency: settings.ConcurrentRequestsPerDomain, Total: settings.ConcurrentRequestsTotal, Delay: settings.DownloadDelay, Throttling: settings.Throttling,
		Lease: settings.Lease, LeaseAttempts: settings.LeaseAttempts, MaxPending: settings.MaxPending, Persist: true, Worker: name,
		PagesPerSlot: settings.CloseSpiderPageCountPerSlot,
	})
	if err != nil {
		t.Fatal(err)
	}
	downloader := fetch.New(settings.FetchConfig())
	t.Cleanup(downloader.Close)
	o := engine.Options{Spider: spider, Settings: settings, Frontier: frontier, Downloader: downloader, UntilDone: true}
	for _, s := range seeds {
		o.Seeds = append(o.Seeds, []byte(s))
	}
	crawl, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return crawl
}

func dial(ctx context.Context, t *testing.T, url string) *scheduler.Client {
	t.Helper()
	client, err := scheduler.Dial(ctx, scheduler.DialOptions{URL: url, Wait: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// counters are those of the whole crawl.
func counters(ctx context.Context, t *testing.T, url string) map[string]int64 {
	t.Helper()
	status, err := dial(ctx, t, url).Status(ctx, "t", scheduler.Keys{})
	if err != nil {
		t.Fatal(err)
	}
	if left := status.Pending + status.Delayed + status.InFlight; left != 0 || status.Enqueued != status.Done+status.Dead {
		t.Errorf("the count does not balance: %+v", status)
	}
	return status.Stats
}

// visits notes when pages were asked for.
type visits struct {
	mu    sync.Mutex
	times []time.Time // guarded by mu
	paths []string    // guarded by mu
}

func (v *visits) note(path string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.times, v.paths = append(v.times, time.Now()), append(v.paths, path)
	return len(v.times)
}

// list gives what was noted.
func (v *visits) list() (paths []string, times []time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.paths...), append([]time.Time(nil), v.times...)
}

func openSettings() engine.Settings {
	s := engine.DefaultSettings()
	s.AllowPrivateAddresses, s.RobotstxtObey = true, false
	s.Grace = time.Second
	return s
}

// passing is a spider that does nothing with its pages.
func passing() *goSpider {
	return &goSpider{callbacks: map[string]func(*engine.Response) (*engine.Output, error){
		"parse": func(*engine.Response) (*engine.Output, error) { return &engine.Output{Revision: "rev1"}, nil },
	}}
}
