// Package cli is the command line: one file a command. It alone touches arguments, environment, terminal and signals.
package cli

import (
	"io"
)

// Streams are the three standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs the command named in args (args[0] is the program) and returns its exit code:
// 0 finished, 1 failed, 2 wrong usage or spider, 130 interrupted.
func Main(args []string, streams Streams) int {
	return 0
}
