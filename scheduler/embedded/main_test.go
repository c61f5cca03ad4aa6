package embedded

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

// folderVariable makes the test binary a process that serves a folder, snapshots included, until its standard input
// ends. It prints its address.
const folderVariable = "LUACRAWL_TEST_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(folderVariable); dir != "" {
		if err := serveUntilEOF(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func serveUntilEOF(dir string) error {
	s, err := Start(context.Background(), Options{Dir: dir})
	if err != nil {
		return err
	}
	go func() {
		for s.snapshot() == nil { // without a pause, so that a kill falls into one
		}
	}()
	fmt.Println(s.Addr())
	io.Copy(io.Discard, os.Stdin)
	return s.Close()
}

// process is a server of a folder in a process of its own.
type process struct {
	*exec.Cmd
	addr  string
	stdin io.Closer
}

func startProcess(t *testing.T, dir string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0])}
	p.Env = append(os.Environ(), folderVariable+"="+dir)
	p.Stderr = os.Stderr
	out, err1 := p.StdoutPipe()
	in, err2 := p.StdinPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("the process printed no address:", err)
	}
	p.addr, p.stdin = strings.TrimSpace(line), in
	return p
}

func (p *process) kill() {
	if p.ProcessState == nil {
		_ = p.Process.Kill() // SIGKILL
		_ = p.Wait()
	}
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func closeServer(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// dial returns a client that is closed before the test's servers are.
func dial(t *testing.T, addr string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, ReadTimeout: time.Minute})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// await polls until something is so.
func await(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("waited in vain")
		}
	}
}
