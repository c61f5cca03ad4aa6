package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/engine/files"
	"luacrawl/scheduler"
)

// fileSpider is a spider whose items wait for files.
type fileSpider struct {
	goSpider
	finish func(w *engine.Waiting) (item string) // nil for a list of the files
}

func (s *fileSpider) Finish(_ context.Context, _ *scheduler.Request, w *engine.Waiting) (*engine.Output, error) {
	if s.finish != nil {
		return &engine.Output{Items: []engine.Item{engine.Item(s.finish(w))}, About: []engine.ItemInfo{w.ItemInfo}, Revision: "rev1"}, nil
	}
	var names []string
	for _, f := range w.Files {
		names = append(names, f.URL[strings.LastIndex(f.URL, "/")+1:]+" "+f.Status)
	}
	b, err := json.Marshal(map[string]any{"n": w.Number, "files": strings.Join(names, ", ")})
	return &engine.Output{Items: []engine.Item{b}, About: []engine.ItemInfo{w.ItemInfo}, Revision: "rev1"}, err
}

func awaiting(number int, item string, urls ...string) engine.Waiting {
	return engine.Waiting{ItemInfo: engine.ItemInfo{Number: number}, Item: engine.Item(item), Order: 100, URLs: urls}
}

func newFileRig(t *testing.T, spider *fileSpider, change func(*engine.Settings), seeds ...string) *rig {
	t.Helper()
	store, err := files.NewStore(files.Options{Store: filepath.Join(t.TempDir(), "store"), MaxSize: 1000, Expires: time.Hour, Timeout: time.Minute}, files.Outside{})
	if err != nil {
		t.Fatal(err)
	}
	return newRigWith(t, spider, change, func(o *engine.Options) { o.Files = map[float64]*files.Store{100: store} }, seeds...)
}

func fileServer(t *testing.T) string {
	t.Helper()
	write := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
	}
	return serve(t, map[string]http.HandlerFunc{"/page": write("page"), "/x": write("x"), "/y": write("y"), "/gone": status(404)})
}

// An item that waits has the ID that it would have without, from a page and from a seed, and the page of a file's URL is still crawled.
func TestWaitingItems(t *testing.T) {
	t.Parallel()
	base := fileServer(t)
	spider := &fileSpider{}
	spider.callbacks = map[string]func(*engine.Response) (*engine.Output, error){
		"parse": func(r *engine.Response) (*engine.Output, error) {
			out := follow(&scheduler.Request{URL: base + "/x", Callback: "page"})
			out.Waiting = []engine.Waiting{awaiting(0, `{}`, base+"/x", base+"/gone", base+"/y"), awaiting(1, `{}`, base+"/y")}
			return out, nil
		},
		"page": func(*engine.Response) (*engine.Output, error) { return item(`{"page":"x"}`), nil },
	}
	spider.seed = func(seed string) (*engine.Output, error) {
		out := follow(&scheduler.Request{URL: seed})
		out.Waiting = []engine.Waiting{awaiting(0, `{}`, base+"/y")}
		return out, nil
	}
	r := newFileRig(t, spider, func(s *engine.Settings) { s.ItemMeta, s.DepthLimit = true, 1 }, base+"/page")
	sum := r.run(t)
	id := func(request *scheduler.Request, seed string, n int) string {
		return engine.ItemID("t", request, []byte(seed), engine.ItemInfo{Number: n})
	}
	page := &scheduler.Request{URL: base + "/page"}
	for _, want := range []string{id(page, "", 0), id(page, "", 1), id(nil, base+"/page", 0), id(&scheduler.Request{URL: base + "/x"}, "", 0)} {
		if n := strings.Count(strings.Join(r.items, "\n"), want); n != 1 {
			t.Errorf("the item %s is there %d times: %q", want, n, r.items)
		}
	}
	if !strings.Contains(r.items[0], `"x downloaded, y `) || len(r.items) != 4 {
		t.Errorf("items %q", r.items)
	}
	if sum.Stats["file_status_count/downloaded"] != 2 || sum.Stats["file_error_count/http_status"] != 1 || sum.Stats["file_count"] != 4 {
		t.Errorf("stats %v", sum.Stats)
	}
	r.status(t)
}

