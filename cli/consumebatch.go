package cli

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// linesFrom are items as lines.
func linesFrom(items []string) []byte {
	var b bytes.Buffer
	for _, item := range items {
		b.WriteString(itemLine(item, false))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// blockedWrite is how long a reader of standard output that takes nothing may go on doing so after an interrupt.
const blockedWrite = time.Second

// printBatch writes a batch to standard output. After an interrupt a reader that takes nothing is not waited for.
func (p *program) printBatch(ctx context.Context, items []string) error {
	written := make(chan error, 1)
	go func() {
		_, err := p.Out.Write(linesFrom(items))
		written <- err
	}()
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-written:
		return err
	case <-time.After(blockedWrite):
		return ctx.Err()
	}
}

// commandOf gives each batch to a command of its own. An interrupt lets it end, a second one ends it with all that it has started: it is in
// a process group of its own, which Ctrl-C at a terminal does not reach.
func (p *program) commandOf(t *target, command []string) func(context.Context, []string) error {
	killed, kill := context.WithCancel(context.Background())
	t.stop.onSecond(kill)
	return func(_ context.Context, items []string) error {
		cmd := exec.CommandContext(killed, command[0], command[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(linesFrom(items)), p.Out, p.Err
		cmd.Env = p.Environ
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		cmd.WaitDelay = blockedWrite // for a child that keeps the pipes
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("command %s: %v", strings.Join(command, " "), err) // its exit code is not ours
		}
		return nil
	}
}
