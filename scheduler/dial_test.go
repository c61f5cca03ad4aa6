package scheduler

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

func dial(t *testing.T, url string, wait time.Duration) (*Client, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	c, err := Dial(ctx, DialOptions{URL: url, Wait: wait})
	if c != nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, err
}

func TestDialHidesPasswords(t *testing.T) {
	t.Parallel()
	const secret = "S3cret"
	for _, url := range []string{
		"redis://:S3cret@127.0.0.1:notaport/0",
		"redis://u:S3cret@127.0.0.1:1/zero",
		"redis://u:S3cret@127.0.0.1:1/0?nope=S3cret",
		"redis://:ab/S3cret@127.0.0.1:1/0",
		"redis://:12/S3cret@127.0.0.1/0",
		"redis://:ab#S3cret@127.0.0.1:1/0",
		"redis://:1?S3cret@127.0.0.1:1/0",
		"redis://:%zzS3cret@127.0.0.1:1/0",
		"redis://:S3cret@127.0.0.1:1/0?read_timeout=long",
		"http://:S3cret@127.0.0.1:1/0",
		"S3cret@127.0.0.1:1",
		"redis://:S3cret@127.0.0.1:1/0", // nobody listens
		"unix://:S3cret@/no/such/socket",
	} {
		_, err := dial(t, url, time.Millisecond)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestDialSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"":                                     "begins with redis://",
		"localhost:6379":                       "begins with redis://",
		"redis://127.0.0.1:1/x":                "invalid database number",
		"redis://127.0.0.1:1/0?nope=1":         "unexpected option: nope",
		"redis://127.0.0.1:1/0?read_timeout=x": "read_timeout",
		"redis://127.0.0.1:1/0":                "redis did not answer within 1s: redis://127.0.0.1:1/0: dial tcp 127.0.0.1:1: connect: connection refused; is it running, and are host and port right?",
	} {
		if _, err := dial(t, url, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", url, err, want)
		}
	}
}

func TestDialPassword(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{Args: []string{"--requirepass", "right/pass"}})
	for user, ok := range map[string]bool{"": false, ":wrong@": false, "nobody:right%2Fpass@": false, ":right%2Fpass@": true} {
		began := time.Now()
		c, err := dial(t, "redis://"+user+s.Addr+"/3", 20*time.Second)
		if ok != (err == nil) {
			t.Errorf("%s: %v", user, err)
		}
		if !ok && (!strings.Contains(err.Error(), "refuses the user or password") || time.Since(began) > 5*time.Second) {
			t.Errorf("%s: %v after %s", user, err, time.Since(began))
		}
		if ok && c.Name() != "redis://"+s.Addr+"/3" {
			t.Errorf("shown as %s", c.Name())
		}
	}
}

func TestDialWaits(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	s.Kill()
	var late sync.WaitGroup
	late.Go(func() { sleep(t.Context(), 300*time.Millisecond); s.Restart() })
	if _, err := dial(t, s.URL(), 20*time.Second); err != nil {
		t.Error(err)
	}
	late.Wait()
}

func TestDialGivesUpOnSilence(t *testing.T) {
	t.Parallel()
	began := time.Now()
	if _, err := dial(t, "redis://"+silentServer(t)+"/0", time.Second); err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Error(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("after %s", took)
	}
}

func TestDialUnixSocket(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "r")
	redistest.Start(t, redistest.Options{Unix: socket})
	c, err := dial(t, "unix://"+socket+"?db=2&read_timeout=3s&dial_timeout=2s", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name() != "unix://"+socket+"?db=2" || c.rdb.Options().ReadTimeout != 3*time.Second || c.rdb.Options().MaxRetries > 0 {
		t.Errorf("%s, %+v", c.Name(), c.rdb.Options())
	}
}

