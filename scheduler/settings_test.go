package scheduler

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSettingsOfAFleet(t *testing.T) {
	each(t, Config{Delay: time.Second}, func(t *testing.T, k *kit) {
		var se *SettingsError
		for name, change := range map[string]func(c *Config){
			"partition":                      func(c *Config) { c.Partition = PartitionNone },
			"queue":                          func(c *Config) { c.Queue = QueueLIFO },
			"download_delay":                 func(c *Config) { c.Delay = 2 * time.Second },
			"concurrent_requests_per_domain": func(c *Config) { c.Concurrency = 3 },
			"concurrent_requests_total":      func(c *Config) { c.Total = 3 },
			"lease":                          func(c *Config) { c.Lease = time.Second },
			"lease_attempts":                 func(c *Config) { c.LeaseAttempts = 9 },
			"max_pending":                    func(c *Config) { c.MaxPending = 9 },
			"scheduler_persist":              func(c *Config) { c.Persist = false },
			"autothrottle_enabled":           func(c *Config) { c.Throttling.ByLatency = true },
			"autothrottle_max_delay":         func(c *Config) { c.Throttling.MaxDelay = time.Hour },
			"requests_key":                   func(c *Config) { c.Keys.Requests = "other" },
			"items_key":                      func(c *Config) { c.Keys.Items = "other" },
			"items_type":                     func(c *Config) { c.ItemStream = 1000 },
		} {
			cfg := k.cfg
			change(&cfg)
			_, err := Open(k.ctx, k.client, cfg)
			if !errors.As(err, &se) || se.Name != name || se.Fleet == se.Ours || se.Ours == "" {
				t.Errorf("%s: %v", name, err)
			} else if text := err.Error(); !strings.Contains(text, se.Ours) || !strings.Contains(text, se.Fleet) || !strings.Contains(text, "stop all workers") {
				t.Errorf("%s: %s", name, text)
			}
		}
		if got := k.check().Workers; len(got) != 1 {
			t.Errorf("refused workers stayed: %v", got)
		}
	})
}

func TestSettingsWithoutAFleet(t *testing.T) {
	each(t, Config{Delay: time.Second}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		if err := k.Close(k.ctx); err != nil {
			t.Fatal(err)
		}
		cfg := k.cfg
		cfg.Delay = 2 * time.Second
		f, err := Open(k.ctx, k.client, cfg)
		if err != nil {
			t.Fatalf("nobody is alive, and the delay may not change: %v", err)
		}
		f.Close(k.ctx)
		cfg.Keys.Requests = "other"
		var se *SettingsError
		if _, err := Open(k.ctx, k.client, cfg); !errors.As(err, &se) || !strings.Contains(err.Error(), "--fresh") {
			t.Errorf("queued work would be lost: %v", err)
		}
		cfg.FlushOnStart = true
		f, err = Open(k.ctx, k.client, cfg)
		if err != nil || f.resumed != 0 {
			t.Fatalf("%v", err)
		}
		if n := k.rdb.Exists(k.ctx, "hotnews:requests:a.test").Val(); n != 0 {
			t.Error("the queue under the old name stayed")
		}
	})
}

func TestFlushOnStart(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		cfg := k.cfg
		cfg.FlushOnStart = true
		if _, err := Open(k.ctx, k.client, cfg); !errors.Is(err, ErrFleetAlive) || !strings.Contains(err.Error(), k.Frontier.cfg.Worker) {
			t.Errorf("%v", err)
		}
		if s := k.check(); s.Pending != 1 {
			t.Errorf("a refused flush has flushed: %+v", s)
		}
		// a worker that died is forgotten when its heartbeat runs out
		k.rdb.ZAdd(k.ctx, k.keys.workers, z(1, k.worker))
		f, err := Open(k.ctx, k.client, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if s := k.check(); s.Pending != 0 || s.Epoch != 1 || f.resumed != 0 || len(s.Stats) != 0 {
			t.Errorf("%+v", s)
		}
		want := "flush " + f.cfg.Worker + ": 1 requests, the filter and the cookies: flush_on_start (--fresh)"
		if got := k.history(); !slices.Equal(got, []string{want}) {
			t.Errorf("the history is %q", got)
		}
	})
}

// A crawl that begins has nothing to flush.
func TestFlushOnStartOfANewCrawl(t *testing.T) {
	each(t, Config{FlushOnStart: true}, func(t *testing.T, k *kit) {
		if got := k.history(); len(got) != 0 {
			t.Errorf("the history is %q", got)
		}
	})
}

func TestHeartbeat(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		for name, beat := range map[string]func(){
			"exchange": func() { k.beaten = time.Time{}; k.lease(0) },
			"extend":   func() { k.Extend(k.ctx, nil) },
		} {
			k.rdb.ZAdd(k.ctx, k.keys.workers, z(1, k.worker))
			if s := k.check(); len(s.Workers) != 0 {
				t.Errorf("%s: alive: %v", name, s.Workers)
			}
			beat()
			if s := k.check(); len(s.Workers) != 1 || s.Workers[0] != k.Frontier.cfg.Worker {
				t.Errorf("%s: %v", name, s.Workers)
			}
		}
	})
}

func TestPersist(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.Close(k.ctx)
		k.cfg.Persist = false
		open := func() *Frontier {
			f, err := Open(k.ctx, k.client, func() Config { c := k.cfg; c.Persist = false; return c }())
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		one, two := open(), open()
		k.Frontier = one
		k.add(get("1"))
		one.Close(k.ctx)
		if s := k.check(); s.Pending != 1 {
			t.Errorf("the first to close has flushed: %+v", s)
		}
		two.Close(k.ctx)
		if s := k.check(); s.Pending != 0 || s.Seen != 0 {
			t.Errorf("the last to close has not flushed: %+v", s)
		}
		want := "flush " + two.cfg.Worker + ": 1 requests, the filter and the cookies: scheduler_persist is false, and the last worker has left"
		if got := k.history(); !slices.Equal(got, []string{want}) {
			t.Errorf("the history is %q", got)
		}
	})
}

func TestResumed(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("3"))
		k.lease(1)
		var log bytes.Buffer
		k.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		if f := k.join(); f.resumed != 3 || !strings.Contains(log.String(), "Resuming crawl (3 requests scheduled)") {
			t.Errorf("%d, %s", f.resumed, &log)
		}
	})
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Config{
		"spider has no name":            {},
		"braces":                        {Spider: "a{b}"},
		`partition "x"`:                 {Spider: "a", Partition: "x"},
		`queue "x"`:                     {Spider: "a", Queue: "x"},
		"download_delay -1s":            {Spider: "a", Delay: -time.Second},
		"lease_attempts 256":            {Spider: "a", LeaseAttempts: 256},
		"concurrent_requests_per_domai": {Spider: "a", Concurrency: -1},
		"max_pending -1":                {Spider: "a", MaxPending: -1},
		"lease 1ns":                     {Spider: "a", Lease: 1},
		"worker name":                   {Spider: "a", Worker: "a\nb"},
	} {
		if _, err := Open(t.Context(), nil, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
