package engine_test

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"luacrawl/engine"
)

// A call that says that something is down is made again on the same response, until it is there.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	var calls, fetched atomic.Int64
	base := serve(t, map[string]http.HandlerFunc{"/x": func(w http.ResponseWriter, _ *http.Request) { fetched.Add(1); _, _ = io.WriteString(w, "x") }})
	spider := &goSpider{start: []string{base + "/x"}, callbacks: map[string]func(*engine.Response) (*engine.Output, error){
		"parse": func(r *engine.Response) (*engine.Output, error) {
			if calls.Add(1) < 4 {
				return nil, &engine.UnavailableError{Reason: "mysql"}
			}
			return bodyItem(r)
		},
	}}
	r := newRig(t, spider, nil)
	r.run(t)
	if len(r.items) != 1 || calls.Load() != 4 || fetched.Load() != 1 {
		t.Errorf("%d items after %d calls and %d downloads", len(r.items), calls.Load(), fetched.Load())
	}
}
