package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

const (
	addressName = "address"

	// tokenCommand is answered with the token of the address file. A port that another program took over after a
	// kill is told by it from the folder's own server.
	tokenCommand = "LUACRAWL.TOKEN"
)

func newToken() string { return rand.Text() }

func answerToken(s *server.Server, token string) error {
	return s.Register(tokenCommand, func(c *server.Peer, _ string, _ []string) { c.WriteInline(token) })
}

// acquire takes the lock file, which the kernel gives free when the process ends, however it ends. It returns nil if
// another process has it.
func acquire(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = nil
	} else {
		err = &fs.PathError{Op: "flock", Path: file, Err: err}
	}
	return nil, errors.Join(err, f.Close())
}

// readAddress returns what the address file says, if that makes sense.
func readAddress(dir string) (addr netip.AddrPort, token string, ok bool) {
	data, err := os.ReadFile(filepath.Join(dir, addressName))
	if err != nil {
		return addr, "", false
	}
	first, token, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	addr, err = netip.ParseAddrPort(first)
	return addr, token, err == nil && addr.Addr().IsLoopback()
}

func writeAddress(dir, addr, token string) error {
	return replaceFile(filepath.Join(dir, addressName), []byte(addr+" "+token+"\n"))
}

// removeAddress keeps the port, as a file for lastPort, but nothing to join by.
func removeAddress(dir string) error {
	addr, _, ok := readAddress(dir)
	if !ok {
		return nil
	}
	return writeAddress(dir, addr.String(), "")
}

// lastPort is the port of the folder's last server, 0 if unknown.
func lastPort(dir string) int {
	addr, _, ok := readAddress(dir)
	if !ok {
		return 0
	}
	return int(addr.Port())
}

// join returns the folder's server if the one at its address answers with its token, else nil.
func join(ctx context.Context, dir string) *Server {
	addr, token, ok := readAddress(dir)
	if !ok || token == "" || !answers(ctx, addr.String(), token) {
		return nil
	}
	return &Server{addr: addr.String(), joined: true}
}

func answers(ctx context.Context, addr, token string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return false
	}
	if _, err := conn.Write(command(tokenCommand)); err != nil {
		return false
	}
	answer := make([]byte, len("+\r\n")+len(token))
	_, err = io.ReadFull(conn, answer)
	return err == nil && string(answer) == "+"+token+"\r\n"
}
