package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a luacrawl of its own process, so that it can be killed.
type process struct {
	*exec.Cmd
	output *lockedBuffer
	exited chan struct{} // closed when it has ended and ProcessState is set
}

// startLuacrawl runs the command that main.go is, in a folder of its own unless dir is given. It is killed with the test.
func startLuacrawl(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	return startCommand(t, "luacrawl", dir, args...)
}

// startCommand is startLuacrawl with another of TestMain's commands.
func startCommand(t *testing.T, command, dir string, args ...string) *process {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	return startEnvironment(t, command, dir, nil, args...)
}

// startEnvironment is startCommand with more variables in its environment.
func startEnvironment(t *testing.T, command, dir string, environment []string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(command, args...)
	cmd.Dir, cmd.Env = dir, slices.Concat(os.Environ(), []string{privateAllowed, robotsOff}, environment)
	return startProcess(t, cmd)
}

// startProcess starts what somebody has made ready.
func startProcess(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{Cmd: cmd, output: &lockedBuffer{}, exited: make(chan struct{})}
	p.Stdout, p.Stderr = p.output, p.output
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.exited
	})
	return p
}

// kill ends it as a power cut would.
func (p *process) kill() {
	_ = p.Process.Signal(syscall.SIGKILL)
	<-p.exited
}

// wantExit waits for the end and checks the exit code.
func (p *process) wantExit(t *testing.T, within time.Duration, code int) {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(within):
		t.Fatalf("luacrawl %v did not end within %v\n%s", p.Args[1:], within, p.output)
	}
	if got := p.ProcessState.ExitCode(); got != code {
		t.Fatalf("luacrawl %v: exit code %d, want %d\n%s", p.Args[1:], got, code, p.output)
	}
}

// lockedBuffer is written by a process while a test reads it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
