package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
)

// Kind says what went wrong with a download.
type Kind string

// Kinds of errors.
const (
	KindTimeout  Kind = "timeout"         // any of the limits of Config, or the deadline of the caller's context
	KindDNS      Kind = "dns"             // the host's name has no address, or none was found out
	KindConnect  Kind = "connect"         // nobody listens, or no way leads there
	KindTLS      Kind = "tls"             // the handshake failed or the certificate is not valid
	KindBroken   Kind = "broken"          // the connection ended before the page was whole, or what came is not HTTP
	KindTooLarge Kind = "too_large"       // more than MaxSize or MaxHeader
	KindDecode   Kind = "decode"          // Content-Encoding cannot be undone
	KindInvalid  Kind = "invalid"         // the request cannot be sent
	KindPrivate  Kind = "private_address" // the guard refuses the address, or the host's name leads to such a one
	KindProxy    Kind = "proxy"           // the proxy does not do its part: it is gone, wants a password, or answers what is no proxy's answer
	KindCanceled Kind = "canceled"        // the caller's context was canceled
)

// Error is a download that failed.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return string(e.Kind) + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether another try may succeed: after a timeout, a failed lookup, a refused or a broken connection, and
// through another proxy or a mended one.
func (e *Error) Temporary() bool {
	switch e.Kind {
	case KindTimeout, KindDNS, KindConnect, KindBroken, KindProxy:
		return true
	}
	return false
}

// invalid is the error of a request that is not sent.
func invalid(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	return &Error{KindInvalid, err}
}

// classify sorts an error of a download whose context is ctx. Once ctx has ended, that is the reason, whatever followed from it.
func classify(ctx context.Context, err error) *Error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	var own *Error
	switch {
	case errors.As(err, &own):
		return own
	case ctx.Err() == context.Canceled: // whatever the caller gave as the cause
		return &Error{KindCanceled, err}
	case ctx.Err() != nil:
		return &Error{KindTimeout, err}
	}
	return &Error{kindOf(err), err}
}

func kindOf(err error) Kind {
	var (
		lookup  *net.DNSError
		timeout net.Error
	)
	switch {
	case errors.As(err, &lookup):
		return KindDNS
	case errors.As(err, &timeout) && timeout.Timeout():
		return KindTimeout
	case isTLS(err):
		return KindTLS
	case isHeaderTooLarge(err):
		return KindTooLarge
	}
	return kindOfConnection(err)
}

func kindOfConnection(err error) Kind {
	var (
		address *net.AddrError
		op      *net.OpError
	)
	switch {
	case errors.As(err, &address):
		return KindInvalid
	case errors.As(err, &op) && op.Op == "dial":
		return KindConnect
	}
	return KindBroken
}

// isTLS knows crypto/tls' errors by type where it has types, else by the prefix that all of its errors have.
func isTLS(err error) bool {
	var (
		verify *tls.CertificateVerificationError
		record tls.RecordHeaderError
		op     *net.OpError
	)
	if errors.As(err, &verify) || errors.As(err, &record) {
		return true
	}
	if errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error") {
		return true // a TLS alert
	}
	text := err.Error()
	return strings.HasPrefix(text, "tls: ") || strings.HasPrefix(text, "x509: ") || strings.Contains(text, "HTTP response to HTTPS client")
}

// isHeaderTooLarge knows by their words two errors of net/http (HTTP/1 and HTTP/2) that have neither a type nor a value.
func isHeaderTooLarge(err error) bool {
	text := err.Error()
	return strings.Contains(text, "response headers exceeded") || strings.Contains(text, "response header list larger")
}
