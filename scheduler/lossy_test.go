package scheduler

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// lossyProxy passes connections on to a server and breaks them at random: before the request has reached the server, or
// after, so that it is carried out and its reply is lost.
func lossyProxy(t *testing.T, server string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); l.Close(); open.Wait() })
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { relay(ctx, conn, server) })
		}
	})
	return "redis://" + l.Addr().String() + "/0"
}

func relay(ctx context.Context, client net.Conn, addr string) {
	server, err := net.Dial("tcp", addr)
	if err != nil {
		client.Close()
		return
	}
	stop := context.AfterFunc(ctx, func() { client.Close(); server.Close() })
	defer stop()
	var both sync.WaitGroup
	pass := func(to, from net.Conn) {
		defer client.Close()
		defer server.Close()
		buf := make([]byte, 1<<20)
		for {
			n, err := from.Read(buf)
			if err != nil || rand.IntN(25) == 0 {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
	}
	both.Go(func() { pass(server, client) })
	both.Go(func() { pass(client, server) })
	both.Wait()
}

func TestLostRepliesLoseNothing(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, url string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		client, err := Dial(ctx, DialOptions{URL: url, Wait: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if _, err := client.PushSeeds(ctx, "crash", Keys{}, [][]byte{[]byte("go")}); err != nil {
			t.Fatal(err)
		}
		c := crashCrawl{URL: lossyProxy(t, strings.TrimSuffix(strings.TrimPrefix(url, "redis://"), "/0")), Nodes: 400, Lease: time.Minute, Quiet: true}
		var workers sync.WaitGroup
		for range 2 {
			workers.Go(func() {
				if err := c.work(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		workers.Wait()
		items, err := client.Items(ctx, "crash", Keys{}, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		times := map[string]int{}
		for _, i := range items {
			times[i]++
		}
		for i := range c.Nodes {
			if n := times[fmt.Sprint(i)]; n != 1 {
				t.Errorf("page %d has %d items", i, n)
			}
		}
		if s, err := client.Status(ctx, "crash", Keys{}); err != nil || s.Enqueued != int64(c.Nodes)+1 || s.Done != s.Enqueued || !s.Finished {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// silentServer takes connections and never answers.
func silentServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go io.Copy(io.Discard, conn)
		}
	}()
	return l.Addr().String()
}
