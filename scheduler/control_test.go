package scheduler

import (
	"testing"
	"time"
)

func TestControl(t *testing.T) {
	each(t, Config{Delay: 10 * time.Millisecond}, func(t *testing.T, k *kit) {
		set := func(c Change) {
			t.Helper()
			if _, err := k.client.SetControl(k.ctx, k.cfg.Spider, Keys{}, c); err != nil {
				t.Fatal(err)
			}
		}
		lease := func(seeds int) Exchanged {
			t.Helper()
			x, err := k.Exchange(k.ctx, nil, 4, seeds)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		k.PushSeedsTo(k.cfg.Spider, "http://a.test/", "http://b.test/")

		set(Change{State: Paused, Author: "ann"})
		if x := lease(4); len(x.Leases)+x.Refilled > 0 || x.State != Paused || !x.Paused {
			t.Errorf("paused: %+v", x)
		}
		set(Change{State: Draining})
		if x := lease(4); x.Refilled > 0 || x.State != Draining {
			t.Errorf("draining: %+v", x)
		}
		if left, err := k.Idle(k.ctx); err != nil || !left.Done() {
			t.Errorf("a drained crawl is done, seeds or not: %+v %v", left, err)
		}
		set(Change{State: Stopped})
		if x := lease(4); len(x.Leases)+x.Refilled > 0 || x.State != Stopped {
			t.Errorf("stopped: %+v", x)
		}
		set(Change{State: Running, Live: map[string]string{"download_delay": "30s", "log_level": "debug"}, Delay: 30 * time.Second})
		x := lease(4)
		if len(x.Leases) != 2 || x.State != Running {
			t.Errorf("running: %+v", x)
		}
		ctl, err := k.client.Control(k.ctx, k.cfg.Spider, Keys{})
		if err != nil || ctl.Version != x.Control || ctl.Live["log_level"] != "debug" || ctl.Live["download_delay"] != "30s" {
			t.Errorf("control %+v, version in the lease %d, %v", ctl, x.Control, err)
		}
	})
}

// A delay that is set live holds for every worker, whatever it was started with.
func TestLiveDelayHoldsForAll(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		other := k.Frontier
		k.Frontier = k.join()
		live := Change{Live: map[string]string{"download_delay": "1h", "concurrent_requests_per_domain": "3"}, Delay: time.Hour, Concurrency: 3}
		if _, err := k.client.SetControl(k.ctx, k.cfg.Spider, Keys{}, live); err != nil {
			t.Fatal(err)
		}
		children := make([]Child, 0, 5)
		for _, u := range []string{"1", "2", "3", "4", "5"} {
			children = append(children, Child{Request: &Request{URL: "http://a.test/" + u}})
		}
		if _, _, err := other.Enqueue(k.ctx, children); err != nil {
			t.Fatal(err)
		}
		leased := 0
		for _, f := range []*Frontier{k.Frontier, other, k.Frontier} {
			x, err := f.Exchange(k.ctx, nil, 4, 0)
			if err != nil {
				t.Fatal(err)
			}
			leased += len(x.Leases)
		}
		if leased != 1 {
			t.Errorf("%d leases of one host within its hour", leased)
		}
		if _, err := k.client.SetControl(k.ctx, k.cfg.Spider, Keys{}, Change{Live: map[string]string{"download_delay": ""}}); err != nil {
			t.Fatal(err)
		}
		if ctl, err := k.client.Control(k.ctx, k.cfg.Spider, Keys{}); err != nil || len(ctl.Live) != 1 {
			t.Errorf("control %+v, %v", ctl, err)
		}
	})
}

func TestWorkersReport(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		r := WorkerReport{ID: "a#1", Host: "a", PID: 1, Kind: "worker", Spiders: []SpiderReport{{Spider: "news", Revision: "x", State: Running}}}
		if _, err := k.client.Report(k.ctx, r, time.Hour); err != nil {
			t.Fatal(err)
		}
		r.ID, r.Host = "b#1", "b"
		if _, err := k.client.Report(k.ctx, r, -time.Second); err != nil {
			t.Fatal(err)
		}
		all, err := k.client.Workers(k.ctx)
		if err != nil || len(all) != 2 || !all[0].Alive || all[1].Alive || all[0].Spiders[0].Spider != "news" {
			t.Errorf("workers %+v, %v", all, err)
		}
		if err := k.client.Unreport(k.ctx, "a#1"); err != nil {
			t.Fatal(err)
		}
		if all, err := k.client.Workers(k.ctx); err != nil || len(all) != 1 {
			t.Errorf("workers %+v, %v", all, err)
		}
	})
}

// What a push changes of delay and concurrency holds for workers that were started with other values, and does not keep others out.
func TestAgreedSettingsHoldForAll(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		children := []Child{{Request: &Request{URL: "http://a.test/1"}}, {Request: &Request{URL: "http://a.test/2"}}}
		if _, _, err := k.Enqueue(k.ctx, children); err != nil {
			t.Fatal(err)
		}
		changed := k.cfg
		changed.Delay = time.Hour
		k.rdb.Set(k.ctx, "luacrawl:version", 9, 0)
		if err := k.Agree(k.ctx, 7, changed); err != nil {
			t.Fatal(err)
		}
		if err := k.Agree(k.ctx, 6, k.cfg); err != nil { // of a worker that is late
			t.Fatal(err)
		}
		x, err := k.Exchange(k.ctx, nil, 4, 0)
		if err != nil || len(x.Leases) != 1 {
			t.Errorf("%d leases of one host within its hour, %v", len(x.Leases), err)
		}
		k.rdb.Set(k.ctx, "luacrawl:version", 3, 0) // the registry was lost
		if err := k.Agree(k.ctx, 3, changed); err != nil {
			t.Fatal(err)
		}
		if got := k.rdb.HGet(k.ctx, k.keys.meta, "set_version").Val(); got != "3" {
			t.Errorf("version %s of the settings, want 3", got)
		}
		k.cfg = changed
		k.join()
	})
}
