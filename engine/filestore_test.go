package engine_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/engine/bucket/buckettest"
	"luacrawl/engine/files"
)

// A file that a bucket does not take, and will not take, costs its item that file, after the tries that a page has. The store is not down for it.
func TestFileThatABucketDoesNotTake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(r *http.Request) int // to the upload of a file whose address in the site is /x
		times  int                       // that the file is fetched
	}{
		"refused": {func(*http.Request) int { return http.StatusBadRequest }, 2},
		"never taken whole": {func(r *http.Request) int {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return http.StatusServiceUnavailable
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := buckettest.New(t)
			b.Refuse = func(r *http.Request) int {
				if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, ".jpg") {
					return c.answer(r)
				}
				return 0
			}
			store, err := files.NewStore(files.Options{Store: "s3://pages", MaxSize: 1000, Expires: time.Hour, Timeout: time.Second}, files.Outside{Spool: t.TempDir(), Env: b.Env})
			if err != nil {
				t.Fatal(err)
			}
			var asked atomic.Int32
			base := serve(t, map[string]http.HandlerFunc{"/x.jpg": func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); io.WriteString(w, "x") }})
			spider := &fileSpider{}
			spider.callbacks = map[string]func(*engine.Response) (*engine.Output, error){"parse": func(*engine.Response) (*engine.Output, error) {
				return &engine.Output{Revision: "rev1", Waiting: []engine.Waiting{awaiting(0, `{}`, base+"/x.jpg", base+"/y")}}, nil
			}}
			r := newRigWith(t, spider, func(s *engine.Settings) { s.RetryTimes = c.times - 1 }, func(o *engine.Options) { o.Files = map[float64]*files.Store{100: store} }, base+"/page")
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
			defer cancel()
			sum, err := r.crawl.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.items) != 1 || !strings.Contains(r.items[0], `"files":"y downloaded"`) {
				t.Errorf("items %q", r.items)
			}
			if got := int(asked.Load()); got != c.times || sum.Stats["file_error_count/not_stored"] != 1 {
				t.Errorf("the file was fetched %d times, want %d; stats %v", got, c.times, sum.Stats)
			}
			r.status(t)
		})
	}
}
