package dbtest

import (
	"os"
	"testing"
)

// Need is how the test of a server ends that is not there.
func Need(t testing.TB, ci string) { needIn(t, "a server", "", ci) }

// Children is the processes that a running server has started.
func Children(s *Server) []*os.Process { return childrenOf(s.cmd.Process.Pid) }
