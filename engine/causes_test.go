package engine_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// causingPages are the pages of TestWhatAPageCauses, beside those that there are everywhere.
func causingPages() map[string]http.HandlerFunc {
	var flaky sync.Map
	return map[string]http.HandlerFunc{
		"/moved": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/b", http.StatusFound) },
		"/loop": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/loop?"+r.URL.RawQuery+"x", http.StatusFound)
		},
		"/ftp": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "ftp://x/")
			w.WriteHeader(302)
		},
		"/404": status(404),
		"/503": status(503),
		"/flaky": func(w http.ResponseWriter, r *http.Request) {
			if _, again := flaky.LoadOrStore(r.Host, true); !again {
				w.WriteHeader(502)
				return
			}
			_, _ = io.WriteString(w, "at last")
		},
		"/cookie": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Header.Get("Cookie")+r.Header.Get("X-A"))
		},
		"/post": func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			_, _ = io.WriteString(w, r.Method+string(b))
		},
	}
}

// causingSpider starts with one request, and has callbacks that fail in their ways.
func causingSpider(child scheduler.Request) *goSpider {
	deeper := func(r *engine.Response) (*engine.Output, error) {
		out := item(`{"depth":%d}`, r.Request.Depth)
		out.Requests = follow(&scheduler.Request{URL: r.URL + "x", Callback: "deeper"}).Requests
		return out, nil
	}
	return &goSpider{
		domains: []string{"127.0.0.1"},
		callbacks: map[string]func(*engine.Response) (*engine.Output, error){
			"start":  func(*engine.Response) (*engine.Output, error) { r := child; return follow(&r), nil },
			"parse":  bodyItem,
			"deeper": deeper,
			"raise": func(*engine.Response) (*engine.Output, error) {
				return nil, &engine.ScriptError{Kind: "error", Message: "no", File: "t.lua", Line: 3}
			},
			"panic": func(*engine.Response) (*engine.Output, error) { panic("boom") },
		},
		errbacks: map[string]func(*engine.Failure) (*engine.Output, error){"err": reasonItem},
		seed: func(seed string) (*engine.Output, error) {
			return follow(&scheduler.Request{URL: seed, Callback: "start", DontFilter: true}), nil
		},
	}
}

func TestWhatAPageCauses(t *testing.T) {
	t.Parallel()
	none := map[string]int64{}
	for _, c := range []struct {
		name  string
		child scheduler.Request // URL is a path
		items []string
		dead  int64
		stats map[string]int64
		set   func(*engine.Settings)
	}{
		{"page", scheduler.Request{URL: "/a"}, []string{`{"body":"page /a","path":"/a"}`}, 0, map[string]int64{"item_scraped_count": 1, "downloader/response_status_count/200": 2}, nil},
		{"headers and cookies", scheduler.Request{URL: "/cookie", Cookies: scheduler.RequestCookies{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}}, Headers: http.Header{"X-A": {"!"}}}, []string{`{"body":"a=1; b=2!","path":"/cookie"}`}, 0, none, nil},
		{"post", scheduler.Request{URL: "/post", Method: "POST", Body: []byte("x=1")}, []string{`{"body":"POSTx=1","path":"/post"}`}, 0, none, nil},
		{"redirect keeps the callback", scheduler.Request{URL: "/moved"}, []string{`{"body":"page /b","path":"/b"}`}, 0, map[string]int64{"redirect/count": 1}, nil},
		{"redirect loop", scheduler.Request{URL: "/loop", Errback: "err"}, []string{`{"failed":"too_many_redirects"}`}, 1, map[string]int64{"redirect/count": 3}, func(s *engine.Settings) { s.RedirectMaxTimes = 3 }},
		{"redirect elsewhere", scheduler.Request{URL: "/ftp", Errback: "err"}, []string{`{"failed":"bad_redirect"}`}, 1, none, nil},
		{"404 is not dead", scheduler.Request{URL: "/404", Errback: "err"}, []string{`{"failed":"http_status"}`}, 0, map[string]int64{"httperror/response_ignored_status_count/404": 1, "retry/count": 0}, nil},
		{"404 that is asked for", scheduler.Request{URL: "/404", Meta: []byte(`{"handle_httpstatus_list":[404]}`)}, []string{`{"body":"","path":"/404"}`}, 0, none, nil},
		{"404 by setting", scheduler.Request{URL: "/404"}, []string{`{"body":"","path":"/404"}`}, 0, none, func(s *engine.Settings) { s.HandleHTTPStatusList = []int{404} }},
		{"503 is retried, then dead", scheduler.Request{URL: "/503", Errback: "err"}, []string{`{"failed":"http_status"}`}, 1, map[string]int64{"retry/count": 1, "retry/max_reached": 1, "retry/reason_count/503": 1}, func(s *engine.Settings) { s.RetryTimes = 1 }},
		{"dont_retry", scheduler.Request{URL: "/503", Meta: []byte(`{"dont_retry":true}`)}, nil, 1, map[string]int64{"retry/count": 0}, nil},
		{"flaky", scheduler.Request{URL: "/flaky"}, []string{`{"body":"at last","path":"/flaky"}`}, 0, map[string]int64{"retry/count": 1}, nil},
		{"offsite", scheduler.Request{URL: "http://elsewhere.example/"}, nil, 0, map[string]int64{"offsite/filtered": 1}, nil},
		{"too deep", scheduler.Request{URL: "/deep", Callback: "deeper"}, []string{`{"depth":1}`, `{"depth":2}`}, 0, map[string]int64{"depth/request_ignored_count": 1}, func(s *engine.Settings) { s.DepthLimit = 2 }},
		{"long URL", scheduler.Request{URL: "/" + strings.Repeat("x", 3000)}, nil, 0, map[string]int64{"urllength/request_ignored_count": 1}, nil},
		{"callback raises", scheduler.Request{URL: "/a", Callback: "raise"}, nil, 1, map[string]int64{"spider_exceptions/count": 1, "item_scraped_count": 0}, nil},
		{"callback panics", scheduler.Request{URL: "/a", Callback: "panic"}, nil, 1, map[string]int64{"spider_exceptions/count": 1}, nil},
		{"unknown callback", scheduler.Request{URL: "/a", Callback: "gone", Revision: "rev1"}, nil, 1, none, nil},
		{"connection refused", scheduler.Request{URL: "http://127.0.0.1:1/", Errback: "err"}, []string{`{"failed":"connect"}`}, 1, map[string]int64{"downloader/exception_count": 1}, func(s *engine.Settings) { s.RetryTimes = 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base := serve(t, causingPages())
			child := c.child
			if strings.HasPrefix(child.URL, "/") {
				child.URL = base + child.URL
			}
			r := newRig(t, causingSpider(child), c.set, base+"/seed")
			sum := r.run(t)
			if diff := cmp.Diff(c.items, r.items); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
			if st := r.status(t); st.DeadLetters != c.dead || st.Pending+st.Delayed+st.InFlight != 0 {
				t.Errorf("status %+v, want %d dead letters and nothing left", st, c.dead)
			}
			for name, want := range c.stats {
				if sum.Stats[name] != want || sum.Total[name] != want {
					t.Errorf("%s: %d here and %d in all, want %d", name, sum.Stats[name], sum.Total[name], want)
				}
			}
		})
	}
}
