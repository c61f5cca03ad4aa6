package redistest

import (
	"runtime"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestKillAndRestore(t *testing.T) {
	t.Parallel()
	s := Start(t, Options{AppendOnly: true})
	rdb := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1})
	defer rdb.Close()
	ctx := t.Context()
	set := func(v string) {
		t.Helper()
		if err := rdb.Set(ctx, "k", v, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	want := func(v string) {
		t.Helper()
		if got, err := rdb.Get(ctx, "k").Result(); got != v {
			t.Errorf("%q, %v; want %q", got, err, v)
		}
	}
	set("old")
	old := s.Snapshot()
	set("new")
	s.Kill()
	if err := rdb.Ping(ctx).Err(); err == nil {
		t.Error("a killed server answers")
	}
	s.Kill()
	s.Restart()
	want("new")
	s.Restore(old)
	want("old")
	set("newer")
	s.Restore(old) // a snapshot can be used again
	want("old")
}

// verdict records how a test would have ended.
type verdict struct {
	testing.TB
	word string
}

func (v *verdict) Helper()      {}
func (v *verdict) Skip(...any)  { v.word = "skip"; runtime.Goexit() }
func (v *verdict) Fatal(...any) { v.word = "fatal"; runtime.Goexit() }

func TestWithoutRedisServer(t *testing.T) { // not parallel: it changes the environment
	t.Setenv("PATH", "")
	for ci, want := range map[string]string{"": "skip", "true": "fatal"} {
		t.Setenv("CI", ci)
		v := &verdict{TB: t}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			Start(v, Options{})
		}()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatal("it hangs")
		}
		if v.word != want {
			t.Errorf("CI=%q: %q, want %q", ci, v.word, want)
		}
	}
}
