// Package dbtest starts real database servers for a test, ones that can be killed and started again.
package dbtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a database server of its own on a free port of 127.0.0.1, with its data in a folder of the test. It ends with the test.
type Server struct {
	Addr string // host:port
	dir  string
	port int
	kind kind
	t    testing.TB

	mu   sync.Mutex
	cmd  *exec.Cmd // guarded by mu
	gone chan struct{}
}

// kind is what MariaDB and PostgreSQL differ in.
type kind struct {
	name    string
	dsn     func(s *Server, user, password, database string) string
	install func(s *Server) error     // makes the data
	command func(s *Server) *exec.Cmd // runs the server
	answers func(addr string) bool    // whether it takes connections
}

// readyWithin is how long a server may take to start, with the recovery of what a kill has left.
const readyWithin = 2 * time.Minute

// program is the path of a program, which Debian keeps out of PATH for some.
func program(name string, folders ...string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, pattern := range folders {
		found, _ := filepath.Glob(filepath.Join(pattern, name))
		if len(found) > 0 {
			return slices.Max(found)
		}
	}
	return ""
}

// need ends the test when a program is missing: skipped, but failed with CI=true.
func need(t testing.TB, server, path string) {
	t.Helper()
	needIn(t, server, path, os.Getenv("CI"))
}

func needIn(t testing.TB, server, path, ci string) {
	t.Helper()
	if path != "" {
		return
	}
	if ci == "true" {
		t.Fatal(server + " is not installed: CI must test against it")
	}
	t.Skip(server + " is not installed")
}

func start(t testing.TB, k kind) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "luacrawl-"+k.name) // t.TempDir is closed to the user that the server runs as
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, kind: k, dir: dir}
	t.Cleanup(func() {
		s.Kill()
		os.RemoveAll(dir)
	})
	if err := k.install(s); err != nil {
		t.Fatalf("making the data of %s: %v", k.name, err)
	}
	for range 5 { // another process may take the port between its choice and its use
		s.port = freePort(t)
		s.Addr = fmt.Sprintf("127.0.0.1:%d", s.port)
		if err = s.run(); err == nil {
			return s
		}
		s.Kill()
	}
	t.Fatalf("starting %s: %v", k.name, err)
	return nil
}

// DSN is the DSN of a user on one of the server's databases.
func (s *Server) DSN(user, password, database string) string {
	return s.kind.dsn(s, user, password, database)
}

// Kill ends the server with SIGKILL, and the processes that it has started: one that serves a connection of PostgreSQL answers for a
// moment after the server's end. It is safe to call on a server that does not run.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	children := childrenOf(s.cmd.Process.Pid)
	s.cmd.Process.Kill()
	<-s.gone
	s.cmd = nil
	for _, child := range children {
		child.Kill()
	}
	for _, child := range children {
		s.awaitEnd(child.Pid)
	}
}

// childrenOf is the processes that a process has started and that run, as far as the system tells (Linux).
func childrenOf(pid int) []*os.Process {
	listed, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	var children []*os.Process
	for word := range strings.FieldsSeq(string(listed)) {
		if n, err := strconv.Atoi(word); err == nil {
			if child, err := os.FindProcess(n); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// awaitEnd waits for the end of a process that is not our child and was killed.
func (s *Server) awaitEnd(pid int) {
	deadline := time.NewTimer(readyWithin)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, state, _ := strings.Cut(string(stat), ") ") // the name of the program is in brackets before it
		if err != nil || strings.HasPrefix(state, "Z") {
			return
		}
		select {
		case <-deadline.C:
			s.t.Errorf("process %d of %s does not end", pid, s.kind.name)
			return
		case <-tick.C:
		}
	}
}

// Restart kills the server and starts it again on its port, with the data that it has on disk.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	var err error
	for range 20 { // what the server was starting while it was killed may hold its memory for a moment
		if err = s.run(); err == nil {
			return
		}
		s.Kill()
	}
	s.t.Fatalf("restarting %s: %v", s.kind.name, err)
}

func (s *Server) run() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own handle
	s.cmd = s.kind.command(s)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
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

func (s *Server) await(gone <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if s.kind.answers(s.Addr) {
			return nil
		}
		select {
		case <-gone:
			said, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("%s ended at its start: %s", s.kind.name, said)
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w", s.kind.name, ctx.Err())
		case <-tick.C:
		}
	}
}

func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// asUser is a command that runs as an unprivileged user when we are root, since PostgreSQL refuses to run as root.
func asUser(user string, name string, args ...string) *exec.Cmd {
	if os.Geteuid() != 0 {
		return exec.Command(name, args...)
	}
	return exec.Command("setpriv", append([]string{"--reuid=" + user, "--regid=" + user, "--clear-groups", name}, args...)...)
}
