package fetch

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// stub asks the system's DNS servers through net.Resolver (which knows /etc/hosts, resolv.conf, search domains, both families and
// their order) and reads the TTL, which net.Resolver does not give, off the packets that pass.
type stub struct {
	packets *net.Resolver // Go's own, whose packets pass through dial
	system  *net.Resolver // the system's, which also knows names that are not in the DNS
	connect func(ctx context.Context, network, server string) (net.Conn, error)
}

func newStub() *stub {
	s := &stub{system: net.DefaultResolver, connect: (&net.Dialer{}).DialContext}
	s.packets = &net.Resolver{PreferGo: true, Dial: s.dial}
	return s
}

// lookup is a lookup of a resolver.
func (s *stub) lookup(ctx context.Context, name string) ([]netip.Addr, time.Duration, error) {
	seen := &ttlRecord{}
	addrs, err := s.packets.LookupNetIP(context.WithValue(ctx, ttlKey{}, seen), "ip", name)
	if err != nil && ctx.Err() == nil && (local(name) || !seen.answered()) {
		// A name of mDNS or of another directory, or a system without DNS servers that Go finds.
		if others, e := s.system.LookupNetIP(ctx, "ip", name); e == nil {
			return unmapped(others), 0, nil
		}
	}
	return unmapped(addrs), seen.ttl(err == nil), err
}

func unmapped(addrs []netip.Addr) []netip.Addr {
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrs
}

// local names may have another home than the DNS.
func local(name string) bool {
	name = strings.TrimSuffix(name, ".")
	return !strings.Contains(name, ".") || strings.HasSuffix(name, ".local")
}

func (s *stub) dial(ctx context.Context, network, server string) (net.Conn, error) {
	c, err := s.connect(ctx, network, server)
	if err != nil {
		return nil, err
	}
	seen, ok := ctx.Value(ttlKey{}).(*ttlRecord)
	if !ok {
		return c, nil
	}
	if udp, ok := c.(*net.UDPConn); ok { // net.Resolver tells packets from streams by the connection's methods
		return &packetTap{udp, seen}, nil
	}
	return &streamTap{Conn: c, seen: seen}, nil
}

// packetTap reads along with a DNS exchange over UDP.
type packetTap struct {
	*net.UDPConn
	seen *ttlRecord
}

func (t *packetTap) Read(p []byte) (int, error) {
	n, err := t.UDPConn.Read(p)
	t.seen.read(p[:n])
	return n, err
}

// streamTap reads along with a DNS exchange over TCP, where a length of two bytes stands before each message.
type streamTap struct {
	net.Conn
	seen *ttlRecord
	got  []byte
}

func (t *streamTap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.got = append(t.got, p[:n]...)
	if len(t.got) >= 2 {
		if size := 2 + int(binary.BigEndian.Uint16(t.got)); len(t.got) >= size {
			t.seen.read(t.got[2:size])
			t.got = t.got[size:]
		}
	}
	return n, err
}

type ttlKey struct{}

// ttlRecord gathers the TTLs of the answers to one lookup: those of A and AAAA come at once.
type ttlRecord struct {
	mu                 sync.Mutex
	positive, negative uint32 // the least, in seconds; guarded by mu, valid with the flags below
	found, none, heard bool   // guarded by mu
}

// ttl is the least TTL of the addresses found, or of the answers that there are none. 0 is unknown.
func (t *ttlRecord) ttl(positive bool) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case positive && t.found:
		return max(time.Duration(t.positive)*time.Second, leastTTL)
	case !positive && t.none:
		return max(time.Duration(t.negative)*time.Second, leastTTL)
	}
	return 0
}

// answered reports whether a server has said anything.
func (t *ttlRecord) answered() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.heard
}

// read takes a message's TTLs in. What is no answer, or none that can be read, is left to net.Resolver to refuse.
func (t *ttlRecord) read(packet []byte) {
	var p dnsmessage.Parser
	h, err := p.Start(packet)
	if err != nil || !h.Response || p.SkipAllQuestions() != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard = true
	answers := 0
	for {
		rr, err := p.AnswerHeader()
		if err != nil {
			if !errors.Is(err, dnsmessage.ErrSectionDone) {
				return
			}
			break
		}
		answers++
		t.note(rr.TTL)
		if p.SkipAnswer() != nil {
			return
		}
	}
	if answers == 0 {
		t.readNegative(&p)
	}
}

func (t *ttlRecord) note(ttl uint32) {
	if !t.found || ttl < t.positive {
		t.found, t.positive = true, ttl
	}
}

// readNegative takes in what an answer without records says of its own life: the lesser of the SOA's TTL and its minimum (RFC 2308).
func (t *ttlRecord) readNegative(p *dnsmessage.Parser) {
	for {
		rr, err := p.AuthorityHeader()
		if err != nil {
			return
		}
		if rr.Type != dnsmessage.TypeSOA {
			if p.SkipAuthority() != nil {
				return
			}
			continue
		}
		soa, err := p.SOAResource()
		if err != nil {
			return
		}
		if ttl := min(rr.TTL, soa.MinTTL); !t.none || ttl < t.negative {
			t.none, t.negative = true, ttl
		}
	}
}
