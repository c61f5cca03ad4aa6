package scheduler

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// crash is one run of the crash test: worker processes on a real redis-server, and what is done to them.
type crash struct {
	crashCrawl
	t      *testing.T
	server *redistest.Server
	client *Client
	ctx    context.Context

	mu       sync.Mutex
	workers  []*exec.Cmd // alive; guarded by mu
	finished int         // announcements of the end; guarded by mu
	output   bytes.Buffer
	exits    sync.WaitGroup
}

func newCrash(t *testing.T, nodes, workers int) *crash {
	t.Helper()
	return startCrash(t, crashCrawl{Nodes: nodes}, workers)
}

// startCrash is newCrash for a crawl of its own kind.
func startCrash(t *testing.T, crawl crashCrawl, workers int) *crash {
	t.Helper()
	server := redistest.Start(t, redistest.Options{AppendOnly: true})
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(crawl.Nodes/2000+2)*time.Minute) // a busy machine may need them
	t.Cleanup(cancel)
	client, err := Dial(ctx, DialOptions{URL: server.URL(), Wait: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	crawl.URL, crawl.Lease = server.URL(), 400*time.Millisecond
	c := &crash{t: t, ctx: ctx, server: server, client: client, crashCrawl: crawl}
	t.Cleanup(func() {
		for c.killOne() {
		}
		c.exits.Wait()
		client.Close()
	})
	if _, err := client.PushSeeds(ctx, "crash", Keys{}, [][]byte{[]byte("go")}); err != nil {
		t.Fatal(err)
	}
	for range workers {
		c.start()
	}
	return c
}

// start adds a worker process.
func (c *crash) start() {
	c.t.Helper()
	spec, _ := json.Marshal(c.crashCrawl)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+string(spec))
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	c.workers = append(c.workers, cmd)
	c.mu.Unlock()
	c.exits.Go(func() {
		err := cmd.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.finished += strings.Count(out.String(), "finished")
		c.output.Write(log.Bytes())
		if err != nil {
			fmt.Fprintf(&c.output, "worker %d: %v\n", cmd.Process.Pid, err)
		}
		for i, w := range c.workers {
			if w == cmd {
				c.workers = append(c.workers[:i:i], c.workers[i+1:]...)
			}
		}
	})
}

// killOne ends a worker with SIGKILL; false when there is none.
func (c *crash) killOne() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.workers) == 0 {
		return false
	}
	i := rand.IntN(len(c.workers))
	c.workers[i].Process.Kill()
	c.workers = append(c.workers[:i:i], c.workers[i+1:]...)
	return true
}

// freeze stops a worker for longer than its leases last: it comes back with outcomes that are late.
func (c *crash) freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.workers) == 0 {
		return
	}
	p := c.workers[rand.IntN(len(c.workers))].Process
	p.Signal(syscall.SIGSTOP)
	time.AfterFunc(2*c.Lease, func() { p.Signal(syscall.SIGCONT) })
}

// await waits until n pages have their items, looking at the balance each time.
func (c *crash) await(n int) {
	c.t.Helper()
	for {
		s, err := c.client.Status(c.ctx, "crash", Keys{})
		if err != nil {
			c.t.Fatalf("at %d of %d pages: %v\n%s", s.Items, c.Nodes, err, c.log())
		}
		if sum := s.Pending + s.Delayed + s.InFlight + s.Done + s.Dead; sum != s.Enqueued {
			c.t.Fatalf("status does not balance: %+v", s)
		}
		if s.Items >= int64(n) {
			return
		}
		c.mu.Lock()
		alive := len(c.workers)
		c.mu.Unlock()
		if alive == 0 || !sleep(c.ctx, 5*time.Millisecond) {
			c.t.Fatalf("%d workers, waiting for %d pages: %+v\n%s", alive, n, s, c.log())
		}
	}
}

func (c *crash) log() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.output.String()
}

