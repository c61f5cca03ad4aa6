package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func raisedAt(line int) *ScriptError {
	return &ScriptError{Kind: "error", Message: "attempt to index a nil value", File: "spiders/a.lua", Line: line, Source: "  local x = y.z",
		Traceback: fmt.Sprintf("spiders/a.lua:%d: in function 'parse'", line), Revision: "r1"}
}

// messages are the messages of a JSON log, in order, and those records.
func messages(t *testing.T, log *bytes.Buffer) (list []string, records []map[string]any) {
	t.Helper()
	for line := range strings.Lines(log.String()) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		list, records = append(list, record["msg"].(string)), append(records, record)
	}
	log.Reset()
	return list, records
}

// sharedBuffer is written by a loop while a test reads it.
type sharedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (b *sharedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// take returns what was written since it was last asked.
func (b *sharedBuffer) take() (written bytes.Buffer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = written.Write(b.buf.Bytes())
	b.buf.Reset()
	return written
}

func TestErrorsOfAKindAreToldOnceAndThenCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log sharedBuffer
		g := newErrorGroups(slog.New(slog.NewJSONHandler(&log, nil)))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- g.Run(ctx) }()
		expect := func(want ...string) []map[string]any {
			t.Helper()
			synctest.Wait()
			written := log.take()
			got, records := messages(t, &written)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("logged\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			return records
		}
		for range 58 {
			g.add("callback_error", "http://a.test/1", raisedAt(12))
		}
		slow := raisedAt(12)
		slow.Kind = "timeout"
		g.add("callback_error", "http://a.test/2", slow)
		g.add("process_item_error", "http://a.test/1", raisedAt(30))
		records := expect("callback_error spiders/a.lua:12", "callback_error (timeout) spiders/a.lua:12", "process_item_error spiders/a.lua:30")
		script := records[0]["script"].(map[string]any)
		if records[0]["url"] != "http://a.test/1" || records[0]["revision"] != "r1" || records[0]["error"] != "spiders/a.lua:12: attempt to index a nil value" ||
			script["source"] != "  local x = y.z\n  ^" || script["traceback"] != "spiders/a.lua:12: in function 'parse'" || script["line"] != 12.0 {
			t.Errorf("%v", records[0])
		}
		<-time.After(time.Minute)
		expect("callback_error spiders/a.lua:12: 57 more in the last minute")
		<-time.After(time.Minute)
		expect()
		g.add("callback_error", "http://a.test/1", raisedAt(12))
		edited := raisedAt(12)
		edited.Revision = "r2"
		g.add("callback_error", "http://a.test/9", edited) // the edit did not help: told in full
		g.add("callback_error", "http://a.test/1", raisedAt(12))
		expect("callback_error spiders/a.lua:12")
		<-time.After(20 * time.Second)
		g.tell(time.Now())
		expect("callback_error spiders/a.lua:12: 2 more in the last 20s")
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		list := g.list()
		if len(list) != 3 || list[0].Count != 61 || list[0].URL != "http://a.test/9" || list[1].Count != 1 {
			t.Errorf("%+v", list)
		}
	})
}

func TestErrorGroupsAreBounded(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	g := newErrorGroups(slog.New(slog.NewJSONHandler(&log, nil)))
	for i := range 5000 {
		e := raisedAt(0)
		e.File, e.Message, e.Revision = "", fmt.Sprint("message ", i), fmt.Sprint("r", i)
		g.add("callback_error", "", e)
		same := raisedAt(7)
		same.Revision = e.Revision
		g.add("bad_seed", "", same)
	}
	list := g.list()
	if len(list) != mostErrorGroups+1 || list[0].Count != 5000 || list[1].Count != 4001 || list[1].Err.Message != "errors at other places" {
		t.Errorf("%d groups: %+v", len(list), list[:2])
	}
	if n, _ := messages(t, &log); len(n) > mostErrorGroups+mostRevisions+mostRevisions+1 {
		t.Errorf("%d lines", len(n))
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source string
		column int
		want   string
	}{
		{"", 3, ""},
		{"   ", 0, ""},
		{"x = 1", 0, "x = 1\n^"},
		{"\t  x = 1", 0, "\t  x = 1\n\t  ^"},
		{"x = = 1", 5, "x = = 1\n    ^"},
		{"é = = 1", 6, "é = = 1\n    ^"},
		{"x = 1", 50, "x = 1\n^"},
		{"x = 1", 6, "x = 1\n     ^"},
	} {
		e := &ScriptError{Source: c.source, Column: c.column}
		if got := e.Excerpt(); got != c.want {
			t.Errorf("%q, column %d: %q, want %q", c.source, c.column, got, c.want)
		}
	}
}
