// Package redistest starts a real redis-server for a test, one that can be killed and set back to an earlier state.
package redistest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Options say how the server runs. The zero value keeps everything in memory.
type Options struct {
	AppendOnly bool     // appendonly yes, appendfsync everysec
	Args       []string // further arguments of redis-server, such as "--requirepass", "x"
	Unix       string   // path of a unix socket to listen on too
}

// Server is a redis-server of its own on a free port of 127.0.0.1, with its data in a folder of the test. It ends with the test.
type Server struct {
	Addr string // host:port
	opts Options
	dir  string
	port int
	t    testing.TB

	mu   sync.Mutex
	cmd  *exec.Cmd // guarded by mu
	gone chan struct{}
	log  *bytes.Buffer
}

// Start starts a server. Without redis-server on this machine the test is skipped; with CI=true it fails instead.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-server is not installed: CI must test against it")
		}
		t.Skip("redis-server is not installed")
	}
	s := &Server{t: t, opts: o, dir: t.TempDir()}
	t.Cleanup(s.Kill)
	var err error
	for range 5 { // another process may take the port between its choice and its use
		s.port = freePort(t)
		s.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
		if err = s.start(); err == nil {
			return s
		}
		s.Kill()
	}
	t.Fatalf("starting redis-server: %v", err)
	return nil
}

// URL is the server's redis:// URL.
func (s *Server) URL() string { return "redis://" + s.Addr + "/0" }

// Kill ends the server with SIGKILL. It is safe to call on a server that does not run.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	s.cmd.Process.Kill()
	<-s.gone
	s.cmd = nil
}

// Restart starts the server again on its port, with the data that it has on disk.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	if err := s.start(); err != nil {
		s.t.Fatalf("restarting redis-server: %v", err)
	}
}

// Snapshot is a copy of a server's data.
type Snapshot struct{ dir string }

// Snapshot copies the data as it lies on disk now: with AppendOnly, all but the last moments.
func (s *Server) Snapshot() Snapshot {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
		s.t.Fatalf("copying redis' data: %v", err)
	}
	return Snapshot{dir}
}

// Restore kills the server, puts a copy of its data in place and starts it again.
func (s *Server) Restore(old Snapshot) {
	s.t.Helper()
	s.Kill()
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Fatal(err)
	}
	if err := os.CopyFS(s.dir, os.DirFS(old.dir)); err != nil {
		s.t.Fatalf("restoring redis' data: %v", err)
	}
	s.Restart()
}

func (s *Server) start() error {
	args := []string{"--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--daemonize", "no"}
	if s.opts.AppendOnly {
		args = append(args, "--appendonly", "yes", "--appendfsync", "everysec")
	}
	if s.opts.Unix != "" {
		args = append(args, "--unixsocket", s.opts.Unix)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = new(bytes.Buffer)
	s.cmd = exec.Command("redis-server", append(args, s.opts.Args...)...)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	gone := make(chan struct{})
	s.gone = gone
	go func(cmd *exec.Cmd) {
		cmd.Wait()
		close(gone)
	}(s.cmd)
	return s.await(gone)
}

// await asks the server until it answers, be it that it wants a password.
func (s *Server) await(gone <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if answers(s.Addr) {
			return nil
		}
		select {
		case <-gone:
			return fmt.Errorf("it ended: %s", s.log)
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

func answers(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	buf := make([]byte, 64)
	n, _ := conn.Read(buf)
	return bytes.HasPrefix(buf[:n], []byte("+PONG")) || bytes.HasPrefix(buf[:n], []byte("-NOAUTH"))
}

// freePort picks a port below those that the system gives out by itself: while a killed server is down, no other listener of a test may take
// its port, or the server would come back as another's.
func freePort(t testing.TB) int {
	const first, last = 15000, 30000
	for range 100 {
		port := first + rand.IntN(last-first)
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no free port for redis-server")
	return 0
}
