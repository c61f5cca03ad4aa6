package fetch

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// guard keeps downloads away from addresses that belong to nobody's public site: the machine itself, its network, the cloud's
// metadata. It looks at the address that is about to be connected to, after all names, redirects and notations, so none of them
// gets past it.
type guard struct {
	off     bool           // everything may be connected to
	allowed []netip.Prefix // beside what is public
}

// special are the ranges that are refused, after IANA's registries of special-purpose addresses (RFC 6890) and the clouds' manuals.
// Of IPv6 the guard lets pass only 2000::/3, the part that is given out; ranges outside of it stand here for their names.
var special = func() (ranges []specialRange) {
	for _, r := range [][2]string{
		{"0.0.0.0/8", "an unspecified"},
		{"10.0.0.0/8", "a private"},
		{"100.64.0.0/10", "a carrier-grade NAT"},
		{"127.0.0.0/8", "a loopback"},
		{"168.63.129.16/32", "a cloud metadata"}, // Azure's, in the middle of public ones
		{"169.254.169.254/32", "a cloud metadata"},
		{"169.254.0.0/16", "a link-local"},
		{"172.16.0.0/12", "a private"},
		{"192.0.0.0/24", "a reserved"},
		{"192.0.2.0/24", "a documentation"},
		{"192.88.99.0/24", "a 6to4 relay"},
		{"192.168.0.0/16", "a private"},
		{"198.18.0.0/15", "a benchmarking"},
		{"198.51.100.0/24", "a documentation"},
		{"203.0.113.0/24", "a documentation"},
		{"224.0.0.0/4", "a multicast"},
		{"240.0.0.0/4", "a reserved"},
		{"::/128", "an unspecified"},
		{"::1/128", "a loopback"},
		{"::/96", "an IPv4-compatible"},
		{"64:ff9b:1::/48", "a local NAT64"},
		{"2001::/32", "a Teredo"},
		{"2001:2::/48", "a benchmarking"},
		{"2001::/23", "a reserved"},
		{"2001:db8::/32", "a documentation"},
		{"2002::/16", "a 6to4"},
		{"3fff::/20", "a documentation"},
		{"fc00::/7", "a private"},
		{"fe80::/10", "a link-local"},
		{"fec0::/10", "a site-local"},
		{"ff00::/8", "a multicast"},
	} {
		ranges = append(ranges, specialRange{netip.MustParsePrefix(r[0]), r[1]})
	}
	return ranges
}()

type specialRange struct {
	prefix netip.Prefix
	what   string
}

var (
	nat64    = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052: the last four bytes are an IPv4 address
	givenOut = netip.MustParsePrefix("2000::/3")
)

// check returns an *Error when a must not be connected to. The error says what allows it.
func (g *guard) check(a netip.Addr) error {
	a = a.WithZone("").Unmap()
	what := refusal(a)
	if what == "" || g.off || slices.ContainsFunc(g.allowed, func(p netip.Prefix) bool { return p.Contains(a) }) {
		return nil
	}
	return &Error{KindPrivate, fmt.Errorf("%s is %s address, which is not connected to; if it is meant, add --set allow_addresses=%s, or --set allow_private_addresses=true for all of its kind", a, what, a)}
}

// refusal says what a is ("a loopback"), or nothing when it is public.
func refusal(a netip.Addr) string {
	for _, s := range special {
		if s.prefix.Contains(a) {
			return s.what
		}
	}
	switch {
	case a.Is4() || givenOut.Contains(a):
		return ""
	case nat64.Contains(a):
		b := a.As16()
		return refusal(netip.AddrFrom4([4]byte(b[12:])))
	}
	return "a reserved"
}

// control is net.Dialer's hook before each connect: address is the one that the system is about to connect to.
func (g *guard) control(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return &Error{KindInvalid, fmt.Errorf("address %q: %w", address, err)}
	}
	return g.check(a.Addr())
}

// checkHost refuses what a proxy would connect to in our place: literal addresses, and names that are the machine itself. Where other
// names lead only the proxy knows.
func (g *guard) checkHost(host string) error {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return g.check(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	if a, ok := literal(name); ok {
		return g.check(a)
	}
	return nil
}

// literal reads an address in any form that a resolver takes for one: beside the usual, IPv4 in one to four parts, each decimal,
// octal or hexadecimal (inet_aton).
func literal(host string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a, true
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
		}
		n, err := partOf(part)
		if err != nil || n >= 1<<bits {
			return netip.Addr{}, false
		}
		sum = sum<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

func partOf(s string) (uint64, error) {
	switch {
	case strings.HasPrefix(s, "0x"):
		return strconv.ParseUint(s[len("0x"):], 16, 64)
	case strings.HasPrefix(s, "0") && len(s) > 1:
		return strconv.ParseUint(s, 8, 64)
	}
	return strconv.ParseUint(s, 10, 64)
}

// checkPort refuses the ports that browsers refuse (WHATWG Fetch, "bad port"): services that may take a request for commands of theirs.
func (g *guard) checkPort(port string) error {
	if g.off || !badPorts[port] {
		return nil
	}
	return &Error{KindInvalid, fmt.Errorf("port %s is another service's and refused, as by browsers; if it is meant, add --set allow_private_addresses=true", port)}
}

var badPorts = func() map[string]bool {
	const list = "1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 " +
		"143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 " +
		"4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080"
	ports := map[string]bool{}
	for port := range strings.FieldsSeq(list) {
		ports[port] = true
	}
	return ports
}()
