package scheduler

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// passing are the beginnings of error replies that go away by themselves: Redis is starting, failing over, busy or full.
// A script that gets one of them has written nothing.
var passing = []string{
	"LOADING", "READONLY", "OOM", "BUSY", "MASTERDOWN", "TRYAGAIN", "CLUSTERDOWN", "MISCONF", "NOREPLICAS", "UNBLOCKED",
	"ERR max number of clients reached",
}

// passes reports that a failure is worth waiting for: the connection, not the question, was bad.
func passes(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	if replied(err) {
		return refused(err) || noScript(err)
	}
	var ne net.Error
	return errors.As(err, &ne) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, net.ErrClosed)
}

// refused reports an error reply after which nothing has been done and that will pass.
func refused(err error) bool {
	if !replied(err) {
		return false
	}
	text := reply(err)
	for _, p := range passing {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// outOfMemory reports that Redis has no memory left for what it was told.
func outOfMemory(err error) bool { return replied(err) && strings.HasPrefix(reply(err), "OOM") }

// unsent reports that a command cannot have been carried out, so that it may be sent again whatever it does.
func unsent(err error) bool {
	if refused(err) || noScript(err) {
		return true
	}
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

func noScript(err error) bool { return replied(err) && strings.HasPrefix(reply(err), "NOSCRIPT") }

func wrongType(err error) bool { return replied(err) && strings.Contains(err.Error(), "WRONGTYPE") }

// denied reports a refused password or user: no waiting helps.
func denied(err error) bool {
	if !replied(err) {
		return false
	}
	text := reply(err)
	for _, p := range []string{"WRONGPASS", "NOAUTH", "NOPERM", "ERR invalid password", "ERR Client sent AUTH", "ERR AUTH"} {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return redis.IsAuthError(err)
}

// replied reports that Redis has answered, with an error.
func replied(err error) bool {
	var re redis.Error
	return errors.As(err, &re) && !errors.Is(err, redis.Nil)
}

// reply is the text of an error reply. A script wraps what a command in it was told ("ERR Error running script ... -OOM ...")
// up to Redis 6; later versions pass it on.
func reply(err error) string {
	var re redis.Error
	errors.As(err, &re)
	text := re.Error()
	if i := strings.Index(text, ": -"); i >= 0 && strings.HasPrefix(text, "ERR Error running script") {
		return text[i+3:]
	}
	if strings.Contains(text, "-OOM ") || strings.Contains(text, "OOM command not allowed") {
		return "OOM " + text
	}
	return text
}
