package engine_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// loginFiles are the items of two pages, each with the same private file and one by way of a redirect. The pages' meta is meta, where WHO is
// who is logged in. A page before them logs the default jar in.
func loginFiles(t *testing.T, meta string) (items []string) {
	t.Helper()
	site := serveAll(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			http.SetCookie(w, &http.Cookie{Name: "who", Value: r.URL.RawQuery, Path: "/"})
		case "/moved":
			http.Redirect(w, r, "/behind", http.StatusFound)
		default:
			who, err := r.Cookie("who")
			if err != nil {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			io.WriteString(w, who.Value+strings.Repeat("!", len(r.URL.Path)))
		}
	})
	spider := &fileSpider{}
	spider.callbacks = map[string]func(*engine.Response) (*engine.Output, error){
		"parse": func(*engine.Response) (*engine.Output, error) {
			var pages []*scheduler.Request
			for _, who := range []string{"anna", "berta"} {
				pages = append(pages, &scheduler.Request{URL: site + "/page?" + who, Callback: "private", Meta: []byte(strings.ReplaceAll(meta, "WHO", who))})
			}
			return follow(pages...), nil
		},
		"private": func(*engine.Response) (*engine.Output, error) {
			return &engine.Output{Revision: "rev1", Waiting: []engine.Waiting{awaiting(0, `{}`, site+"/file", site+"/moved")}}, nil
		},
	}
	spider.finish = func(w *engine.Waiting) (item string) {
		for _, f := range w.Files {
			item += f.Checksum[:8] + " " + f.Status + " "
		}
		return item
	}
	r := newFileRig(t, spider, func(s *engine.Settings) { s.RetryTimes = 0 }, site+"/page?clara")
	r.run(t)
	r.status(t)
	return r.items
}

func sum8(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:4])
}

// A page's files are fetched with its jar, and what one login has got is not given to another.
func TestFilesOfALogin(t *testing.T) {
	t.Parallel()
	want := []string{}
	for _, who := range []string{"anna", "berta"} {
		want = append(want, fmt.Sprintf("%s downloaded %s downloaded ", sum8(who+"!!!!!"), sum8(who+"!!!!!!!")))
	}
	slices.Sort(want)
	if got := loginFiles(t, `{"cookiejar":"WHO"}`); !slices.Equal(got, want) {
		t.Errorf("items %q, want %q", got, want)
	}
	if got := loginFiles(t, `{"dont_merge_cookies":true}`); !slices.Equal(got, []string{"", ""}) {
		t.Errorf("kept out of the jar: items %q", got)
	}
}

// A page's files come by its proxy.
func TestFilesByAProxy(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	proxy := serveAll(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.String())
		io.WriteString(w, r.URL.Path)
	})
	spider := &fileSpider{}
	spider.callbacks = map[string]func(*engine.Response) (*engine.Output, error){"parse": func(*engine.Response) (*engine.Output, error) {
		return &engine.Output{Revision: "rev1", Waiting: []engine.Waiting{awaiting(0, `{}`, "http://a.test/x", "http://a.test/y")}}, nil
	}}
	spider.seed = func(seed string) (*engine.Output, error) {
		return follow(&scheduler.Request{URL: seed, Meta: fmt.Appendf(nil, `{"proxy":%q}`, proxy)}), nil
	}
	r := newFileRig(t, spider, func(s *engine.Settings) { s.RetryTimes = 0 }, "http://a.test/page")
	r.run(t)
	slices.Sort(asked)
	if want := []string{"http://a.test/page", "http://a.test/x", "http://a.test/y"}; !slices.Equal(asked, want) {
		t.Errorf("the proxy was asked for %q", asked)
	}
	if len(r.items) != 1 || !strings.Contains(r.items[0], `"x downloaded, y downloaded"`) {
		t.Errorf("items %q", r.items)
	}
}

// TestFilesWithTheJarKeptOut: the files of a page with dont_merge_cookies, or of a crawl without cookies, go without those of the jar and store none;
// what the jar's login has got is not theirs, nor the other way round.
func TestFilesWithTheJarKeptOut(t *testing.T) {
	t.Parallel()
	const clara, public = "clara", "public"
	for name, c := range map[string]struct {
		meta    string // of the second page
		without bool   // cookies_enabled = false
		want    [3]string
	}{
		"dont_merge_cookies": {`{"dont_merge_cookies":true}`, false, [3]string{clara + " downloaded", public + " downloaded", clara + " downloaded"}},
		"the jar":            {`{}`, false, [3]string{clara + " downloaded", clara + " uptodate", clara + " downloaded"}},
		"cookies_enabled":    {`{"dont_merge_cookies":true}`, true, [3]string{public + " downloaded", public + " uptodate", public + " downloaded"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := serveAll(t, func(w http.ResponseWriter, r *http.Request) {
				who, err := r.Cookie("who")
				switch {
				case r.URL.Path == "/1":
					http.SetCookie(w, &http.Cookie{Name: "who", Value: clara, Path: "/"})
				case !strings.HasPrefix(r.URL.Path, "/file"):
				case err != nil:
					http.SetCookie(w, &http.Cookie{Name: "who", Value: "nobody", Path: "/"})
					io.WriteString(w, public)
				default:
					io.WriteString(w, who.Value)
				}
			})
			spider := &fileSpider{finish: func(w *engine.Waiting) (item string) {
				for _, f := range w.Files {
					item = map[string]string{sum8(clara): clara, sum8(public): public}[f.Checksum[:8]] + " " + f.Status
				}
				return fmt.Sprint(w.Number, " ", item)
			}}
			spider.callbacks = map[string]func(*engine.Response) (*engine.Output, error){
				"parse": func(r *engine.Response) (*engine.Output, error) { // the file of a page is fetched before the next page: its priority is higher
					n, meta := int(r.URL[len(r.URL)-1]-'0'), `{}`
					out := &engine.Output{Revision: "rev1"}
					if n == 1 {
						meta = c.meta
					}
					if n < 3 {
						out = follow(&scheduler.Request{URL: fmt.Sprint(site, "/", n+1), Meta: []byte(meta)})
					}
					out.Waiting = []engine.Waiting{awaiting(n, `{}`, fmt.Sprint(site, "/file", max(n, 2)))} // the first two pages have the same
					return out, nil
				},
			}
			r := newFileRig(t, spider, func(s *engine.Settings) { s.ConcurrentRequests, s.CookiesEnabled = 1, !c.without }, site+"/1")
			r.run(t)
			if want := []string{"1 " + c.want[0], "2 " + c.want[1], "3 " + c.want[2]}; !slices.Equal(r.items, want) {
				t.Errorf("items %q, want %q", r.items, want)
			}
		})
	}
}
