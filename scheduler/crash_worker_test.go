package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A process of this test binary with this variable set is a worker of the crash test and no test.
const crashEnv = "LUACRAWL_CRASH_WORKER"

func TestMain(m *testing.M) {
	if spec := os.Getenv(crashEnv); spec != "" {
		var c crashCrawl
		if err := json.Unmarshal([]byte(spec), &c); err != nil {
			panic(err)
		}
		if err := c.work(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// crashCrawl is what the workers of a crash test crawl: a graph whose pages are computed.
type crashCrawl struct {
	URL    string
	Nodes  int
	Lease  time.Duration
	Stream bool // items are a stream
	Poison int  // a page that kills every worker that fetches it; 0: none
	Quiet  bool // no log, no words
}

func (c crashCrawl) page(i int) string { return fmt.Sprintf("http://h%d.test/%d", i%3, i) }

func nodeOf(url string) int {
	i, err := strconv.Atoi(url[strings.LastIndexByte(url, '/')+1:])
	if err != nil {
		panic(err)
	}
	return i
}

// links are the pages that a page links to: two that only it must lead to, and others from all over.
func (c crashCrawl) links(i int) []Child {
	var out []Child
	add := func(n int) {
		if n < c.Nodes {
			out = append(out, Child{Request: &Request{URL: c.page(n)}})
		}
	}
	add(2*i + 1)
	add(2*i + 2)
	h := fnv.New64a()
	for k := range 8 {
		fmt.Fprint(h, i, k)
		add(int(h.Sum64() % uint64(c.Nodes)))
	}
	return out
}

func (c crashCrawl) config() Config {
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if c.Quiet {
		logger = nil
	}
	var stream int64
	if c.Stream {
		stream = 1_000_000
	}
	return Config{Spider: "crash", ItemStream: stream, Lease: c.Lease, LeaseAttempts: 50, Concurrency: 100, Persist: true,
		Logger: logger}
}

// work crawls until nothing is left.
func (c crashCrawl) work(ctx context.Context) error {
	client, err := Dial(ctx, DialOptions{URL: c.URL, Wait: 20 * time.Second})
	if err != nil {
		return err
	}
	defer client.Close()
	cfg := c.config()
	if c.Poison > 0 {
		cfg.LeaseAttempts = 3
	}
	f, err := Open(ctx, client, cfg)
	if err != nil {
		return err
	}
	h := &holder{f: f, held: map[string]bool{}}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go h.extend(ctx, c.Lease/3)
	var running []Lease
	var done []*Outcome
	for {
		x, err := f.Exchange(ctx, done, 16-len(running), 4)
		if err != nil {
			return err
		}
		h.change(x.Leases, done)
		running = append(running, x.Leases...)
		done = nil
		if len(running) == 0 {
			if over, err := c.over(ctx, f); over || err != nil {
				return err
			}
		}
		sleep(ctx, time.Duration(2+rand.IntN(10))*time.Millisecond)
		rand.Shuffle(len(running), func(i, j int) { running[i], running[j] = running[j], running[i] })
		n := (len(running) + 1) / 2
		for _, l := range running[:n] {
			done = append(done, c.fetch(l))
		}
		running = append([]Lease(nil), running[n:]...)
	}
}

// fetch is one page: its item and its links.
func (c crashCrawl) fetch(l Lease) *Outcome {
	o := &Outcome{Lease: l, Stats: map[string]int64{"pages": 1}}
	if l.Seed != nil {
		o.Children = []Child{{Request: &Request{URL: c.page(0), DontFilter: true}}}
		return o
	}
	i := nodeOf(l.Request.URL)
	if c.Poison > 0 && i == c.Poison {
		os.Exit(7)
	}
	o.Items = [][]byte{strconv.AppendInt(nil, int64(i), 10)}
	o.Children = c.links(i)
	return o
}

// over reports that the crawl is finished: nothing left, twice, with nothing leased in between.
func (c crashCrawl) over(ctx context.Context, f *Frontier) (bool, error) {
	first, err := f.Idle(ctx)
	if err != nil || !first.Done() {
		return false, err
	}
	sleep(ctx, 300*time.Millisecond)
	second, err := f.Idle(ctx)
	if err != nil || !second.Done() || second.Dequeued != first.Dequeued {
		return false, err
	}
	one, err := f.Finish(ctx, "")
	if one && !c.Quiet {
		fmt.Println("finished")
	}
	return true, err
}

// holder keeps the leases of a worker alive.
type holder struct {
	f    *Frontier
	mu   sync.Mutex
	held map[string]bool // guarded by mu
}

func (h *holder) change(more []Lease, done []*Outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range more {
		h.held[l.ID] = true
	}
	for _, o := range done {
		delete(h.held, o.Lease.ID)
	}
}

func (h *holder) extend(ctx context.Context, every time.Duration) {
	for sleep(ctx, every) {
		h.mu.Lock()
		var ids []string
		for id := range h.held {
			ids = append(ids, id)
		}
		h.mu.Unlock()
		h.f.Extend(ctx, ids)
	}
}
