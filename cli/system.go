package cli

import (
	"cmp"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"
)

// System is what a command sees of the world around it. A test makes its own.
type System struct {
	Streams
	Environ []string         // NAME=VALUE, as os.Environ has it
	Signals <-chan os.Signal // what asks a run to stop: the first gracefully, the second at once
	Columns func() int       // width of the terminal that Err is; 0 when it is none. nil is none
	Worker  string           // names this process to others: host:pid
}

// Process is the System of the running process. From now on an interrupt ends a run only through Signals,
// and writing to a closed pipe is an error instead of the process' end.
func Process() System {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // not ignored: commands that are started would ignore it too
	return System{
		Streams: Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr},
		Environ: os.Environ(),
		Signals: signals,
		Columns: columns,
		Worker:  worker(),
	}
}

// columns asks anew each time, since a window can be resized.
func columns() int {
	if os.Getenv("TERM") == "dumb" {
		return 0
	}
	width, _, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil {
		return 0
	}
	return cmp.Or(width, 80) // a terminal that does not know its width says 0
}

func worker() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s:%d", host, os.Getpid())
}

// getenv returns the value of a variable, "" when it is not set.
func (s System) getenv(name string) string {
	value, _ := s.lookupEnv(name)
	return value
}

func (s System) lookupEnv(name string) (value string, found bool) {
	for _, entry := range s.Environ {
		if k, v, ok := strings.Cut(entry, "="); ok && k == name {
			value, found = v, true
		}
	}
	return value, found
}
