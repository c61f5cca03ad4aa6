package luabind_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"luacrawl/engine"
	"luacrawl/luabind/luabindtest"
	"luacrawl/scheduler"
)

// TestRetryEndsTheCallback through whatever protects it, and nothing that it has emitted is kept.
func TestRetryEndsTheCallback(t *testing.T) {
	t.Parallel()
	number := func(n int) *int { return &n }
	delay := func(d time.Duration) *time.Duration { return &d }
	for parse, want := range map[string]engine.RetryError{
		`emit { n = 1 } retry("empty page") emit { n = 2 }`:              {Reason: "empty page"},
		`pcall(retry, "in pcall") emit { n = 1 }`:                        {Reason: "in pcall"},
		`xpcall(function() retry("in xpcall") end, print)`:               {Reason: "in xpcall"},
		`coroutine.wrap(function() retry("in a coroutine") end)()`:       {Reason: "in a coroutine"},
		`coroutine.resume(coroutine.create(function() retry("x") end))`:  {Reason: "x"},
		`retry("slow", { delay = 1.5 })`:                                 {Reason: "slow", Delay: delay(1500 * time.Millisecond)},
		`retry("now", { delay = 0, max_retry_times = 0 })`:               {Reason: "now", Delay: delay(0), MaxTimes: number(0)},
		`retry("later", { max_retry_times = 7, priority_adjust = -10 })`: {Reason: "later", MaxTimes: number(7), Priority: number(-10)},
		`retry("no options", {})`:                                        {Reason: "no options"},
		`retry("no options", nil)`:                                       {Reason: "no options"},
	} {
		out, err := spider(t, parse).Parse("http://site.test/", "")
		var asked *engine.RetryError
		if !errors.As(err, &asked) || out != nil {
			t.Errorf("%s: %v, %v", parse, out, err)
			continue
		}
		if diff := cmp.Diff(want, *asked); diff != "" {
			t.Errorf("%s: %s", parse, diff)
		}
	}
}

func TestRetryWithMistakes(t *testing.T) {
	t.Parallel()
	for parse, want := range map[string]string{
		`retry()`:                                  `retry needs a reason, as in retry("empty page"), got nil`,
		`retry(" ")`:                               `retry needs a reason`,
		`retry { reason = "x" }`:                   `retry needs a reason, as in retry("empty page"), got table`,
		`retry("x", 5)`:                            `retry: the options are a number; they must be a table, as in { delay = 30 }`,
		`retry("x", { dealy = 5 })`:                `retry has no option dealy; did you mean "delay"?`,
		`retry("x", { 5 })`:                        `retry has no option 1`,
		`retry("x", { delay = "5" })`:              `retry: delay is 5; it must be seconds from 0 to 86400`,
		`retry("x", { delay = -1 })`:               `retry: delay is -1`,
		`retry("x", { delay = 0/0 })`:              `retry: delay is`,
		`retry("x", { max_retry_times = 1.5 })`:    `retry: max_retry_times is 1.5; it must be a whole number from 0 to 1000`,
		`retry("x", { max_retry_times = 1e9 })`:    `retry: max_retry_times is`,
		`retry("x", { priority_adjust = "high" })`: `retry: priority_adjust is high`,
	} {
		_, err := spider(t, parse).Parse("http://site.test/", "")
		var script *engine.ScriptError
		if !errors.As(err, &script) || !strings.Contains(script.Message, want) || script.Line == 0 {
			t.Errorf("%s: %v, want %q", parse, err, want)
		}
	}
}

// TestRetryInAnErrback: it ends the errback as it ends a callback, with a response or without.
func TestRetryInAnErrback(t *testing.T) {
	t.Parallel()
	s := luabindtest.Spider(t, luabindtest.Files{luabindtest.Main: `local spider = { name = "test" }
function spider.parse(response) end
function spider.failed(failure)
  emit { n = 1 }
  pcall(retry, failure.reason, { max_retry_times = 5 })
  emit { n = 2 }
end
return spider
`})
	r := &scheduler.Request{URL: "http://site.test/", Errback: "failed"}
	out, err := s.Errback(t.Context(), &engine.Failure{Request: r, Reason: "http_status"})
	var asked *engine.RetryError
	if !errors.As(err, &asked) || out != nil || asked.Reason != "http_status" || *asked.MaxTimes != 5 {
		t.Errorf("%v, %v", out, err)
	}
}

// TestRetryIsForCallbacksAndErrbacks: elsewhere there is no page to fetch again.
func TestRetryIsForCallbacksAndErrbacks(t *testing.T) {
	t.Parallel()
	s := luabindtest.Spider(t, luabindtest.Files{luabindtest.Main: `local spider = { name = "test" }
function spider.parse(response) emit { n = 1 } emit { n = 2 } end
function spider.process_item(item) if item.n == 1 then retry("in process_item") end return item end
function spider.make_request_from_data(data) retry("of a seed") end
return spider
`})
	for name, call := range map[string]func() (*engine.Output, error){
		"seed": func() (*engine.Output, error) { return s.Seed("http://site.test/") },
	} {
		if _, err := call(); err == nil || !strings.Contains(err.Error(), "retry is for callbacks and errbacks") {
			t.Errorf("%s: %v", name, err)
		}
	}
	out, err := s.Parse("http://site.test/", "")
	if err != nil || len(out.Items) != 1 || len(out.Failed) != 1 || !strings.Contains(out.Failed[0].Err.Error(), "retry is for callbacks and errbacks; process_item") {
		t.Errorf("process_item: %v, %v", out, err)
	}
}
