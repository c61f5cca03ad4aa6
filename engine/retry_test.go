package engine_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// askings are callbacks that ask for their page again.
var askings = []struct {
	name  string
	meta  string
	asks  int // calls that ask, then one that does not
	asked engine.RetryError
	set   int    // retry_times
	want  string // retry_times and priority of each call
	items []string
	dead  int64
	stats map[string]int64
}{
	{
		"once", "", 1, engine.RetryError{Reason: "empty", Delay: new(10 * time.Millisecond)}, 2, "0/0 1/-1", []string{`{"tries":1}`}, 0,
		map[string]int64{"retry/count": 1, "retry/reason_count/empty": 1, "retry/max_reached": 0, "response_received_count": 2},
	},
	{
		"too often", "", 9, engine.RetryError{Reason: "empty", Delay: new(10 * time.Millisecond)}, 2, "0/0 1/-1 2/-2", []string{`{"failed":"retry: empty"}`}, 1,
		map[string]int64{"retry/count": 2, "retry/max_reached": 1},
	},
	{
		"its own limit", "", 9, engine.RetryError{Reason: "empty", Delay: new(10 * time.Millisecond), MaxTimes: new(1), Priority: new(5)}, 2, "0/0 1/5",
		[]string{`{"failed":"retry: empty"}`}, 1, map[string]int64{"retry/count": 1, "retry/max_reached": 1},
	},
	{
		"a limit in meta", `{"max_retry_times":1}`, 9, engine.RetryError{Reason: "empty", Delay: new(10 * time.Millisecond)}, 2, "0/0 1/-1",
		[]string{`{"failed":"retry: empty"}`}, 1, map[string]int64{"retry/max_reached": 1},
	},
	{
		"more in meta", `{"max_retry_times":3}`, 9, engine.RetryError{Reason: "empty", Delay: new(10 * time.Millisecond)}, 0, "0/0 1/-1 2/-2 3/-3",
		[]string{`{"failed":"retry: empty"}`}, 1, map[string]int64{"retry/count": 3},
	},
	{
		"none", "", 9, engine.RetryError{Reason: "empty"}, 0, "0/0", []string{`{"failed":"retry: empty"}`}, 1,
		map[string]int64{"retry/count": 0, "retry/max_reached": 1},
	},
}

// TestACallbackAsksForItsPageAgain: it comes as after a failed download, up to its limit, then goes to the errback and to dead.
func TestACallbackAsksForItsPageAgain(t *testing.T) {
	t.Parallel()
	for _, c := range askings {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var calls string
			left := c.asks
			spider := passing()
			spider.callbacks["parse"] = func(r *engine.Response) (*engine.Output, error) {
				calls += fmt.Sprintf(" %d/%d", r.Request.RetryTimes, r.Request.Priority)
				if left--; left >= 0 {
					asked := c.asked
					return nil, &asked
				}
				return item(`{"tries":%d}`, r.Request.RetryTimes), nil
			}
			spider.errbacks = map[string]func(*engine.Failure) (*engine.Output, error){"err": func(f *engine.Failure) (*engine.Output, error) {
				if f.Response == nil || f.Response.Text() == "" {
					return item(`{"failed":"without its page"}`), nil
				}
				return item(`{"failed":"%s: %s"}`, f.Reason, f.Message), nil
			}}
			base := serve(t, nil)
			spider.seed = func(string) (*engine.Output, error) {
				return follow(&scheduler.Request{URL: base + "/a", Errback: "err", Meta: json.RawMessage(c.meta)}), nil
			}
			r := newRig(t, spider, func(s *engine.Settings) { s.RetryTimes = c.set }, "x")
			sum := r.run(t)
			if calls != " "+c.want {
				t.Errorf("calls with retry_times/priority%s, want %s", calls, c.want)
			}
			if diff := cmp.Diff(c.items, r.items); diff != "" {
				t.Error(diff)
			}
			if st := r.status(t); st.Dead != c.dead {
				t.Errorf("%d dead, want %d", st.Dead, c.dead)
			}
			for name, want := range c.stats {
				if got := sum.Stats[name]; got != want {
					t.Errorf("%s is %d, want %d", name, got, want)
				}
			}
		})
	}
}

// TestWhichResponsesAreTriedAgain: Scrapy's list, and it can be another. meta can say how often.
func TestWhichResponsesAreTriedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		code  int
		meta  string
		codes []int // nil: the default
		tries int
		dead  int64
	}{
		{"500", 500, "", nil, 2, 1},
		{"524", 524, "", nil, 2, 1},
		{"408", 408, "", nil, 2, 1},
		{"501 says that it never will", 501, "", nil, 1, 0},
		{"404", 404, "", nil, 1, 0},
		{"by setting", 404, "", []int{404}, 2, 1},
		{"none", 500, "", []int{}, 1, 0},
		{"never by meta", 500, `{"max_retry_times":0}`, nil, 1, 1},
		{"bad meta", 500, `{"max_retry_times":"x"}`, nil, 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked visits
			base := serve(t, map[string]http.HandlerFunc{"/a": func(w http.ResponseWriter, r *http.Request) {
				asked.note(r.URL.Path)
				w.WriteHeader(c.code)
			}})
			spider := passing()
			spider.seed = func(string) (*engine.Output, error) {
				return follow(&scheduler.Request{URL: base + "/a", Meta: json.RawMessage(c.meta)}), nil
			}
			r := newRig(t, spider, func(s *engine.Settings) {
				s.RetryTimes = 1
				if c.codes != nil {
					s.RetryHTTPCodes = c.codes
				}
			}, "x")
			r.run(t)
			if paths, _ := asked.list(); len(paths) != c.tries {
				t.Errorf("asked for %d times, want %d", len(paths), c.tries)
			}
			if st := r.status(t); st.Dead != c.dead {
				t.Errorf("%d dead, want %d", st.Dead, c.dead)
			}
		})
	}
}
