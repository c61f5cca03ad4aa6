package embedded

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

func TestJoin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := startProcess(t, dir)
	second := start(t, Options{Dir: dir})
	if !second.Joined() || second.Addr() != first.addr {
		t.Fatalf("joined %v at %s, want the first at %s", second.Joined(), second.Addr(), first.addr)
	}
	must(t, dial(t, second.Addr()).Set(t.Context(), "k", "v", 0).Err())
	closeServer(t, second)
	found, err := Find(t.Context(), dir)
	must(t, err)
	if !found.Joined() || dial(t, found.Addr()).Get(t.Context(), "k").Val() != "v" {
		t.Error("Find does not see the live server, or it ended with the second process")
	}
}

func TestTakesOverWhenTheFirstCloses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startProcess(t, dir)
	must(t, dial(t, p.addr).Set(t.Context(), "k", "v", 0).Err())
	must(t, p.stdin.Close())
	must(t, p.Wait())
	s := start(t, Options{Dir: dir})
	if s.Joined() || dial(t, s.Addr()).Get(t.Context(), "k").Val() != "v" {
		t.Error("the folder of a process that ended was not taken over with its data")
	}
}

func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startProcess(t, dir)
	must(t, dial(t, p.addr).Set(t.Context(), "k", "v", 0).Err())
	await(t, func() bool {
		data, _ := os.ReadFile(filepath.Join(dir, snapshotName))
		return strings.Contains(string(data), "k")
	})
	p.kill()
	s := start(t, Options{Dir: dir})
	if s.Joined() {
		t.Fatal("joined a process that was killed")
	}
	if got := dial(t, s.Addr()).Get(t.Context(), "k").Val(); got != "v" {
		t.Errorf("k = %q after the kill, want what the snapshot had", got)
	}
}

// While one process kills another over and over, every start finds a whole snapshot.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	last := int64(0)
	for range 5 {
		p := startProcess(t, dir)
		c := dial(t, p.addr)
		n, err := c.LLen(t.Context(), "list").Result()
		must(t, err)
		if n < last {
			t.Fatalf("%d values, but the snapshot had %d", n, last)
		}
		await(t, func() bool {
			_ = c.RPush(t.Context(), "list", strings.Repeat("x", 1000)).Err()
			copied, err := Find(context.Background(), dir) // the live server
			if err != nil || !copied.Joined() {
				t.Fatal("the live server was not found:", err)
			}
			m := miniredis.NewMiniRedis()
			if _, err := load(filepath.Join(dir, snapshotName), m); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			values, _ := m.List("list")
			last = max(last, int64(len(values)))
			return last > n+3
		})
		p.kill()
	}
}

// After kill -9 the address file stays. Another program may have the port by now, even another luacrawl.
func TestStaleAddress(t *testing.T) {
	t.Parallel()
	stranger := start(t, Options{})
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer mute.Close()
	for name, addr := range map[string]string{"nobody": "127.0.0.1:1", "a stranger": stranger.Addr(), "a mute": mute.Addr().String()} {
		dir := t.TempDir()
		must(t, writeAddress(dir, addr, newToken()))
		if _, err := Find(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s at the old address: Find: %v, want fs.ErrNotExist", name, err)
		}
		s := start(t, Options{Dir: dir, Port: 20000})
		if s.Joined() || s.Addr() == addr && name != "nobody" {
			t.Errorf("joined %s at %s", name, s.Addr())
		}
	}
}

func TestHeldWithoutAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock, err := acquire(filepath.Join(dir, "lock"))
	must(t, err)
	defer lock.Close()
	must(t, writeAddress(dir, "127.0.0.1:1", newToken()))
	ctx, cancel := context.WithTimeout(t.Context(), 120*time.Millisecond)
	defer cancel()
	if _, err := Start(ctx, Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("Start in a folder held by another: %v", err)
	}
}

func TestFindServesACopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Find(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Find in no folder: %v, want fs.ErrNotExist", err)
	}
	s := start(t, Options{Dir: dir})
	fill(t, dial(t, s.Addr()))
	closeServer(t, s)
	before, err := os.ReadFile(filepath.Join(dir, snapshotName))
	must(t, err)

	found, err := Find(t.Context(), dir)
	must(t, err)
	c := dial(t, found.Addr())
	check(t, c)
	must(t, c.FlushAll(t.Context()).Err())
	closeServer(t, found)
	after, err := os.ReadFile(filepath.Join(dir, snapshotName))
	must(t, err)
	if string(before) != string(after) {
		t.Error("a command that only looks changed the snapshot")
	}
}

func TestUnusableFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o644))
	inside := filepath.Join(dir, "inside")
	must(t, os.MkdirAll(filepath.Join(inside, "lock"), 0o755))
	taken := filepath.Join(dir, "taken")
	must(t, os.MkdirAll(filepath.Join(taken, addressName+".tmp"), 0o755))
	for _, bad := range []string{file, filepath.Join(file, "below"), inside, taken} {
		_, err := Start(t.Context(), Options{Dir: bad})
		if err == nil || !strings.Contains(err.Error(), bad) || !strings.Contains(err.Error(), "--data") {
			t.Errorf("Start in %s: %v", bad, err)
		}
	}
}

// A snapshot that cannot be written is an error at Close, and the old one stays.
func TestSnapshotCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, Options{Dir: dir})
	must(t, s.snapshot())
	before, err := os.ReadFile(filepath.Join(dir, snapshotName))
	must(t, err)
	must(t, dial(t, s.Addr()).Set(t.Context(), "k", "v", 0).Err())
	must(t, os.Mkdir(filepath.Join(dir, snapshotName+".tmp"), 0o755))
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("Close: %v, want an error that names the file", err)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, snapshotName)); string(after) != string(before) {
		t.Error("the old snapshot was touched")
	}
}

func TestPort(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	dir := t.TempDir()
	s := start(t, Options{Dir: dir, Port: port})
	if s.Addr() == taken.Addr().String() {
		t.Fatal("took a port that is taken")
	}
	first := s.Addr()
	closeServer(t, s)
	_, text, _ := net.SplitHostPort(first)
	if got, _ := strconv.Atoi(text); got < port || got > port+100 {
		t.Errorf("with %d taken the server is at %s, want one of the next", port, first)
	}
	taken.Close()
	s = start(t, Options{Dir: dir, Port: port})
	if s.Addr() != first {
		t.Errorf("the folder's server moved from %s to %s", first, s.Addr())
	}
}

// What was answered before Close is in the snapshot, however busy the server is.
func TestCloseLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, Options{Dir: dir})
	c := dial(t, s.Addr())
	answered := make(chan int64)
	started := make(chan struct{})
	go func() {
		n := int64(0)
		for c.RPush(context.Background(), "list", "x").Err() == nil {
			if n++; n == 50 {
				close(started)
			}
		}
		answered <- n
	}()
	<-started
	closeServer(t, s)
	want := <-answered
	s = start(t, Options{Dir: dir})
	if got := dial(t, s.Addr()).LLen(t.Context(), "list").Val(); got < want || got > want+1 {
		t.Errorf("%d values are kept, %d were answered", got, want)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, Options{Dir: dir})
	s.every = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	must(t, dial(t, s.Addr()).Set(t.Context(), "needle", "v", 0).Err())
	await(t, func() bool {
		data, _ := os.ReadFile(filepath.Join(dir, snapshotName))
		return strings.Contains(string(data), "needle")
	})
	c := dial(t, s.Addr())
	must(t, c.Set(t.Context(), "leaving", "v", time.Millisecond).Err())
	await(t, func() bool { return c.Exists(t.Context(), "leaving").Val() == 0 })
	cancel()
	must(t, <-done)

	joined := start(t, Options{Dir: dir})
	go func() { done <- joined.Run(ctx) }()
	must(t, <-done)
}

// Pipelines of scripts, as the scheduler sends them.
func TestScriptsInPipelines(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	c := dial(t, s.Addr())
	ctx := t.Context()
	sha := c.ScriptLoad(ctx, `redis.call("ZADD", KEYS[1], ARGV[1], ARGV[2]); return {redis.call("TIME")[1], ARGV[2]}`).Val()
	cmds, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range 500 {
			p.EvalSha(ctx, sha, []string{"z"}, i, strings.Repeat("é", 100)+strconv.Itoa(i))
		}
		return nil
	})
	if err != nil || len(cmds) != 500 || c.ZCard(ctx, "z").Val() != 500 {
		t.Errorf("%d replies, %v, %d members", len(cmds), err, c.ZCard(ctx, "z").Val())
	}
	if err := c.EvalSha(ctx, strings.Repeat("0", 40), nil).Err(); !redis.HasErrorPrefix(err, "NOSCRIPT") {
		t.Errorf("an unknown script: %v, want NOSCRIPT", err)
	}
}
