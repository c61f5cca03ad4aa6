package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"
)

// This file tells a proxy's failures from those of the site behind it.

// trace makes ctx say when the download has its connection. Until then a connection to the proxy has a deadline (a proxy that takes
// connections and says nothing would hold them for ever); from then on the download's own limits hold.
func (v *via) trace(watch *watch) context.Context {
	return httptrace.WithClientTrace(watch, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		_ = info.Conn.SetDeadline(time.Time{}) // one that is closed says so when it is used
		v.once.Do(func() {
			close(v.connected)
			watch.pause()
		})
	}})
}

func (v *via) isConnected() bool {
	select {
	case <-v.connected:
		return true
	default:
		return false
	}
}

// silent is the error of a proxy that has not led to a connection in time.
func (v *via) silent() *Error { return v.fail("no connection through it in time") }

func (v *via) fail(format string, args ...any) *Error {
	return &Error{KindProxy, fmt.Errorf("proxy %s: %w", ProxyName(v.proxy), fmt.Errorf(format, args...))}
}

// classify is the error of a download through v.
func (v *via) classify(watch *watch, err error) *Error {
	var (
		own *Error
		op  *net.OpError
	)
	if errors.As(err, &own) && watch.Err() == nil {
		return own // it says all
	}
	e := classify(watch, err)
	switch {
	case watch.Err() != nil || e.Kind == KindTooLarge:
		return e
	case errors.As(err, &op) && strings.HasPrefix(op.Op, "socks") && ofTarget(op.Err.Error()):
		e.Kind = KindConnect
	case v.isFault(e):
		return v.fail("%w", e.Err)
	}
	return &Error{e.Kind, fmt.Errorf("through proxy %s: %w", ProxyName(v.proxy), e.Err)}
}

// isFault: the proxy, and not what lies behind it, has failed.
func (v *via) isFault(e *Error) bool {
	if v.isConnected() {
		return !v.tunnel && e.Kind == KindBroken
	}
	var (
		op     *net.OpError
		record tls.RecordHeaderError
	)
	switch {
	case errors.As(e.Err, &op) && op.Op == "proxyconnect":
		return true
	case errors.As(e.Err, &record):
		return true // what comes through the tunnel is the proxy's own page
	}
	return e.Kind != KindTLS
}

// ofTarget knows the answers of a SOCKS proxy (RFC 1928) that speak of the site; net/http has no types for them.
func ofTarget(socks string) bool {
	for _, s := range []string{"network unreachable", "host unreachable", "connection refused", "TTL expired"} {
		if strings.HasSuffix(socks, s) {
			return true
		}
	}
	return false
}

// checkTunnel is http.Transport's OnProxyConnectResponse: it says what is wrong with an answer to CONNECT.
func checkTunnel(_ context.Context, proxy *url.URL, _ *http.Request, res *http.Response) error {
	v := &via{proxy: proxy}
	switch {
	case res.StatusCode == http.StatusProxyAuthRequired:
		return v.wantsPassword()
	case res.StatusCode == http.StatusBadGateway || res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusGatewayTimeout:
		return &Error{KindConnect, fmt.Errorf("proxy %s cannot reach the site: status %d", ProxyName(proxy), res.StatusCode)}
	case res.StatusCode != http.StatusOK:
		return v.fail("it answers CONNECT with status %d", res.StatusCode)
	case strings.HasPrefix(res.Header.Get("Content-Type"), "text/html"):
		return v.fail("it answers CONNECT with a page")
	}
	return nil
}

func (v *via) wantsPassword() *Error {
	if v.proxy.User != nil {
		return v.fail("it refuses the user or password (status 407)")
	}
	return v.fail("it wants a user and password (status 407); they belong into its URL: %s://user:password@%s", v.proxy.Scheme, v.proxy.Host)
}

// roundTripVia is roundTrip through a proxy, which it judges by the end.
func (d *Downloader) roundTripVia(v *via, watch *watch, req *http.Request) (*http.Response, error) {
	watch.limitConnect(2 * d.cfg.ConnectTimeout) // to the proxy, and from there to the site
	res, err := d.transport.RoundTrip(req.WithContext(v.trace(watch)))
	if err == nil && res.StatusCode == http.StatusProxyAuthRequired && !v.tunnel {
		res.Body.Close()
		err = v.wantsPassword()
	}
	if err != nil {
		e := v.classify(watch, err)
		if e.Kind == KindProxy {
			d.proxies.report(v.turn, false)
		}
		return nil, e
	}
	d.proxies.report(v.turn, true)
	return res, nil
}
