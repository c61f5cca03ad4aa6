package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

// meeting is a pair of pages each of which is answered when both were asked for: with one request at a time, by two workers.
type meeting struct {
	mu   sync.Mutex
	here map[string]int           // guarded by mu
	full map[string]chan struct{} // guarded by mu
}

func newMeeting() *meeting { return &meeting{here: map[string]int{}, full: map[string]chan struct{}{}} }

func (m *meeting) wait(ctx context.Context, name string) bool {
	m.mu.Lock()
	if m.full[name] == nil {
		m.full[name] = make(chan struct{})
	}
	full := m.full[name]
	if m.here[name]++; m.here[name] == 2 {
		close(full)
	}
	m.mu.Unlock()
	select {
	case <-full:
		return true
	case <-ctx.Done():
		return false
	}
}

// pairSite is a login, a home page, two pages, a logout and two more; both of two are answered at once, so that two workers fetch them.
type pairSite struct {
	pairs *meeting

	mu      sync.Mutex
	cookies map[string]string          // that came, by path; guarded by mu
	agents  map[string]map[string]bool // who asked, by step; guarded by mu
}

func newPairSite() *pairSite {
	return &pairSite{pairs: newMeeting(), cookies: map[string]string{}, agents: map[string]map[string]bool{}}
}

func (s *pairSite) serve(w http.ResponseWriter, r *http.Request) {
	step := strings.Split(r.URL.Path, "/")[1]
	s.mu.Lock()
	s.cookies[r.URL.Path] = r.Header.Get("Cookie")
	if s.agents[step] == nil {
		s.agents[step] = map[string]bool{}
	}
	s.agents[step][r.UserAgent()] = true
	s.mu.Unlock()
	switch r.URL.Path {
	case "/login":
		w.Header().Set("Set-Cookie", "login=yes")
		http.Redirect(w, r, "/home", http.StatusFound)
	case "/logout":
		w.Header().Set("Set-Cookie", "login=; Max-Age=0")
	case "/both/1", "/both/2", "/after/1", "/after/2":
		if s.pairs.wait(r.Context(), step) && step == "both" {
			w.Header().Set("Set-Cookie", "own"+r.URL.Path[len("/both/"):]+"=1; Path=/")
		}
	}
}

// pairSpider goes through a pairSite; it logs out when both of the first two are stored.
func pairSpider(t *testing.T, base string, client *scheduler.Client) *goSpider {
	to := func(paths ...string) *engine.Output {
		var list []*scheduler.Request
		for _, p := range paths {
			list = append(list, &scheduler.Request{URL: base + p})
		}
		return follow(list...)
	}
	var one sync.Once
	return &goSpider{callbacks: map[string]func(*engine.Response) (*engine.Output, error){
		"parse": func(r *engine.Response) (*engine.Output, error) {
			switch strings.TrimPrefix(r.URL, base) {
			case "/home":
				return to("/both/1", "/both/2"), nil
			case "/both/1", "/both/2":
				first := false
				if one.Do(func() { first = true }); first {
					return to(), nil
				}
				for counted := int64(0); counted < 2; { // until the other one is stored
					status, err := client.Status(t.Context(), "t", scheduler.Keys{})
					if err != nil {
						return nil, err
					}
					counted = status.Stats["response_received_count"]
				}
				return to("/logout"), nil
			case "/logout":
				return to("/after/1", "/after/2"), nil
			}
			return to(), nil
		},
	}}
}

// TestTwoWorkersShareCookies: login on one, page two on the other, as two processes on two hosts would: they share the Redis and nothing else.
// The site wants the cookies of all pages before; each pair of pages is fetched by two workers.
func TestTwoWorkersShareCookies(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, redis string) {
		site := newPairSite()
		base := serveAll(t, site.serve)
		spider := pairSpider(t, base, dial(t.Context(), t, redis))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		for _, name := range []string{"A", "B"} {
			s := cookieSettings()
			s.UserAgent = name
			seeds := map[string][]string{"A": {base + "/login"}}[name]
			crawl := member(ctx, t, redis, spider, name, s, seeds...)
			wg.Go(func() {
				if _, err := crawl.Run(ctx); err != nil {
					t.Errorf("worker %s: %v", name, err)
				}
			})
		}
		wg.Wait()
		for path, want := range map[string][]string{
			"/login": {""}, "/home": {"login=yes"}, "/both/1": {"login=yes"}, "/both/2": {"login=yes"}, "/after/1": {"own1=1; own2=1", "own2=1; own1=1"}, "/after/2": {"own1=1; own2=1", "own2=1; own1=1"},
		} {
			if got, there := site.cookies[path]; !there || !slices.Contains(want, got) {
				t.Errorf("%s was asked for with %q, want %q", path, got, want)
			}
		}
		for _, step := range []string{"both", "after"} {
			if len(site.agents[step]) != 2 {
				t.Errorf("%s was fetched by %v", step, site.agents[step])
			}
		}
	})
}

