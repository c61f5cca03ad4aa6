package cli_test

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"luacrawl/cli"
)

// measured is the command luacrawl that tells, at SIGUSR1, how much it holds after a collection.
func measured() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			fmt.Fprintln(os.Stderr, measure())
		}
	}()
	os.Exit(cli.Main(os.Args, cli.Process()))
}

// holds asks a measured process.
func (p *process) holds(t *testing.T) (heap, goroutines int) {
	t.Helper()
	told := strings.Count(p.output.String(), "measured: ")
	if err := p.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "a measure", func() bool { return strings.Count(p.output.String(), "measured: ") > told })
	out := p.output.String()
	if _, err := fmt.Sscanf(out[strings.LastIndex(out, "measured: "):], "measured: heap %d goroutines %d", &heap, &goroutines); err != nil {
		t.Fatal(err)
	}
	return heap, goroutines
}

// least measures a few times while pages come and go: what is held in each.
func (p *process) least(t *testing.T) (heap, goroutines int) {
	t.Helper()
	heap, goroutines = p.holds(t)
	for range 20 {
		h, g := p.holds(t)
		heap, goroutines = min(heap, h), min(goroutines, g)
	}
	return heap, goroutines
}

// measure is what the process holds after a collection.
func measure() string {
	runtime.GC()
	runtime.GC() // what the first one has put aside in pools is gone now
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("measured: heap %d goroutines %d", m.HeapAlloc, runtime.NumGoroutine())
}
