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

// MariaDB starts a MariaDB whose user is root, without a password, and whose database is news. Args are further arguments of mariadbd.
// Without mariadb-server on this machine the test is skipped; with CI=true it fails instead.
func MariaDB(t testing.TB, args ...string) *Server {
	t.Helper()
	server := program("mariadbd", "/usr/sbin", "/usr/local/sbin")
	need(t, "mariadb-server", server)
	return start(t, kind{
		name: "mariadb",
		dsn: func(s *Server, user, password, database string) string {
			return fmt.Sprintf("mysql://%s:%s@%s/%s", user, password, s.Addr, database)
		},
		install: func(s *Server) error {
			if err := os.Mkdir(filepath.Join(s.dir, "tmp"), 0o700); err != nil { // a server removes files of others in a shared one
				return err
			}
			out, err := exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+filepath.Join(s.dir, "data"), "--user=root",
				"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", "--tmpdir="+filepath.Join(s.dir, "tmp")).CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return os.Mkdir(filepath.Join(s.dir, "data", "news"), 0o700) // a database is a folder
		},
		command: func(s *Server) *exec.Cmd {
			return exec.Command(server, append([]string{"--no-defaults", "--datadir=" + filepath.Join(s.dir, "data"), "--user=root", "--bind-address=127.0.0.1",
				fmt.Sprint("--port=", s.port), "--socket=" + filepath.Join(s.dir, "s"), "--pid-file=" + filepath.Join(s.dir, "pid"),
				"--skip-name-resolve", "--tmpdir=" + filepath.Join(s.dir, "tmp"), "--innodb-buffer-pool-size=16M", "--innodb-log-file-size=8M", "--skip-log-bin"}, args...)...)
		},
		answers: greets,
	})
}

// greets reports whether a MySQL server sends the packet that a connection begins with.
func greets(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second))
	packet := make([]byte, 5)
	n, _ := conn.Read(packet)
	return n == len(packet) && packet[4] == 10 // version of the protocol
}
