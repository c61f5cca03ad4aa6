package fetch

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// headStart is what the better family of addresses gets before the other is tried beside it (RFC 8305 has 250 ms, Go 300).
const headStart = 300 * time.Millisecond

// leastTry is the least that one address gets when several share the time.
const leastTry = 2 * time.Second

// dialer opens connections: it looks the name up and tries the addresses, each past the guard.
type dialer struct {
	timeout  time.Duration // of name lookup and connect together
	resolver *resolver
	guarded  net.Dialer
	open     net.Dialer // for proxies that the user has named
}

func newDialer(g *guard, r *resolver, timeout time.Duration) *dialer {
	return &dialer{timeout: timeout, resolver: r, guarded: net.Dialer{Control: g.control}}
}

// dial is http.Transport's DialContext.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w, ok := ctx.Value(watchKey{}).(*watch)
	if ok && !w.countDial() {
		return nil, &Error{KindBroken, errTooManyDials}
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := d.resolver.addresses(ctx, host)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	by := &d.guarded
	if ok && w.via != nil && w.via.named {
		by = &d.open
	}
	return race(ctx, addrs, func(ctx context.Context, a netip.Addr) (net.Conn, error) {
		return by.DialContext(ctx, network, net.JoinHostPort(a.String(), port))
	})
}

type dialFunc func(ctx context.Context, a netip.Addr) (net.Conn, error)

type dialed struct {
	conn net.Conn
	err  error
}

// race connects to one of the addresses. When they are of both families, the second family starts after a head start of the first, or
// when the first has failed, and who connects first wins. The error is the first one.
func race(ctx context.Context, addrs []netip.Addr, dial dialFunc) (net.Conn, error) {
	first, second := families(addrs)
	if len(second) == 0 {
		return inTurn(ctx, first, dial)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan dialed, 2)
	start := func(addrs []netip.Addr) {
		go func() {
			conn, err := inTurn(ctx, addrs, dial)
			results <- dialed{conn, err}
		}()
	}
	start(first)
	running, timer := 1, time.NewTimer(headStart)
	defer timer.Stop()
	var failed error
	for {
		select {
		case <-timer.C:
		case r := <-results:
			running--
			if r.err == nil {
				closeLosers(results, running)
				return r.conn, nil
			}
			if failed == nil {
				failed = r.err
			}
		}
		switch {
		case second != nil:
			start(second)
			running, second = running+1, nil
		case running == 0:
			return nil, failed
		}
	}
}

// closeLosers waits, apart, for dials that still run; their context ends with race.
func closeLosers(results <-chan dialed, running int) {
	if running == 0 {
		return
	}
	go func() {
		for range running {
			if r := <-results; r.conn != nil {
				r.conn.Close()
			}
		}
	}()
}

// families divides addresses into those of the first one's family and the others.
func families(addrs []netip.Addr) (first, second []netip.Addr) {
	for _, a := range addrs {
		if a.Is4() == addrs[0].Is4() {
			first = append(first, a)
		} else {
			second = append(second, a)
		}
	}
	return first, second
}

// inTurn tries addresses one after the other, each with its share of the time that is left.
func inTurn(ctx context.Context, addrs []netip.Addr, dial dialFunc) (net.Conn, error) {
	var failed error
	for i, a := range addrs {
		conn, err := oneOf(ctx, a, len(addrs)-i, dial)
		if err == nil {
			return conn, nil
		}
		if failed == nil {
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failed
}

func oneOf(ctx context.Context, a netip.Addr, left int, dial dialFunc) (net.Conn, error) {
	if end, ok := ctx.Deadline(); ok && left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(time.Until(end)/time.Duration(left), leastTry))
		defer cancel()
	}
	return dial(ctx, a)
}
