package luabind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

func revisionNo(n int) *scheduler.Revision {
	r := &scheduler.Revision{Spider: "s", Main: "s.lua", Files: map[string][]byte{
		"s.lua": fmt.Appendf(nil, "return { name = 's', parse = function() emit { n = %d } end, only_%d = function() end }", n, n),
	}}
	r.ID = scheduler.RevisionID(r.Main, r.Files)
	return r
}

// olderRig is a spider at revision 0 whose older revisions are found and counted.
type olderRig struct {
	t      *testing.T
	spider *Spider
	all    map[string]*scheduler.Revision
	found  map[string]int
}

func newOlderRig(t *testing.T) *olderRig {
	t.Helper()
	s, err := LoadRevision(revisionNo(0), Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &olderRig{t: t, spider: s, all: map[string]*scheduler.Revision{}, found: map[string]int{}}
	for n := range 20 {
		rev := revisionNo(n)
		r.all[scheduler.ShortRevision(rev.ID)] = rev
	}
	return r
}

func (r *olderRig) find(_ context.Context, revision string) (*scheduler.Revision, error) {
	r.found[revision]++
	if rev := r.all[revision]; rev != nil {
		return rev, nil
	}
	return nil, errors.New("none")
}

// parsed is the number in the item of a request that a revision made.
func (r *olderRig) parsed(made int) string {
	r.t.Helper()
	id := "unknown"
	if made >= 0 {
		id = scheduler.ShortRevision(revisionNo(made).ID)
	}
	out, err := r.spider.Parse(r.t.Context(), &engine.Response{URL: "http://x.test/", Request: &scheduler.Request{URL: "http://x.test/", Revision: id}})
	if err != nil {
		r.t.Fatal(err)
	}
	return string(out.Items[0])
}

func (r *olderRig) want(made, by int) {
	r.t.Helper()
	if got, want := r.parsed(made), fmt.Sprintf(`{"n":%d}`, by); got != want {
		r.t.Errorf("a request of revision %d was parsed by %s, want %s", made, got, want)
	}
}

func (r *olderRig) take(n int, older Older) {
	r.t.Helper()
	if _, err := r.spider.ReloadRevision(revisionNo(n), older, nil); err != nil {
		r.t.Fatal(err)
	}
}

func TestOlderGenerations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newOlderRig(t)
		r.take(1, r.find)
		r.want(0, 0)
		r.want(1, 1)
		r.want(7, 7)
		r.want(-1, 1)
		r.want(-1, 1)
		if n := len(r.found); n != 2 || r.found["unknown"] != 1 {
			t.Errorf("looked for %v", r.found)
		}
		if has, by := r.spider.HasCallback(t.Context(), "only_7", scheduler.ShortRevision(revisionNo(7).ID)); !has || by != scheduler.ShortRevision(revisionNo(7).ID) {
			t.Errorf("the callback of an older revision: %v by %s", has, by)
		}
		if has, _ := r.spider.HasCallback(t.Context(), "only_7", ""); has {
			t.Error("the current revision has a callback of an older one")
		}
		for n := range 20 {
			if n != 1 {
				r.want(n, n)
			}
		}
		if n := len(r.spider.older.known); n != mostOlder {
			t.Errorf("%d older generations are kept, want %d", n, mostOlder)
		}
		<-time.After(olderFor / 2)
		r.want(19, 19)
		<-time.After(olderFor * 3 / 4)
		synctest.Wait()
		if n := len(r.spider.older.known); n != 1 {
			t.Errorf("%d older generations are kept, one of which was needed of late", n)
		}
		r.take(2, nil) // adopt
		r.want(19, 2)
		r.want(1, 2)
		if n := len(r.spider.older.known); n != 0 || r.spider.older.timer != nil {
			t.Errorf("%d older generations are kept after a push that takes all over", n)
		}
		r.spider.Close()
	})
}

// TestRefusedRevisionKeepsThePolicy: a revision that is refused changes nothing.
func TestRefusedRevisionKeepsThePolicy(t *testing.T) {
	t.Parallel()
	r := newOlderRig(t)
	defer r.spider.Close()
	r.take(1, r.find)
	refuse := func(map[string]any) error { return errors.New("no") }
	if _, err := r.spider.ReloadRevision(revisionNo(2), nil, refuse); err == nil {
		t.Fatal("it was not refused")
	}
	r.want(0, 0)
	r.want(1, 1)
	if id := r.spider.Content().ID; id != revisionNo(1).ID {
		t.Errorf("it runs %s", id)
	}
}

// TestOlderRevisionOfOtherSinks: the sinks that are open are not those of its steps, so the newest takes its requests over.
func TestOlderRevisionOfOtherSinks(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	r := newOlderRig(t)
	r.spider.Close()
	var err error
	if r.spider, err = LoadRevision(revisionNo(0), Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
		t.Fatal(err)
	}
	defer r.spider.Close()
	other := revisionNo(7)
	other.Files["s.lua"] = bytes.Replace(other.Files["s.lua"], []byte("parse ="), []byte(`pipelines = { { "feed", order = 1, uri = "x.jsonl" } }, parse =`), 1)
	r.all[scheduler.ShortRevision(other.ID)] = other
	r.take(1, r.find)
	r.want(7, 1)
	r.want(7, 1)
	r.want(8, 8)
	if n := strings.Count(log.String(), "names other sinks"); n != 1 {
		t.Errorf("said %d times:\n%s", n, &log)
	}
}

// TestOlderRevisionOutlivesWhoAskedFirst: who still waits for it gets it when the first has given up.
func TestOlderRevisionOutlivesWhoAskedFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newOlderRig(t)
		defer r.spider.Close()
		release := make(chan struct{})
		r.take(1, func(ctx context.Context, revision string) (*scheduler.Revision, error) {
			select {
			case <-release:
				return r.find(ctx, revision)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		ctx, giveUp := context.WithCancel(t.Context())
		made := scheduler.ShortRevision(revisionNo(7).ID)
		first, second := make(chan *generation), make(chan *generation)
		go func() { first <- r.spider.older.get(ctx, made) }()
		synctest.Wait()
		go func() { second <- r.spider.older.get(t.Context(), made) }()
		synctest.Wait()
		giveUp()
		if g := <-first; g != nil {
			t.Error("who gave up got it")
		}
		close(release)
		if g := <-second; g == nil || g.revision != made {
			t.Errorf("who waited got %+v", g)
		}
	})
}

// TestOlderRevisionThatDoesNotCome is given up after a while, and at once when nobody is to run it any more.
func TestOlderRevisionThatDoesNotCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newOlderRig(t)
		defer r.spider.Close()
		never := func(ctx context.Context, _ string) (*scheduler.Revision, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		r.take(1, never)
		start := time.Now()
		r.want(7, 1)
		if d := time.Since(start); d != olderLoad {
			t.Errorf("given up after %v", d)
		}
		got := make(chan *generation)
		go func() { got <- r.spider.older.get(t.Context(), "unknown") }()
		synctest.Wait()
		start = time.Now()
		r.take(2, nil)
		if g := <-got; g != nil || time.Since(start) != 0 {
			t.Errorf("%+v after %v", g, time.Since(start))
		}
	})
}