// TestWhatAWorkerKnowsOfACookieMayBeOld: while one waits for a page another commits a cookie; the page that is stored last counts, though its
// answer says nothing new to the worker that got it.
func TestWhatAWorkerKnowsOfACookieMayBeOld(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, fast, slow, want string }{
		"the same as before": {"x=1", "x=2; Path=/", "x=1", "x=1"},
		"a removal":          {"", "x=2; Path=/", "x=; Max-Age=0; Path=/", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis := redistest.URL(t, "miniredis")
			client, pairs, last := dial(t.Context(), t, redis), newMeeting(), make(chan string, 10)
			base := serveAll(t, func(w http.ResponseWriter, r *http.Request) {
				line := ""
				switch r.URL.Path {
				case "/first":
					line = c.first
				case "/fast":
					line = c.fast
					pairs.wait(r.Context(), "both")
				case "/slow":
					line = c.slow
					pairs.wait(r.Context(), "both")
					for counted := int64(0); counted < 2 && r.Context().Err() == nil; { // until the other one is stored
						status, err := client.Status(r.Context(), "t", scheduler.Keys{})
						if err != nil {
							t.Error(err)
							return
						}
						counted = status.Stats["response_received_count"]
					}
				case "/last":
					last <- r.Header.Get("Cookie")
				}
				if line != "" {
					w.Header().Set("Set-Cookie", line)
				}
			})
			spider := passing()
			spider.callbacks["parse"] = func(r *engine.Response) (*engine.Output, error) {
				switch strings.TrimPrefix(r.URL, base) {
				case "/first":
					return follow(&scheduler.Request{URL: base + "/slow"}, &scheduler.Request{URL: base + "/fast"}), nil
				case "/slow":
					return follow(&scheduler.Request{URL: base + "/last"}), nil
				}
				return follow(), nil
			}
			fleet(t, redis, spider, 2, cookieSettings(), base+"/first")
			if len(last) != 1 {
				t.Fatalf("the last page was asked for %d times", len(last))
			}
			if got := <-last; got != c.want {
				t.Errorf("the last page was asked for with %q, want %q", got, c.want)
			}
		})
	}
}

// TestCookiesOfALatePageAreForgotten: another worker may have the page by then, and its answer counts.
func TestCookiesOfALatePageAreForgotten(t *testing.T) {
	t.Parallel()
	redis := redistest.URL(t, "miniredis")
	s := newCookieSite(t)
	client := dial(t.Context(), t, redis)
	seed := func(url string) {
		if _, err := client.PushSeeds(t.Context(), "t", scheduler.Keys{}, [][]byte{[]byte(url)}); err != nil {
			t.Error(err)
		}
	}
	spider := passing()
	spider.callbacks["parse"] = func(r *engine.Response) (*engine.Output, error) {
		if strings.Contains(r.URL, "/late") {
			seed(s.at("", "/2"))
			return follow(), client.Flush(t.Context(), "t", scheduler.Keys{}, scheduler.FlushOptions{Force: true}) // leases are void
		}
		return follow(), nil
	}
	seed(s.at("", "/late", "set", "late=1"))
	fleet(t, redis, spider, 1, cookieSettings())
	if got := strings.Join(s.asked(), ", "); got != "/late, /2" {
		t.Errorf("asked for %q", got)
	}
}

// TestCookiesOfAPageThatFailedAreKept: the site has set them, whatever becomes of the page; another worker has them too.
func TestCookiesOfAPageThatFailedAreKept(t *testing.T) {
	t.Parallel()
	redis := redistest.URL(t, "miniredis")
	s := newCookieSite(t)
	spider := passing()
	spider.callbacks["parse"] = func(r *engine.Response) (*engine.Output, error) {
		switch {
		case strings.Contains(r.URL, "/panics"):
			panic("on purpose")
		case strings.Contains(r.URL, "/raises"):
			return nil, errors.New("on purpose")
		}
		return follow(), nil
	}
	fleet(t, redis, spider, 1, cookieSettings(), s.at("", "/panics", "set", "a=1"), s.at("", "/raises", "set", "b=2"))
	fleet(t, redis, spider, 1, cookieSettings(), s.at("", "/last"))
	if got := s.asked(); len(got) != 3 || got[2] != "/last a=1; b=2" {
		t.Errorf("asked for %q", got)
	}
}

// TestCookiesOfAStoppedPageAreForgotten: its lease was lost while its callback ran, so nothing of it is stored.
func TestCookiesOfAStoppedPageAreForgotten(t *testing.T) {
	t.Parallel()
	s := newCookieSite(t)
	stopped := make(chan struct{})
	var r *rig
	spider := passing()
	spider.callbacks["parse"] = func(resp *engine.Response) (*engine.Output, error) {
		if !strings.Contains(resp.URL, "/stopped") {
			return follow(), nil
		}
		if err := r.client.Flush(t.Context(), "t", scheduler.Keys{}, scheduler.FlushOptions{Force: true}); err != nil { // leases are void
			t.Error(err)
		}
		if _, err := r.client.PushSeeds(t.Context(), "t", scheduler.Keys{}, [][]byte{[]byte(s.at("", "/2"))}); err != nil {
			t.Error(err)
		}
		select {
		case <-stopped:
		case <-time.After(20 * time.Second):
			t.Error("the page was never stopped")
		}
		return follow(), nil
	}
	r = newRigWith(t, spider, func(set *engine.Settings) {
		*set = cookieSettings()
		set.Lease = time.Second
		set.CallbackTimeout = time.Minute
	},
		func(o *engine.Options) { o.Logger = slog.New(tells{"leases expired before", stopped}) }, s.at("", "/stopped", "set", "late=1"))
	r.run(t)
	if got := strings.Join(s.asked(), ", "); got != "/stopped, /2" {
		t.Errorf("asked for %q", got)
	}
}

// tells is a log handler that closes a channel at a message.
type tells struct {
	message string
	then    chan struct{}
}

func (h tells) Enabled(context.Context, slog.Level) bool { return true }
func (h tells) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h tells) WithGroup(string) slog.Handler            { return h }
func (h tells) Handle(_ context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, h.message) {
		close(h.then)
	}
	return nil
}
