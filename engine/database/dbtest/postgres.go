package dbtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Postgres starts a PostgreSQL whose superuser is postgres, any password being right, and whose database is postgres. Args are further
// arguments of the server. Without postgresql on this machine the test is skipped; with CI=true it fails instead.
func Postgres(t testing.TB, args ...string) *Server {
	t.Helper()
	const folders = "/usr/lib/postgresql/*/bin"
	server, initdb := program("postgres", folders), program("initdb", folders)
	need(t, "postgresql", server)
	return start(t, kind{
		name: "postgres",
		dsn: func(s *Server, user, password, database string) string {
			return fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", user, password, s.Addr, database)
		},
		install: func(s *Server) error {
			if os.Geteuid() == 0 {
				if out, err := exec.Command("chown", "postgres", s.dir).CombinedOutput(); err != nil {
					return fmt.Errorf("%w: %s", err, out)
				}
			}
			cmd := asUser("postgres", initdb, "-D", filepath.Join(s.dir, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
			cmd.Dir = s.dir
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		},
		command: func(s *Server) *exec.Cmd {
			cmd := asUser("postgres", server, append([]string{"-D", filepath.Join(s.dir, "data"), "-k", s.dir, "-c", "listen_addresses=127.0.0.1",
				"-p", fmt.Sprint(s.port), "-c", "shared_buffers=16MB", "-c", "logging_collector=off"}, args...)...)
			cmd.Dir = s.dir
			return cmd
		},
		answers: authenticates,
	})
}

// authenticates reports whether a PostgreSQL server asks who we are, or lets us in: while it recovers it sends an error.
func authenticates(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second))
	parameters := "user\x00postgres\x00\x00"
	packet := append([]byte{0, 0, 0, byte(8 + len(parameters)), 0, 3, 0, 0}, parameters...)
	if _, err := conn.Write(packet); err != nil {
		return false
	}
	kind := make([]byte, 1)
	n, _ := conn.Read(kind)
	return n == 1 && kind[0] == 'R'
}
