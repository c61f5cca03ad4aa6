package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"luacrawl/engine"
	"luacrawl/engine/fetch"
	"luacrawl/scheduler"
	"luacrawl/scheduler/embedded"
)

// goSpider is a spider whose callbacks are Go functions.
type goSpider struct {
	domains   []string
	start     []string
	callbacks map[string]func(*engine.Response) (*engine.Output, error)
	errbacks  map[string]func(*engine.Failure) (*engine.Output, error)
	seed      func(seed string) (*engine.Output, error)
	tasks     []scheduler.Task
	task      func(name string) (*engine.Output, error)
}

func (s *goSpider) Tasks() []scheduler.Task { return s.tasks }

func (s *goSpider) RunTask(_ context.Context, name string, _ []byte) (*engine.Output, error) {
	return s.task(name)
}

func (s *goSpider) Name() string                            { return "t" }
func (s *goSpider) Revision() string                        { return "rev1" }
func (s *goSpider) AllowedDomains() []string                { return s.domains }
func (s *goSpider) StartURLs() []string                     { return s.start }
func (s *goSpider) Settings() map[string]any                { return nil }
func (s *goSpider) Seeds(context.Context) ([][]byte, error) { return nil, nil }
func (s *goSpider) HasCallback(_ context.Context, name, _ string) (bool, string) {
	return s.callbacks[name] != nil || s.errbacks[name] != nil, s.Revision()
}

func (s *goSpider) MakeRequests(_ context.Context, seed []byte) (*engine.Output, error) {
	if s.seed != nil {
		return s.seed(string(seed))
	}
	return follow(&scheduler.Request{URL: string(seed), DontFilter: true}), nil
}

func (s *goSpider) Parse(_ context.Context, r *engine.Response) (*engine.Output, error) {
	name := r.Request.Callback
	if name == "" {
		name = "parse"
	}
	return s.callbacks[name](r)
}

func (s *goSpider) Errback(_ context.Context, f *engine.Failure) (*engine.Output, error) {
	return s.errbacks[f.Request.Errback](f)
}

func follow(requests ...*scheduler.Request) *engine.Output {
	return &engine.Output{Requests: requests, Revision: "rev1"}
}

func item(format string, args ...any) *engine.Output {
	return &engine.Output{Items: []engine.Item{engine.Item(fmt.Sprintf(format, args...))}, Revision: "rev1"}
}

// rig is a crawl on an embedded Redis.
type rig struct {
	server   *embedded.Server
	client   *scheduler.Client
	frontier *scheduler.Frontier
	crawl    *engine.Crawl
	settings engine.Settings

	mu    sync.Mutex
	items []string // guarded by mu
}

func newRig(t *testing.T, spider engine.Spider, change func(*engine.Settings), seeds ...string) *rig {
	t.Helper()
	return newRigWith(t, spider, change, nil, seeds...)
}

// newRigWith is newRig with other options of the crawl.
func newRigWith(t *testing.T, spider engine.Spider, change func(*engine.Settings), more func(*engine.Options), seeds ...string) *rig {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	r := &rig{server: server, settings: engine.DefaultSettings()}
	r.settings.Grace, r.settings.RobotstxtObey = time.Second, false
	if change != nil {
		change(&r.settings)
	}
	if r.client, err = scheduler.Dial(t.Context(), scheduler.DialOptions{URL: server.URL(), Wait: 10 * time.Second}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.client.Close() })
	r.frontier, err = scheduler.Open(t.Context(), r.client, scheduler.Config{
		Spider: "t", Concurrency: r.settings.ConcurrentRequestsPerDomain, Delay: r.settings.DownloadDelay, Lease: r.settings.Lease,
		LeaseAttempts: r.settings.LeaseAttempts, MaxPending: r.settings.MaxPending, Persist: true, Worker: "w",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = r.frontier.Close(ctx)
	})
	downloader := fetch.New(fetch.Config{Timeout: 5 * time.Second, AllowPrivate: true})
	t.Cleanup(downloader.Close)
	o := engine.Options{Spider: spider, Settings: r.settings, Frontier: r.frontier, Downloader: downloader, UntilDone: true, OnItems: r.take}
	for _, s := range seeds {
		o.Seeds = append(o.Seeds, []byte(s))
	}
	if more != nil {
		more(&o)
	}
	if r.crawl, err = engine.New(o); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) take(items []engine.Item) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, it := range items {
		r.items = append(r.items, string(it))
	}
	return nil
}

func (r *rig) run(t *testing.T) engine.Summary {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	sum, err := r.crawl.Run(ctx)
	if err != nil {
		t.Fatalf("crawl: %v", err)
	}
	slices.Sort(r.items)
	return sum
}

// dead are the dead letters as "kind reason url".
func (r *rig) status(t *testing.T) scheduler.Status {
	t.Helper()
	st, err := r.client.Status(t.Context(), "t", scheduler.Keys{})
	if err != nil {
		t.Fatal(err)
	}
	if st.Enqueued != st.Pending+st.Delayed+st.InFlight+st.Done+st.Dead {
		t.Errorf("status does not balance: %+v", st)
	}
	return st
}

