package fetch

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestFetchMemoryIsBounded(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("0123456789abcdef", 6000) // 96 KB
	packed := gzipped(page)
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(packed)
			return
		}
		if r.URL.Query().Has("chunked") {
			w.(http.Flusher).Flush()
		}
		io.WriteString(w, page)
	})
	d := newDownloader(t, Config{Memory: NewMemory(150_000), Concurrency: 24, MaxSize: 100_000})
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			for range 6 {
				res, err := get(t, d, s.URL+[]string{"/", "/?chunked", "/?gzip"}[i%3])
				if err != nil {
					t.Error(err)
					return
				}
				d.memory.mu.Lock()
				if d.memory.free < -300_000 { // one body beyond, and what it grows from
					t.Errorf("budget overdrawn: %d", d.memory.free)
				}
				d.memory.mu.Unlock()
				if string(res.Body) != page {
					t.Errorf("%d bytes of another page", len(res.Body))
				}
				res.Release()
			}
		})
	}
	all.Wait()
	wantAllFree(t, d)
}

// While a body is held that uses up the budget and goes beyond it, others wait, silent but not timed out.
func TestFetchWaitsForMemory(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "page") })
	d := newDownloader(t, Config{Memory: NewMemory(4096), IdleTimeout: 100 * time.Millisecond})
	first, err := get(t, d, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	second, err := get(t, d, s.URL) // goes beyond
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
	defer cancel()
	if res, err := d.Fetch(ctx, &Request{URL: s.URL}); err == nil || ctx.Err() == nil {
		t.Errorf("a third body: %v, %v", res, err)
	}
	third := make(chan error)
	go func() {
		res, err := get(t, d, s.URL)
		if err == nil {
			res.Release()
		}
		third <- err
	}()
	first.Release()
	second.Release()
	if err := <-third; err != nil {
		t.Error(err)
	}
	wantAllFree(t, d)
}

func TestReleaseThenReuse(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, strings.Repeat(r.URL.Path[1:], 1000)) })
	d := newDownloader(t, Config{})
	kept, err := get(t, d, s.URL+"/k")
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		res, err := get(t, d, s.URL+"/r")
		if err != nil {
			t.Fatal(err)
		}
		res.Release()
		res.Release() // does no harm: the buffer is not handed out twice
		if res.Body != nil {
			t.Error("the body is still there")
		}
		a, errA := get(t, d, s.URL+"/a")
		b, errB := get(t, d, s.URL+"/b")
		if errA != nil || errB != nil || a.Body[0] != 'a' || b.Body[0] != 'b' {
			t.Fatal("two bodies share memory", errA, errB)
		}
		a.Release()
		b.Release()
	}
	if string(kept.Body) != strings.Repeat("k", 1000) {
		t.Error("a body changed before its release")
	}
	kept.Release()
	new(Response).Release()
	wantAllFree(t, d)
}
