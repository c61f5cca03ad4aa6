// Package embedded runs miniredis inside the process, with a snapshot on disk, so that a crawl needs no service.
//
// A folder holds three files: lock (held by the process that serves it), address (where, and a token that only this
// process knows) and snapshot (all keys, see snapshot.go). What is written between two snapshots is lost when the
// process is killed.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Options say where the embedded Redis lives.
type Options struct {
	Dir    string // holds snapshot, address and lock, made if missing; "" keeps everything in memory
	Port   int    // first port to try on 127.0.0.1, after the folder's last one; 0 takes any free one
	Logger *slog.Logger
}

// Server is a miniredis of this process, or one of another process in the same folder that this one has joined.
type Server struct {
	addr   string
	joined bool
	dir    string // where snapshots go; "" for none
	logger *slog.Logger
	redis  *miniredis.Miniredis // nil when joined
	lock   *os.File             // nil when there is nothing to keep others out of
	token  string
	writes writeCounter
	every  time.Duration // between snapshots, at least

	mu     sync.Mutex // guards what follows and serialises snapshots
	closed bool
	expiry expiry
	last   checksum        // of the snapshot on disk
	size   int             // of the last snapshot
	warned map[string]bool // keys that were said not to be kept
}

// patience is how long Start waits for a process that holds the folder but does not answer: one that is reading its
// snapshot, or writing its last.
const patience = 30 * time.Second

// Start serves the folder's Redis, or joins the process that already does. Opening the folder of a crawl that is not
// running and closing it again is how a command changes its snapshot. Errors name the folder or file: it cannot be
// written, the snapshot is damaged (ErrDamaged), another process holds the folder without answering.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Dir == "" {
		return serve(o, nil)
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, unusable(o.Dir, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("it does not answer; end that process, or choose another folder with --data"))
	defer cancel()
	for {
		s, err := startOrJoin(ctx, o)
		if s != nil || err != nil {
			return s, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("data folder %s is held by another process: %w", o.Dir, context.Cause(ctx))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// startOrJoin returns nothing when the folder is held by a process that does not answer yet.
func startOrJoin(ctx context.Context, o Options) (*Server, error) {
	lock, err := acquire(filepath.Join(o.Dir, "lock"))
	if err != nil {
		return nil, unusable(o.Dir, err)
	}
	if lock == nil {
		return join(ctx, o.Dir), nil
	}
	s, err := serve(o, lock)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return s, nil
}

func unusable(dir string, err error) error {
	return fmt.Errorf("data folder %s cannot be used: %w; choose another with --data", dir, err)
}

// serve owns lock only if it succeeds.
func serve(o Options, lock *os.File) (*Server, error) {
	s := &Server{dir: o.Dir, logger: o.Logger, lock: lock, token: newToken(), redis: miniredis.NewMiniRedis(), every: 5 * time.Second}
	s.expiry.last = time.Now()
	first := o.Port
	if s.dir != "" {
		if port := lastPort(s.dir); port > 0 && o.Port > 0 {
			first = port
		}
		// From here on nobody may join by the address of the process before.
		if err := removeAddress(s.dir); err != nil {
			return nil, unusable(s.dir, err)
		}
		var err error
		if s.last, err = load(s.snapshotFile(), s.redis); err != nil {
			return nil, err
		}
	}
	if err := s.listen(first, o.Port); err != nil {
		return nil, err
	}
	if s.dir != "" {
		if err := writeAddress(s.dir, s.addr, s.token); err != nil {
			s.redis.Close()
			return nil, unusable(s.dir, err)
		}
	}
	return s, nil
}

// listen takes the first free of: the preferred port, the hundred from base on, any.
func (s *Server) listen(preferred, base int) error {
	ports := []int{preferred}
	for p := base; base > 0 && p < base+100 && p < 1<<16; p++ {
		ports = append(ports, p)
	}
	var err error
	for _, port := range append(ports, 0) {
		if err = s.redis.StartAddr(net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			s.addr = s.redis.Addr()
			s.writes.watch(s.redis.Server())
			return answerToken(s.redis.Server(), s.token)
		}
	}
	return fmt.Errorf("no free port on 127.0.0.1 for the embedded redis: %w", err)
}

// Addr is host:port.
func (s *Server) Addr() string { return s.addr }

// URL is the redis:// URL of the server.
func (s *Server) URL() string { return "redis://" + s.addr }

// Joined reports that another process serves it.
func (s *Server) Joined() bool { return s.joined }

// Find is for commands that only look: it returns the live server of the folder, or serves a copy of its snapshot in
// this process, of which nothing is written back. The error wraps fs.ErrNotExist if the folder holds neither; it is
// ErrDamaged for a snapshot that cannot be read.
func Find(ctx context.Context, dir string) (*Server, error) {
	if s := join(ctx, dir); s != nil {
		return s, nil
	}
	s := &Server{logger: slog.New(slog.DiscardHandler), token: newToken(), redis: miniredis.NewMiniRedis()}
	file := filepath.Join(dir, snapshotName)
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("no crawl in data folder %s (start one, or name another with --data or --redis): %w", dir, err)
	}
	if _, err := load(file, s.redis); err != nil {
		return nil, err
	}
	if err := s.listen(0, 0); err != nil {
		return nil, err
	}
	return s, nil
}

// Close disconnects everybody, takes the last snapshot and gives the folder free. A second call does nothing. A
// server that was joined goes on.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.joined {
		return nil
	}
	s.closed = true
	s.redis.Close() // first, so that no write is answered and then lost
	if s.dir == "" {
		return nil
	}
	err := s.save()
	s.redis.Close()
	return errors.Join(err, s.lock.Close())
}