func serve(t *testing.T, pages map[string]http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page := pages[r.URL.Path]; page != nil {
			page(w, r)
			return
		}
		_, _ = io.WriteString(w, "page "+r.URL.Path)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// bodyItem is a callback that gives the page's path and body.
func bodyItem(r *engine.Response) (*engine.Output, error) {
	return item(`{"body":%q,"path":%q}`, r.Text(), r.URL[strings.LastIndex(r.URL, "/"):]), nil
}

func reasonItem(f *engine.Failure) (*engine.Output, error) {
	return item(`{"failed":%q}`, f.Reason), nil
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func TestSeedsThatCannotBeUsedAreDead(t *testing.T) {
	t.Parallel()
	base := serve(t, nil)
	spider := &goSpider{
		callbacks: map[string]func(*engine.Response) (*engine.Output, error){"parse": bodyItem},
		seed: func(seed string) (*engine.Output, error) {
			switch seed {
			case "bad":
				return nil, errors.New("not a URL")
			case "skip":
				return &engine.Output{}, nil
			}
			return follow(&scheduler.Request{URL: base + seed, DontFilter: true}), nil
		},
	}
	r := newRig(t, spider, nil)
	if _, err := r.client.PushSeeds(t.Context(), "t", scheduler.Keys{}, [][]byte{[]byte("/1"), []byte("bad"), []byte("skip"), []byte("/2"), []byte("/2")}); err != nil {
		t.Fatal(err)
	}
	sum := r.run(t)
	want := []string{`{"body":"page /1","path":"/1"}`, `{"body":"page /2","path":"/2"}`, `{"body":"page /2","path":"/2"}`}
	if diff := cmp.Diff(want, r.items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	if st := r.status(t); st.Dead != 1 || sum.Stats["seeds/skipped"] != 1 || sum.Reason != engine.ReasonFinished {
		t.Errorf("status %+v, summary %+v", st, sum)
	}
}

func TestNoWork(t *testing.T) {
	t.Parallel()
	r := newRig(t, &goSpider{}, nil)
	if sum := r.run(t); sum.Reason != engine.ReasonNoWork {
		t.Errorf("reason %s", sum.Reason)
	}
}

func TestCloseConditions(t *testing.T) {
	t.Parallel()
	base := serve(t, nil)
	endless := func(r *engine.Response) (*engine.Output, error) {
		out := item(`{"u":%q}`, r.URL)
		out.Requests = follow(&scheduler.Request{URL: r.URL + "x"}, &scheduler.Request{URL: r.URL + "y"}).Requests
		return out, nil
	}
	raising := func(r *engine.Response) (*engine.Output, error) { return nil, errors.New("no") }
	for _, c := range []struct {
		name  string
		set   func(*engine.Settings)
		parse func(*engine.Response) (*engine.Output, error)
		want  string
	}{
		{"pages", func(s *engine.Settings) { s.CloseSpiderPageCount = 20 }, endless, engine.ReasonPageCount},
		{"items", func(s *engine.Settings) { s.CloseSpiderItemCount = 20 }, endless, engine.ReasonItemCount},
		{"errors", func(s *engine.Settings) { s.CloseSpiderErrorCount = 1 }, raising, engine.ReasonErrorCount},
		{"timeout", func(s *engine.Settings) { s.Timeout = 300 * time.Millisecond }, endless, engine.ReasonTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			spider := &goSpider{callbacks: map[string]func(*engine.Response) (*engine.Output, error){"parse": c.parse}}
			r := newRig(t, spider, c.set, base+"/0")
			sum := r.run(t)
			if sum.Reason != c.want {
				t.Errorf("reason %s, want %s", sum.Reason, c.want)
			}
			if st := r.status(t); st.InFlight != 0 {
				t.Errorf("%d leases left", st.InFlight)
			}
		})
	}
}

func TestItemMeta(t *testing.T) {
	t.Parallel()
	base := serve(t, nil)
	spider := &goSpider{callbacks: map[string]func(*engine.Response) (*engine.Output, error){"parse": func(r *engine.Response) (*engine.Output, error) {
		return item(`{"a":"<&>","z":1}`), nil
	}}}
	var ids []string
	for range 2 {
		r := newRig(t, spider, func(s *engine.Settings) { s.ItemMeta = true }, base+"/a")
		r.run(t)
		if len(r.items) != 1 || !strings.HasPrefix(r.items[0], `{"a":"<&>","item_id":"`) || !strings.HasSuffix(r.items[0], `","revision":"rev1","z":1}`) {
			t.Fatalf("items %v", r.items)
		}
		ids = append(ids, r.items[0])
	}
	if ids[0] != ids[1] {
		t.Errorf("the same page gave two ids: %v", ids)
	}
}