// over waits for the workers to end by themselves and looks at what is in Redis.
func (c *crash) over(dead int) {
	c.t.Helper()
	ended := make(chan struct{})
	go func() { c.exits.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-c.ctx.Done():
		s, _ := c.client.Status(context.Background(), "crash", Keys{})
		c.t.Fatalf("the crawl does not end: %+v", s)
	}
	times := make([]int, c.Nodes)
	for item, err := range c.client.ReadItems(Fleet{Spider: "crash"}).Next(c.ctx) {
		if err != nil {
			c.t.Fatal(err)
		}
		i, err := strconv.Atoi(item)
		if err != nil || i >= c.Nodes {
			c.t.Fatalf("item %q", item)
		}
		times[i]++
	}
	lost, twice := 0, 0
	for _, n := range times {
		if n == 0 {
			lost++
		} else if n > 1 {
			twice++
		}
	}
	s, err := c.client.Status(c.ctx, "crash", Keys{})
	if err != nil {
		c.t.Fatal(err)
	}
	if lost != dead || twice > 0 {
		c.t.Errorf("%d pages lost, %d stored more than once", lost, twice)
	}
	if s.Pending+s.Delayed+s.InFlight+s.Seeds != 0 || s.DeadLetters != int64(dead) || s.Enqueued != s.Done+s.Dead || !s.Finished {
		c.t.Errorf("at the end: %+v", s)
	}
	if c.finished < 1 {
		c.t.Errorf("%d workers announced the end", c.finished)
	}
	for _, fault := range faults(c.ctx, c.client.rdb, Keys{}.of("crash"), s) {
		c.t.Error(fault)
	}
	if c.t.Failed() {
		c.t.Log(c.log())
	}
}

// nodes is how large a crawl is: LUACRAWL_SOAK=1 asks for the long form.
func nodes() int {
	if os.Getenv("LUACRAWL_SOAK") == "1" {
		return 20_000
	}
	return 2_000
}

func TestKilledWorkers(t *testing.T) {
	t.Parallel()
	newCrash(t, nodes(), 3).killWorkers(26)
}

// TestKilledWorkersWithAStream is TestKilledWorkers with items as a stream: each page is in it once.
func TestKilledWorkersWithAStream(t *testing.T) {
	t.Parallel()
	startCrash(t, crashCrawl{Nodes: nodes(), Stream: true}, 3).killWorkers(13)
}

// killWorkers kills and freezes workers, n times in all, and sees the crawl to its end.
func (c *crash) killWorkers(n int) {
	for i := range n {
		c.await(c.Nodes * (i + 1) / (n + 4))
		if i%4 == 3 {
			c.freeze()
		}
		c.start()
		if !c.killOne() {
			c.t.Fatal("no worker to kill")
		}
	}
	c.over(0)
}

func TestKilledRedis(t *testing.T) {
	t.Parallel()
	c := newCrash(t, nodes(), 3)
	for i := range 3 {
		c.await(c.Nodes * (i + 1) / 5)
		c.server.Kill()
		c.killOne()
		c.start()
		sleep(c.ctx, time.Duration(rand.IntN(300))*time.Millisecond)
		c.server.Restart()
	}
	c.over(0)
}

func TestRolledBackRedis(t *testing.T) {
	t.Parallel()
	rounds := 1
	if os.Getenv("LUACRAWL_SOAK") == "1" {
		rounds = 5
	}
	c := newCrash(t, nodes()*2, 3)
	for i := range rounds {
		c.await(c.Nodes * (i + 1) / (rounds + 4))
		old := c.server.Snapshot()
		sleep(c.ctx, time.Second)
		c.freeze()
		sleep(c.ctx, time.Second)
		c.server.Restore(old)
	}
	c.over(0)
	if !strings.Contains(c.log(), "forgotten commits") {
		t.Error("no worker noticed")
	}
}

func TestPoisonPageIsDead(t *testing.T) {
	t.Parallel()
	c := newCrash(t, 60, 0)
	c.Poison, c.Lease = 41, 1500*time.Millisecond // no other page hangs on it
	for range 4 {                                 // a worker that dies is replaced
		c.start()
		c.exits.Wait()
	}
	c.over(1)
	if log := c.log(); strings.Count(log, "exit status 7") != 3 {
		t.Errorf("the page was not leased lease_attempts times: %s", log)
	}
}
