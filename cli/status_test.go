package cli

import (
	"bytes"
	"strings"
	"testing"

	"luacrawl/scheduler"
)

var balanced = scheduler.Status{
	Spider: "blog", Enqueued: 1111, Pending: 1000, Delayed: 1, InFlight: 10, Done: 97, Dead: 3, Seeds: 2, Items: 90, Seen: 1200,
	DeadLetters: 4, Slots: 2, Workers: []string{"a:1", "b:2"},
}

func TestStatusTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := writeStatus(&out, balanced, nil); err != nil {
		t.Fatal(err)
	}
	want := `blog: running
      enqueued  1,111  = pending + delayed + in flight + done + dead
       pending  1,000  in 2 slots
       delayed      1
     in flight     10
          done     97
          dead      3
         seeds      2  waiting
         items     90
          seen  1,200  fingerprints
  dead letters      4
       workers      2  a:1 b:2
`
	got := ""
	for line := range strings.Lines(out.String()) {
		got += strings.TrimRight(line, " \n") + "\n"
	}
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestStatusSaysWhenItDoesNotBalance(t *testing.T) {
	t.Parallel()
	off := balanced
	off.Enqueued += 2
	var out bytes.Buffer
	if err := writeStatus(&out, off, nil); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "does not balance: off by 2") {
		t.Error(out.String())
	}
	if r := reports([]scheduler.Status{balanced, off}, nil); !r[0].Balances || r[1].Balances {
		t.Errorf("%+v", r)
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]scheduler.Status{
		"paused":   {Paused: true, Workers: []string{"a"}},
		"finished": {Finished: true},
		"running":  {Workers: []string{"a"}, Pending: 1},
		"stopped":  {Seeds: 1},
		"idle":     {},
	} {
		if got := state(s); got != want {
			t.Errorf("%+v is %s, want %s", s, got, want)
		}
	}
}

func TestStatusNamesSinksThatAreDown(t *testing.T) {
	t.Parallel()
	waits := sinksDown([]scheduler.WorkerReport{
		{Host: "a", PID: 1, Alive: true, Spiders: []scheduler.SpiderReport{{Spider: "blog", SinkDown: "sql"}, {Spider: "shop"}}},
		{Host: "b", PID: 2, Spiders: []scheduler.SpiderReport{{Spider: "blog", SinkDown: "sql"}}}, // not alive: what it said is old
	})
	var out bytes.Buffer
	if err := writeStatus(&out, balanced, waits["blog"]); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "waits for"); n != 1 || !strings.Contains(out.String(), "\n  a:1 waits for sql, which takes no items\n") {
		t.Error(out.String())
	}
	if r := reports([]scheduler.Status{balanced}, waits); len(r[0].SinksDown) != 1 || len(waits["shop"]) != 0 {
		t.Errorf("%+v", r)
	}
}
