package engine_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
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

// TestAnErrbackAsksForItsRequestAgain: whatever has failed comes again as after a failed download, and nothing of the errback is kept. Too
// often, and the request is dead without another call.
func TestAnErrbackAsksForItsRequestAgain(t *testing.T) {
	t.Parallel()
	soon, four := 10*time.Millisecond, 4
	asked := engine.RetryError{Reason: "not yet", Delay: &soon}
	more := asked
	more.MaxTimes = &four
	reset := func(w http.ResponseWriter, _ *http.Request) {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close()
		}
	}
	for _, c := range []struct {
		name  string
		path  string
		bad   int // answers that fail before a good one
		set   int // retry_times
		asked engine.RetryError
		parse bool   // the callback asks, too
		want  string // retry_times and reason of each call of the errback
		items []string
		dead  string
		stats map[string]int64
	}{
		{
			"a 404 that is none later", "/404", 2, 2, asked, false, "0/http_status 1/http_status", []string{`{"tries":2}`}, "",
			map[string]int64{"retry/count": 2, "retry/reason_count/not yet": 2, "retry/max_reached": 0},
		},
		{
			"a 404 for ever", "/404", 99, 2, asked, false, "0/http_status 1/http_status 2/http_status", nil, "retry: not yet (http_status: status 404)",
			map[string]int64{"retry/count": 2, "retry/max_reached": 1},
		},
		{
			"retries that are used up", "/reset", 99, 1, asked, false, "1/broken", nil, "retry: not yet (broken: ",
			map[string]int64{"retry/count": 1, "retry/reason_count/not yet": 0, "retry/max_reached": 2},
		},
		{
			"a limit of its own", "/500", 99, 0, more, false, "0/http_status 1/http_status 2/http_status 3/http_status 4/http_status", nil, "retry: not yet (http_status: status 500)",
			map[string]int64{"retry/count": 4, "retry/reason_count/not yet": 4, "retry/max_reached": 6},
		},
		{
			"of a callback that asks", "/a", 0, 1, asked, true, "1/retry", nil, "retry: not yet (retry: not yet)",
			map[string]int64{"retry/count": 1, "retry/max_reached": 2},
		},
		{
			"what robots.txt forbids", "/private", 0, 1, asked, false, "0/robotstxt 1/robotstxt", nil, "retry: not yet (robotstxt: ",
			map[string]int64{"retry/count": 1, "retry/max_reached": 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var seen visits
			fails := func(how http.HandlerFunc) http.HandlerFunc {
				return func(w http.ResponseWriter, r *http.Request) {
					if seen.note(r.URL.Path) <= c.bad {
						how(w, r)
					}
				}
			}
			base := serve(t, map[string]http.HandlerFunc{
				"/404": fails(status(404)), "/500": fails(status(500)), "/reset": fails(reset), "/robots.txt": text("User-agent: *\nDisallow: /private\n"),
			})
			spider := passing()
			spider.callbacks["parse"] = func(r *engine.Response) (*engine.Output, error) {
				if c.parse {
					again := asked
					return nil, &again
				}
				return item(`{"tries":%d}`, r.Request.RetryTimes), nil
			}
			var calls string
			spider.errbacks = map[string]func(*engine.Failure) (*engine.Output, error){"err": func(f *engine.Failure) (*engine.Output, error) {
				calls += fmt.Sprintf(" %d/%s", f.Request.RetryTimes, f.Reason)
				again := c.asked
				return nil, &again
			}}
			spider.seed = func(string) (*engine.Output, error) {
				return follow(&scheduler.Request{URL: base + c.path, Errback: "err"}), nil
			}
			r := newRig(t, spider, func(s *engine.Settings) { s.RetryTimes, s.RobotstxtObey = c.set, true }, "x")
			sum := r.run(t)
			if calls != " "+c.want {
				t.Errorf("calls with retry_times/reason%s, want %s", calls, c.want)
			}
			if diff := cmp.Diff(c.items, r.items); diff != "" {
				t.Error(diff)
			}
			letters, err := r.client.DeadLetters(t.Context(), "t", scheduler.Keys{}, 0, -1)
			if err != nil || c.dead == "" && len(letters) > 0 || c.dead != "" && (len(letters) != 1 || !strings.Contains(letters[0], `"error":"`+c.dead)) {
				t.Errorf("dead: %v, %v, want %q", letters, err, c.dead)
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