func TestWaitingItemsThatCannot(t *testing.T) {
	t.Parallel()
	base := fileServer(t)
	for name, c := range map[string]struct {
		waiting []engine.Waiting
		want    string
	}{
		"too large":        {[]engine.Waiting{awaiting(0, `{"x":"`+strings.Repeat("<", 60_000)+`"}`, base+"/x"), awaiting(1, `{}`, base+"/x")}, "dead item process_item_error; 1 items"},
		"too many":         {[]engine.Waiting{awaiting(0, `{}`, slices.Repeat([]string{base + "/x"}, 300)...)}, "dead item process_item_error; 0 items"},
		"many":             {[]engine.Waiting{awaiting(0, `{"x":"`+strings.Repeat("<", 20_000)+`"}`, slices.Repeat([]string{base + "/x"}, 100)...)}, "; 1 items"},
		"no such pipeline": {[]engine.Waiting{{Item: engine.Item(`{}`), Order: 7, URLs: []string{base + "/x"}}}, "dead request callback_error; 0 items"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spider := &fileSpider{}
			spider.callbacks = map[string]func(*engine.Response) (*engine.Output, error){"parse": func(*engine.Response) (*engine.Output, error) {
				return &engine.Output{Waiting: c.waiting, Revision: "rev1"}, nil
			}}
			r := newFileRig(t, spider, nil, base+"/page")
			r.run(t)
			got := ""
			letters, err := r.client.DeadLetters(t.Context(), "t", scheduler.Keys{}, 0, -1)
			if err != nil {
				t.Fatal(err)
			}
			for _, raw := range letters {
				var letter struct{ Kind, Reason string }
				_ = json.Unmarshal([]byte(raw), &letter)
				got += "dead " + letter.Kind + " " + letter.Reason
			}
			if got += fmt.Sprintf("; %d items", len(r.items)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			r.status(t)
		})
	}
}

// Whoever can write into Redis can make requests for files of their own.
func TestForeignFileRequests(t *testing.T) {
	t.Parallel()
	base := fileServer(t)
	for _, meta := range []string{``, `{}`, `{"@files":1}`, `{"@files":{"order":100,"urls":[],"item":{}}}`, `{"@files":{"order":100,"urls":["x"],"item":[]}}`, `{"@files":{"order":5,"urls":["http://x.test/"],"item":{}}}`} {
		spider := &fileSpider{}
		spider.callbacks = map[string]func(*engine.Response) (*engine.Output, error){"parse": func(*engine.Response) (*engine.Output, error) {
			return follow(&scheduler.Request{URL: base + "/x", Callback: scheduler.FilesCallback, Meta: json.RawMessage(meta)}), nil
		}}
		r := newFileRig(t, spider, nil, base+"/page")
		r.run(t)
		if st := r.status(t); st.Dead != 1 || len(r.items) != 0 {
			t.Errorf("%s: %d dead, items %q", meta, st.Dead, r.items)
		}
	}
}

// A file is a request like any other: robots.txt and Retry-After hold for it, too.
func TestFilesAreFetchedPolitely(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]int{}
	var held, after time.Time
	site := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path]++
		switch {
		case r.URL.Path == "/robots.txt":
			io.WriteString(w, "User-agent: *\nDisallow: /private/\n")
		case r.URL.Path == "/busy" && asked["/busy"] == 1:
			held = time.Now()
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
		case r.URL.Path == "/busy":
			after = time.Now()
			io.WriteString(w, "busy")
		default:
			io.WriteString(w, r.URL.Path)
		}
	}
	cdn := serveAll(t, site)
	base := fileServer(t)
	spider := &fileSpider{}
	spider.callbacks = map[string]func(*engine.Response) (*engine.Output, error){
		"parse": func(*engine.Response) (*engine.Output, error) {
			return &engine.Output{Revision: "rev1", Waiting: []engine.Waiting{awaiting(0, `{}`, cdn+"/private/a", cdn+"/busy", cdn+"/c")}}, nil
		},
	}
	r := newFileRig(t, spider, func(s *engine.Settings) { s.RobotstxtObey = true }, base+"/page")
	sum := r.run(t)
	mu.Lock()
	defer mu.Unlock()
	if asked["/robots.txt"] != 1 || asked["/private/a"] != 0 || asked["/busy"] != 2 || asked["/c"] != 1 {
		t.Errorf("asked for %v", asked)
	}
	if gap := after.Sub(held); gap < 2900*time.Millisecond {
		t.Errorf("asked again after %s, in spite of Retry-After", gap)
	}
	if len(r.items) != 1 || !strings.Contains(r.items[0], "busy downloaded, c downloaded") || sum.Stats["robotstxt/forbidden"] != 1 {
		t.Errorf("items %q, stats %v", r.items, sum.Stats)
	}
}
