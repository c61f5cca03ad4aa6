package cli

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"luacrawl/cli/host"
	"luacrawl/engine"
	"luacrawl/scheduler"
)

func ended(reason string) summary {
	return summary{host.Ended{
		Spider: "blog",
		Summary: engine.Summary{
			Reason: reason, Duration: 12345 * time.Millisecond, Released: 2, Lost: 1,
			Stats: map[string]int64{
				statPages: 1500, statItems: 1200, statDropped: 3,
				statStatus + "200": 1480, statStatus + "404": 15, statStatus + "500": 15,
			},
			Total: map[string]int64{statPages: 9000, statItems: 8000, statDuplicates: 44},
		},
		Progress: engine.Progress{Pages: 1500, Items: 1200, Errors: 5},
		Left:     &scheduler.Status{Pending: 10, Delayed: 1, Seeds: 2, DeadLetters: 4},
	}}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	ended(engine.ReasonInterrupted).write(&out)
	want := `blog interrupted after 12.35s
  pages         1,500  (122 a second)
  items         1,200, 3 dropped
  status        200: 1,480  404: 15  500: 15
  errors        5
  duplicates    44
  late          1  (their leases had ended: others have done these pages)
  handed back   2
  whole crawl   9,000 pages, 8,000 items
  left          10 pending, 1 delayed, 2 seeds
  dead letters  4
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestSummaryListsWhatWasRaised(t *testing.T) {
	t.Parallel()
	var groups []engine.ErrorGroup
	for i := range 13 {
		e := &engine.ScriptError{Kind: "error", Message: "bad\nthing", File: "a.lua", Line: i + 1, Source: "x", Revision: "r"}
		groups = append(groups, engine.ErrorGroup{Reason: "callback_error", Err: e, URL: "http://a.test/", Count: int64(2000 - i)})
	}
	groups[1].Err.Kind = "timeout"
	s := ended(engine.ReasonFinished)
	s.Raised = groups
	var out bytes.Buffer
	s.write(&out)
	for _, want := range []string{
		"raised by the spider:\n  2,000 x  callback_error a.lua:1: bad thing\n      first on http://a.test/\n  1,999 x  callback_error (timeout) a.lua:2: ",
		"  1,991 x  callback_error a.lua:10: bad thing\n      first on http://a.test/\n  and at 3 other places\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	out.Reset()
	slog.New(slog.NewJSONHandler(&out, nil)).Info("summary", s.attributes()...)
	var record struct {
		Raised []raised
		Groups int `json:"raised_groups"`
	}
	if err := json.Unmarshal(out.Bytes(), &record); err != nil {
		t.Fatal(err)
	}
	if len(record.Raised) != mostRaised || record.Groups != 13 || record.Raised[0].Line != 1 || record.Raised[0].Source != "x\n^" || record.Raised[0].Count != 2000 {
		t.Errorf("%+v", record)
	}
}

func TestSummaryNamesRevisions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		revisions []string
		unmended  string
		want      string
	}{
		{[]string{"a1"}, "", "  revision      a1\n"},
		{[]string{"a1", "b2", "c3"}, "", "  revision      a1 -> b2 -> c3\n"},
		{[]string{"a1", "b2", "c3", "d4", "e5"}, "", "  revision      a1 -> e5, 4 edits\n"},
		{[]string{"a1"}, "blog.lua:7", "  not in effect  the last edit: blog.lua:7\n"},
	} {
		s := ended(engine.ReasonFinished)
		s.Revisions, s.Unmended = c.revisions, c.unmended
		var out bytes.Buffer
		s.write(&out)
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("no %q in\n%s", c.want, out.String())
		}
	}
}

func TestHeadlines(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		engine.ReasonFinished:  "blog finished after 12.35s",
		engine.ReasonNoWork:    "blog: nothing to do: no seeds are waiting and none are new",
		engine.ReasonPageCount: "blog closed after 12.35s: closespider_pagecount",
	} {
		if got := ended(reason).headline(); got != want {
			t.Errorf("%s: %q, want %q", reason, got, want)
		}
	}
}

func TestSummaryIsOneRecord(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("summary", ended(engine.ReasonFinished).attributes()...)
	var got struct {
		Reason string
		Pages  int64
		Status map[string]int64
		Left   map[string]int64
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Reason != "finished" || got.Pages != 1500 || got.Status["404"] != 15 || got.Left["pending"] != 10 {
		t.Errorf("%+v", got)
	}
}
