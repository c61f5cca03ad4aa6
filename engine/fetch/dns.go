package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"
)

// How long an answer of the DNS is kept. A record's own time holds within these bounds.
const (
	leastTTL     = time.Second
	mostTTL      = time.Hour
	unknownTTL   = 10 * time.Second // of an answer that came without: from /etc/hosts, or by the system's own resolver
	mostNegative = 30 * time.Second // for a name that has no address
	failureTTL   = time.Second      // when no server has answered: a crowd of requests is told at once
	cachedNames  = 8192
)

// resolver finds the addresses of names and keeps them as long as they say. Requests for a name that is being looked up wait for the
// one answer.
type resolver struct {
	fixed   map[string][]netip.Addr // Config.Resolve
	lookup  Lookup
	now     func() time.Time
	timeout time.Duration // of a lookup
	flight  singleflight.Group
	cache   *lru.Cache[string, resolved]
}

// Lookup asks for a name's addresses, best first. ttl is what the answer, also one that there are none, may be kept for; 0 is unknown.
type Lookup func(ctx context.Context, name string) (addrs []netip.Addr, ttl time.Duration, err error)

type resolved struct {
	addrs []netip.Addr
	err   error
	until time.Time
}

func newResolver(fixed map[string][]netip.Addr, timeout time.Duration, ask Lookup) *resolver {
	cache, err := lru.New[string, resolved](cachedNames)
	if err != nil {
		panic(err) // the size is wrong
	}
	return &resolver{fixed: fixed, lookup: ask, now: time.Now, timeout: timeout, cache: cache}
}

// addresses of a host: an IP address itself, one of Config.Resolve, or what the DNS says. There is at least one when err is nil.
func (r *resolver) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	name := strings.ToLower(host)
	if addrs := r.fixed[strings.TrimSuffix(name, ".")]; addrs != nil {
		return addrs, nil
	}
	if kept, ok := r.cache.Get(name); ok && r.now().Before(kept.until) {
		return kept.addrs, kept.err
	}
	asked := r.flight.DoChan(name, func() (any, error) { return r.ask(ctx, name), nil })
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case got := <-asked:
		a := got.Val.(resolved)
		return a.addrs, a.err
	}
}

// ask looks a name up for all who wait: the one who came first may leave before the answer.
func (r *resolver) ask(ctx context.Context, name string) resolved {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.timeout)
	defer cancel()
	addrs, ttl, err := r.lookup(ctx, name)
	if err == nil && len(addrs) == 0 {
		err = &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	a := resolved{addrs: addrs, err: err, until: r.now().Add(keep(ttl, err))}
	r.cache.Add(name, a)
	return a
}

// keep is how long an answer with this TTL is kept.
func keep(ttl time.Duration, err error) time.Duration {
	var dns *net.DNSError
	switch {
	case err == nil && ttl == 0:
		return unknownTTL
	case err == nil:
		return min(max(ttl, leastTTL), mostTTL)
	case errors.As(err, &dns) && dns.IsNotFound && ttl == 0:
		return leastTTL
	case errors.As(err, &dns) && dns.IsNotFound:
		return min(max(ttl, leastTTL), mostNegative)
	}
	return failureTTL
}
