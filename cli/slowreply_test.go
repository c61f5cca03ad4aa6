package cli_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// gate is a way to a Redis on which replies can be held back.
type gate struct {
	net.Listener
	to string

	mu   sync.Mutex
	open chan struct{} // closed while replies pass; guarded by mu
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{Listener: l, to: to, open: make(chan struct{})}
	close(g.open)
	go g.serve()
	t.Cleanup(func() { _ = l.Close() })
	return g
}

func (g *gate) serve() {
	for {
		client, err := g.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", g.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		go func() {
			_, _ = io.Copy(server, client) // ends with the connection
			_ = server.Close()
		}()
		go func() {
			_, _ = io.Copy(held{client, g}, server)
			_ = client.Close()
		}()
	}
}

// held writes to a client when the gate is open.
type held struct {
	io.Writer
	gate *gate
}

func (h held) Write(p []byte) (int, error) {
	h.gate.mu.Lock()
	open := h.gate.open
	h.gate.mu.Unlock()
	<-open
	return h.Writer.Write(p)
}

// hold keeps replies back until the returned function is called.
func (g *gate) hold() (release func()) {
	open := make(chan struct{})
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = open
	return sync.OnceFunc(func() { close(open) })
}

// TestLateReplyStartsNothing: the replies of Redis reach a worker only after the leases in them have ended and another has their pages. It starts none
// of them, so that no host is asked for more at once than its slot allows.
func TestLateReplyStartsNothing(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	started := map[string]map[string]time.Time{} // page -> user agent; guarded by mu
	p := newPushed(t, redistest.Options{}, &graphSite{pages: 1500, links: 4, hook: func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		mu.Lock()
		if started[r.URL.Path] == nil {
			started[r.URL.Path] = map[string]time.Time{}
		}
		started[r.URL.Path][r.UserAgent()] = time.Now()
		mu.Unlock()
		<-time.After(100 * time.Millisecond)
		return false
	}})
	p.push(p.revision("0"))
	gate := newGate(t, p.redis.Addr)
	slow := startLuacrawl(t, "", "worker", "--redis", fmt.Sprintf("redis://%s/0?read_timeout=60s", gate.Addr()), "--set", "user_agent=slow")
	p.worker("luacrawl", "--set", "user_agent=quick")
	p.seed()
	of := func(agent string) (n int) {
		mu.Lock()
		defer mu.Unlock()
		for _, by := range started {
			if _, ok := by[agent]; ok {
				n++
			}
		}
		return n
	}
	eventually(t, time.Minute, "both crawl", func() bool { return of("slow") > 30 && of("quick") > 30 })
	release := gate.hold()
	defer release()
	<-time.After(2500 * time.Millisecond)
	before := of("slow")
	release()
	eventually(t, time.Minute, "it crawls again", func() bool { return of("slow") > before+30 })
	p.crawled(time.Minute)
	mu.Lock()
	defer mu.Unlock()
	twice, late := 0, 0
	for _, by := range started {
		a, b := by["slow"], by["quick"]
		if a.IsZero() || b.IsZero() {
			continue
		}
		if twice++; a.After(b) {
			late++
		}
	}
	t.Logf("%d pages were begun by both, %d of them by the slow one last", twice, late)
	if twice == 0 || !strings.Contains(slow.output.String(), "a page came too late and was not stored") {
		t.Errorf("the replies were not late, or no late page was refused:\n%s", slow.output)
	}
	if late > 0 {
		t.Errorf("%d pages were begun on the word of late replies", late)
	}
}
