package engine_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// editedSpider is a spider that is edited between two looks of the engine: the first call of each kind meets a revision that has not
// the callback "late", every other one that has.
type editedSpider struct {
	*goSpider
	mu   sync.Mutex
	lack map[string]string // what to answer once: kind of call -> revision that lacks "late"; guarded by mu
}

// lacks says, once, which revision lacks the callback.
func (s *editedSpider) lacks(kind, name string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	revision, ok := s.lack[kind]
	if ok = ok && name == "late"; ok {
		delete(s.lack, kind)
	}
	return revision, ok
}

func (s *editedSpider) Revision() string { return "rev2" }

func (s *editedSpider) HasCallback(_ context.Context, name, _ string) (bool, string) {
	if revision, lacks := s.lacks("look", name); lacks {
		return false, revision
	}
	return true, "rev2"
}

func (s *editedSpider) Parse(ctx context.Context, r *engine.Response) (*engine.Output, error) {
	if revision, lacks := s.lacks("call", r.Request.Callback); lacks {
		return nil, &engine.UnknownCallbackError{Callback: "late", Revision: revision, Err: errors.New("no late")}
	}
	return s.goSpider.Parse(ctx, r)
}

func (s *editedSpider) Errback(ctx context.Context, f *engine.Failure) (*engine.Output, error) {
	if revision, lacks := s.lacks("errback", f.Request.Errback); lacks {
		return nil, &engine.UnknownCallbackError{Callback: "late", Revision: revision, Err: errors.New("no late")}
	}
	return s.goSpider.Errback(ctx, f)
}

// TestCallbackLostByAnEdit: a request meets a revision without its callback, before its page is fetched or after. If another one made it,
// it is handed back and done by the next revision that has it; else it is dead. It is no error of a callback in either case.
func TestCallbackLostByAnEdit(t *testing.T) {
	t.Parallel()
	late := scheduler.Request{URL: "/late", Callback: "late", Revision: "rev2"}
	failing := scheduler.Request{URL: "/404", Errback: "late", Revision: "rev2"}
	done, failed := []string{`{"body":"page /late","path":"/late"}`}, []string{`{"failed":"http_status"}`}
	for name, c := range map[string]struct {
		kind, revision string
		child          scheduler.Request
		items          []string
		dead           int64
	}{
		"before, by another revision":           {"look", "rev1", late, done, 0},
		"after, by another revision":            {"call", "rev1", late, done, 0},
		"after, by its own revision":            {"call", "rev2", late, nil, 1},
		"before, by its own revision":           {"look", "rev2", late, nil, 1},
		"its errback, by another revision":      {"errback", "rev1", failing, failed, 0},
		"its errback, by its own revision":      {"errback", "rev2", failing, nil, 1},
		"its errback, before, by another":       {"look", "rev1", failing, failed, 0},
		"nothing is lost without an edit":       {"none", "", late, done, 0},
		"nothing of an errback without an edit": {"none", "", failing, failed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := serve(t, map[string]http.HandlerFunc{"/404": status(404)})
			child := c.child
			child.URL = base + child.URL
			spider := &editedSpider{lack: map[string]string{c.kind: c.revision}, goSpider: &goSpider{
				callbacks: map[string]func(*engine.Response) (*engine.Output, error){
					"parse": func(*engine.Response) (*engine.Output, error) {
						r := child
						return &engine.Output{Requests: []*scheduler.Request{&r}, Revision: "rev2"}, nil
					},
					"late": bodyItem,
				},
				errbacks: map[string]func(*engine.Failure) (*engine.Output, error){"late": reasonItem},
			}}
			r := newRig(t, spider, nil, base+"/seed")
			sum := r.run(t)
			if diff := cmp.Diff(c.items, r.items); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
			if st := r.status(t); st.DeadLetters != c.dead || st.Pending+st.Delayed+st.InFlight != 0 {
				t.Errorf("status %+v, want %d dead letters and nothing left", st, c.dead)
			}
			if n := sum.Stats["spider_exceptions/count"]; n != 0 {
				t.Errorf("%d errors of callbacks", n)
			}
			if handed := sum.Stats["scheduler/handed_back"] == 1; handed != (c.kind != "none" && c.dead == 0) {
				t.Errorf("handed back: %v", sum.Stats["scheduler/handed_back"])
			}
		})
	}
}

// TestSettingsOfAnEdit: what is put into effect while a crawl runs counts for the pages that follow.
func TestSettingsOfAnEdit(t *testing.T) {
	t.Parallel()
	base := serve(t, map[string]http.HandlerFunc{"/404": status(404)})
	var r *rig
	spider := &goSpider{callbacks: map[string]func(*engine.Response) (*engine.Output, error){
		"parse": bodyItem,
		"edit": func(*engine.Response) (*engine.Output, error) {
			s := r.settings
			s.HandleHTTPStatusAll, s.ItemMeta = true, true
			r.crawl.SetSettings(s)
			return follow(&scheduler.Request{URL: base + "/404"}), nil
		},
	}, seed: func(seed string) (*engine.Output, error) {
		return follow(&scheduler.Request{URL: seed, Callback: "edit", DontFilter: true}), nil
	}}
	r = newRig(t, spider, nil, base+"/seed")
	r.run(t)
	if len(r.items) != 1 || !strings.Contains(r.items[0], `"path":"/404"`) || !strings.Contains(r.items[0], `"revision":"rev1"`) {
		t.Errorf("items %v", r.items)
	}
}

func TestChangedSettings(t *testing.T) {
	t.Parallel()
	type layer = map[string]any
	for name, c := range map[string]struct {
		before, after layer
		want          []string
	}{
		"none":            {nil, nil, nil},
		"written anew":    {layer{"lease": 5.0, "download_maxsize": "8MB"}, layer{"lease": "5s", "download_maxsize": 8388608.0}, nil},
		"the default":     {layer{"partition": "host"}, layer{"retry_times": 2.0}, nil},
		"changed":         {layer{"lease": 5.0, "retry_times": 1.0}, layer{"lease": 5.0, "retry_times": 3.0}, []string{"retry_times"}},
		"given and taken": {layer{"depth_limit": 1.0}, layer{"callback_timeout": "1s"}, []string{"callback_timeout", "depth_limit"}},
		"lists":           {layer{"handle_httpstatus_list": []any{404.0}}, layer{"handle_httpstatus_list": []any{404.0, 410.0}}, []string{"handle_httpstatus_list"}},
	} {
		if got := engine.ChangedSettings(c.before, c.after); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestLiveSettings pins which settings an edit changes at once: each is read where it is used, and none shapes what is made at the start.
func TestLiveSettings(t *testing.T) {
	t.Parallel()
	var live []string
	for _, d := range engine.SettingDocs() {
		if d.Live && d.Fleet {
			t.Errorf("%s is the fleet's: one worker's edit cannot change it", d.Name)
		}
		if d.Live {
			live = append(live, d.Name)
		}
	}
	want := []string{"concurrent_requests", "redis_batch_size", "retry_times", "retry_http_codes", "retry_priority_adjust", "backoff_http_codes", "redirect_max_times", "depth_limit", "urllength_limit", "handle_httpstatus_list", "handle_httpstatus_all", "referer_enabled", "referrer_policy", "callback_timeout",
		"log_level", "max_idle_time", "closespider_pagecount", "closespider_itemcount", "closespider_errorcount", "cookies_enabled", "cookies_debug", "item_meta"}
	if diff := cmp.Diff(want, live); diff != "" {
		t.Errorf("live settings (-want +got):\n%s", diff)
	}
}
