package fetch

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// dnsServer answers over UDP and TCP on one port, as build says for a question.
func dnsServer(t *testing.T, build func(q dnsmessage.Question, b *dnsmessage.Builder, h *dnsmessage.Header)) string {
	t.Helper()
	var tcp net.Listener
	var udp net.PacketConn
	for udp == nil { // one port that both have free
		var err error
		if tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		if udp, err = net.ListenPacket("udp", tcp.Addr().String()); err != nil {
			tcp.Close()
		}
	}
	var running sync.WaitGroup
	running.Go(func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := udp.ReadFrom(buf)
			if err != nil {
				return
			}
			udp.WriteTo(dnsReply(buf[:n], false, build), from)
		}
	})
	running.Go(func() {
		for {
			c, err := tcp.Accept()
			if err != nil {
				return
			}
			running.Go(func() { defer c.Close(); serveDNS(c, build) })
		}
	})
	t.Cleanup(func() { udp.Close(); tcp.Close(); running.Wait() })
	return tcp.Addr().String()
}

func serveDNS(c net.Conn, build func(dnsmessage.Question, *dnsmessage.Builder, *dnsmessage.Header)) {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return
	}
	packet := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, packet); err != nil {
		return
	}
	reply := dnsReply(packet, true, build)
	c.Write(binary.BigEndian.AppendUint16(nil, uint16(len(reply))))
	c.Write(reply[:10]) // in pieces, as networks do
	c.Write(reply[10:])
}

// dnsReply is the answer to a packet. Over UDP, names that begin with "long" are cut off.
func dnsReply(packet []byte, stream bool, build func(dnsmessage.Question, *dnsmessage.Builder, *dnsmessage.Header)) []byte {
	var p dnsmessage.Parser
	asked, err := p.Start(packet)
	if err != nil {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	h := dnsmessage.Header{ID: asked.ID, Response: true, RecursionDesired: true, RecursionAvailable: true}
	h.Truncated = !stream && strings.HasPrefix(q.Name.String(), "long")
	body := func(h dnsmessage.Header, change *dnsmessage.Header) []byte {
		b := dnsmessage.NewBuilder(nil, h)
		b.StartQuestions()
		b.Question(q)
		if !h.Truncated {
			build(q, &b, change)
		}
		out, _ := b.Finish()
		return out
	}
	changed := h
	body(h, &changed)
	return body(changed, &dnsmessage.Header{})
}

// zone answers for the names of the tests.
func zone(q dnsmessage.Question, b *dnsmessage.Builder, h *dnsmessage.Header) {
	name := q.Name.String()
	head := func(ttl uint32) dnsmessage.ResourceHeader {
		return dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: ttl}
	}
	switch {
	case strings.Contains(name, "gone"):
		h.RCode = dnsmessage.RCodeNameError
		b.StartAuthorities()
		b.SOAResource(head(900), dnsmessage.SOAResource{NS: q.Name, MBox: q.Name, MinTTL: 17})
	case strings.Contains(name, "broken"):
		h.RCode = dnsmessage.RCodeServerFailure
	case q.Type == dnsmessage.TypeA:
		b.StartAnswers()
		if strings.Contains(name, "alias") {
			b.CNAMEResource(head(20), dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName("real.example.")})
			b.AResource(dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName("real.example."), Class: dnsmessage.ClassINET, TTL: 500}, dnsmessage.AResource{A: [4]byte{192, 0, 2, 2}})
			return
		}
		b.AResource(head(120), dnsmessage.AResource{A: [4]byte{192, 0, 2, 1}})
	}
}

func TestLookupReadsTTLs(t *testing.T) {
	t.Parallel()
	server := dnsServer(t, zone)
	s := newStub()
	s.system = s.packets
	s.connect = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server)
	}
	for _, c := range []struct {
		name, address string
		ttl           time.Duration
		notFound      bool
	}{
		{"plain.example.", "192.0.2.1", 120 * time.Second, false},
		{"alias.example.", "192.0.2.2", 20 * time.Second, false},
		{"long.example.", "192.0.2.1", 120 * time.Second, false}, // by TCP
		{"gone.example.", "", 17 * time.Second, true},
		{"long-gone.example.", "", 17 * time.Second, true},
		{"broken.example.", "", 0, false},
	} {
		addrs, ttl, err := s.lookup(t.Context(), c.name)
		if c.address == "" {
			var dns *net.DNSError
			if !errors.As(err, &dns) || dns.IsNotFound != c.notFound || ttl != c.ttl {
				t.Errorf("%s: %v, %v, %v", c.name, addrs, ttl, err)
			}
			continue
		}
		if err != nil || len(addrs) != 1 || addrs[0].String() != c.address || ttl != c.ttl {
			t.Errorf("%s: %v, %v, %v; want %s for %v", c.name, addrs, ttl, err, c.address, c.ttl)
		}
	}
}

// A system without DNS servers, and names that are not in the DNS, are left to the system's own resolver.
func TestLookupFallsBackToTheSystem(t *testing.T) {
	t.Parallel()
	server := dnsServer(t, zone)
	silent := newStub()
	silent.connect = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no network") }
	silent.system = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server)
	}}
	addrs, ttl, err := silent.lookup(t.Context(), "plain.example.")
	if err != nil || len(addrs) != 1 || ttl != 0 {
		t.Errorf("%v, %v, %v", addrs, ttl, err)
	}
	if _, _, err := silent.lookup(t.Context(), "gone.example."); err == nil {
		t.Error("no error for a name that neither knows")
	}
}

func FuzzTTLRecord(f *testing.F) {
	f.Add(dnsReply(mustQuestion("plain.example."), true, zone))
	f.Add(dnsReply(mustQuestion("gone.example."), true, zone))
	f.Add([]byte{})
	f.Fuzz(func(_ *testing.T, packet []byte) { (&ttlRecord{}).read(packet) })
}

func mustQuestion(name string) []byte {
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: 1})
	b.StartQuestions()
	b.Question(dnsmessage.Question{Name: dnsmessage.MustNewName(name), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET})
	out, _ := b.Finish()
	return out
}