func TestDialRefusesEviction(t *testing.T) {
	t.Parallel()
	for args, ok := range map[string]bool{
		"--maxmemory-policy allkeys-lru":                              false,
		"--maxmemory-policy allkeys-random":                           false,
		"--maxmemory-policy noeviction":                               true,
		"--maxmemory-policy allkeys-lru --rename-command CONFIG hide": false, // INFO shows it
	} {
		s := redistest.Start(t, redistest.Options{Args: strings.Fields(args)})
		_, err := dial(t, s.URL(), time.Second)
		if ok != (err == nil) || (!ok && (!errors.Is(err, ErrEvicts) || !strings.Contains(err.Error(), strings.Fields(args)[1]) || !strings.Contains(err.Error(), "noeviction"))) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestScriptCacheIsFilledAgain(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		k.rdb.ScriptFlush(k.ctx)
		l := k.lease(1)
		k.rdb.ScriptFlush(k.ctx)
		x := k.exchange(k.Frontier, []*Outcome{{Lease: l[0], Children: []Child{get("2")}}}, 1, 1)
		if !x.Stored[0] || paths(x.Leases) != "2" || !k.Down().IsZero() {
			t.Errorf("%+v, down since %s", x, k.Down())
		}
		k.check()
	})
}

func TestRedisDownIsSaidOnce(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{AppendOnly: true})
	log := new(syncBuffer)
	ctx := t.Context()
	c, err := Dial(ctx, DialOptions{URL: s.URL(), Wait: time.Second, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	f, err := Open(ctx, c, Config{Spider: "a", Persist: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Kill()
	var asking sync.WaitGroup
	for range 3 {
		asking.Go(func() {
			if _, err := f.Idle(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	for f.Down().IsZero() {
		sleep(ctx, time.Millisecond)
	}
	sleep(ctx, 300*time.Millisecond)
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := f.Exchange(short, nil, 1, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an Exchange whose ctx ended: %v", err)
	}
	s.Restart()
	asking.Wait()
	if !f.Down().IsZero() || f.client.waiting != 0 {
		t.Error("still down")
	}
	text := log.String()
	if strings.Count(text, "redis does not answer") != 1 || strings.Count(text, "redis is back") != 1 {
		t.Error(text)
	}
}

// syncBuffer is a log that several goroutines write.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	k := newKit(t, redistest.Start(t, redistest.Options{}).URL(), Config{})
	log := new(syncBuffer)
	k.client.logger = slog.New(slog.NewTextHandler(log, nil))
	later := get("later")
	later.Delay = time.Millisecond
	k.add(get("1"), get("2"), get("3"), later)
	l := k.lease(2)
	k.rdb.ConfigSet(k.ctx, "maxmemory", "1")
	defer k.rdb.ConfigSet(context.Background(), "maxmemory", "0")

	if lost, err := k.Extend(k.ctx, ids(l)); err != nil || len(lost) != 0 {
		t.Errorf("extend: %v, %v", lost, err)
	}
	if err := k.Release(k.ctx, ids(l[1:])); err != nil {
		t.Errorf("release: %v", err)
	}
	if got := paths(k.await(k.Frontier, 1)); got == "" {
		t.Error("lease gives nothing")
	}
	before := k.check()
	short, cancel := context.WithTimeout(k.ctx, 300*time.Millisecond)
	defer cancel()
	if _, err := k.Exchange(short, []*Outcome{full(l[0])}, 1, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("commit: %v", err)
	}
	if k.Down().IsZero() {
		t.Error("a full Redis is not down")
	}
	if !strings.Contains(log.String(), "redis is full: waiting until it has memory again") {
		t.Errorf("log:\n%s", log)
	}
	if s := k.check(); s.Items != 0 || s.InFlight != before.InFlight || s.Seen != before.Seen {
		t.Errorf("half of it was stored, or leases were taken without a commit: %+v", s)
	}
	var back sync.WaitGroup
	back.Go(func() { sleep(k.ctx, 100*time.Millisecond); k.rdb.ConfigSet(k.ctx, "maxmemory", "0") })
	k.commit(full(l[0]))
	back.Wait()
	k.check()
}

func TestPortIsNotRedis(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			conn.Close()
		}
	}()
	_, err = dial(t, "redis://"+l.Addr().String(), time.Second)
	if err == nil || !strings.HasSuffix(err.Error(), "is there another program than redis at this address?") {
		t.Error(err)
	}
}
