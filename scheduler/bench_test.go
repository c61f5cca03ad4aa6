package scheduler

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// BenchmarkPage is the frontier's part of a page with 100 links of which one is new, 8 pages a commit: commands and Redis' CPU beside ours.
func BenchmarkPage(b *testing.B) {
	server := redistest.Start(b, redistest.Options{})
	ctx := b.Context()
	c, err := Dial(ctx, DialOptions{URL: server.URL(), Wait: time.Second})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	f, err := Open(ctx, c, Config{Spider: "bench", Persist: true, Concurrency: 1000})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := c.PushSeeds(ctx, "bench", Keys{}, [][]byte{[]byte("go")}); err != nil {
		b.Fatal(err)
	}
	next := 0
	page := func(l Lease) *Outcome {
		o := &Outcome{Lease: l, Items: [][]byte{[]byte(`{"title":"a title","url":"http://a.test/"}`)}, Stats: map[string]int64{}}
		for i := range 100 {
			n := max(0, next-i)
			o.Children = append(o.Children, Child{Request: &Request{URL: fmt.Sprintf("http://a.test/docs/api/page-%d.html", n)}})
		}
		next++
		for _, name := range []string{"downloader/request_count", "downloader/response_count", "downloader/response_status_count/200",
			"downloader/response_bytes", "response_received_count", "item_scraped_count", "request_depth_max", "downloader/request_bytes"} {
			o.Stats[name] = 1
		}
		return o
	}
	x, err := f.Exchange(ctx, nil, 1, 1)
	if err != nil {
		b.Fatal(err)
	}
	for range 20 { // a stock of pages
		var done []*Outcome
		for _, l := range x.Leases {
			for range 4 {
				next++
			}
			done = append(done, page(l))
		}
		if x, err = f.Exchange(ctx, done, 8, 0); err != nil {
			b.Fatal(err)
		}
	}
	before := counters(b, c)
	pages := 0
	for b.Loop() {
		var done []*Outcome
		for _, l := range x.Leases {
			done = append(done, page(l))
		}
		pages += len(done)
		if x, err = f.Exchange(ctx, done, 8, 0); err != nil || len(x.Leases) == 0 {
			b.Fatal(err, x)
		}
	}
	after := counters(b, c)
	b.ReportMetric((after[0]-before[0])/float64(pages), "commands/page")
	b.ReportMetric((after[1]-before[1])*1e6/float64(pages), "redis-us/page")
	b.ReportMetric(float64(pages)/float64(b.N), "pages/op")
}

// counters are the commands that a server has carried out and its CPU seconds.
func counters(b *testing.B, c *Client) [2]float64 {
	b.Helper()
	info, err := c.rdb.Info(b.Context(), "all").Result()
	if err != nil {
		b.Fatal(err)
	}
	value := func(name string) float64 {
		_, rest, _ := strings.Cut(info, "\r\n"+name+":")
		text, _, _ := strings.Cut(rest, "\r\n")
		v, _ := strconv.ParseFloat(text, 64)
		return v
	}
	return [2]float64{value("total_commands_processed"), value("used_cpu_user") + value("used_cpu_sys")}
}
