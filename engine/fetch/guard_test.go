package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"luacrawl/scheduler/weburl"
)

// trap listens on every address of this machine and counts who comes.
func trap(t *testing.T) (port string, came *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	came = &atomic.Int32{}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			came.Add(1)
			c.Close()
		}
	})
	t.Cleanup(func() { l.Close(); running.Wait() })
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, came
}

func wantRefused(t *testing.T, d *Downloader, r *Request) {
	t.Helper()
	res, err := d.Fetch(t.Context(), r)
	if res != nil {
		res.Release()
	}
	var e *Error
	if !errors.As(err, &e) || e.Kind != KindPrivate || e.Temporary() || !strings.Contains(e.Error(), "allow_private_addresses") {
		t.Errorf("%s: %v; want a private_address that names the setting", r.URL, err)
	}
}

// refusedHosts are addresses that the guard stops, as people who try write them.
var refusedHosts = []string{
	"127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "017700000001", "0177.0.0.1", "0177.1", "127.0x0.0.01",
	"0", "0.0.0.0", "0x0", "00.0",
	"localhost", "LOCALHOST", "localhost.", "127.0.0.1.", "%31%32%37.0.0.1", "１２７.0.0.1", "127。0。0。1",
	"[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]", "[::127.0.0.1]",
	"[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::1]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2001::1]", "[2001:0:7f00:1::]",
	"169.254.169.254", "0xa9fea9fe", "2852039166", "169.254.43518", "168.63.129.16", "100.100.100.200", "[fd00:ec2::254]",
	"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9",
	"192.88.99.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
	"[fe80::1]", "[fec0::1]", "[fc00::1]", "[ff02::1]", "[2001:db8::1]", "[3fff::1]", "[100::1]", "[5f00::1]", "[2001:2::1]", "[4000::1]",
}

func TestGuardRefusesEveryFormOfAnAddress(t *testing.T) {
	t.Parallel()
	port, came := trap(t)
	d := newGuarded(t, Config{Timeout: 10 * time.Second})
	hostNames(d, "localhost", "127.0.0.1", "::1")
	for _, host := range refusedHosts {
		u, err := weburl.Parse("http://" + host + ":" + port + "/") // as the engine has it
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		wantRefused(t, d, &Request{URL: u})
	}
	if n := came.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// hostNames makes the downloader's DNS know one name, for ever.
func hostNames(d *Downloader, name string, addresses ...string) {
	var addrs []netip.Addr
	for _, a := range addresses {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	d.dialer.resolver.lookup = func(_ context.Context, asked string) ([]netip.Addr, time.Duration, error) {
		if strings.TrimSuffix(asked, ".") == name {
			return addrs, time.Hour, nil
		}
		return nil, 0, &net.DNSError{Err: "no such host", Name: asked, IsNotFound: true}
	}
}

// What reaches Fetch in another notation goes to the system's resolver, which reads it as it likes; the guard sees what came of it.
func TestGuardLooksAtWhatAResolverMakesOfAName(t *testing.T) {
	t.Parallel()
	port, came := trap(t)
	for _, address := range []string{"127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "10.1.2.3"} {
		d := newGuarded(t, Config{})
		hostNames(d, "innocent.example", address)
		wantRefused(t, d, &Request{URL: "http://innocent.example:" + port + "/"})
		wantRefused(t, d, &Request{URL: "https://innocent.example:" + port + "/"})
	}
	fixed := newGuarded(t, Config{Resolve: map[string][]netip.Addr{"innocent.example": {netip.MustParseAddr("127.0.0.1")}}})
	wantRefused(t, fixed, &Request{URL: "http://innocent.example:" + port + "/"})
	if n := came.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// A name that leads to an allowed address at first and to a refused one later.
func TestGuardStopsRebinding(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		w.Header().Set("Connection", "close")
	})
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	trapPort, came := trap(t)
	d := newGuarded(t, Config{AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	var asked atomic.Int32
	d.dialer.resolver.lookup = func(context.Context, string) ([]netip.Addr, time.Duration, error) {
		if asked.Add(1) == 1 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, time.Second, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("::1")}, time.Second, nil
	}
	var later atomic.Int64
	d.dialer.resolver.now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	mustGet(t, d, "http://rebind.example:"+port+"/")
	later.Store(int64(time.Minute))
	wantRefused(t, d, &Request{URL: "http://rebind.example:" + trapPort + "/"})
	if served.Load() != 1 || came.Load() != 0 || asked.Load() != 2 {
		t.Errorf("%d served, %d came to the trap, %d lookups", served.Load(), came.Load(), asked.Load())
	}
}

func TestGuardLetsThrough(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address string
		allowed string // "" for none
		ok      bool
	}{
		{"8.8.8.8", "", true}, {"1.1.1.1", "", true}, {"172.15.255.255", "", true}, {"172.32.0.0", "", true}, {"100.63.255.255", "", true}, {"100.128.0.0", "", true},
		{"192.0.1.1", "", true}, {"198.17.255.255", "", true}, {"198.20.0.0", "", true}, {"223.255.255.255", "", true}, {"::ffff:8.8.8.8", "", true},
		{"2606:4700::1111", "", true}, {"2a00:1450::1", "", true}, {"64:ff9b::808:808", "", true},
		{"10.1.2.3", "10.1.0.0/16", true}, {"::ffff:10.1.2.3", "10.1.0.0/16", true}, {"10.2.0.1", "10.1.0.0/16", false}, {"fe80::1%eth0", "fe80::/10", true}, {"fe80::1%eth0", "", false},
		{"64:ff9b::a01:203", "10.1.0.0/16", false}, // another way to it is another address
	} {
		g := &guard{}
		if c.allowed != "" {
			g.allowed = []netip.Prefix{netip.MustParsePrefix(c.allowed)}
		}
		if err := g.check(netip.MustParseAddr(c.address)); (err == nil) != c.ok {
			t.Errorf("%s, allowed %q: %v", c.address, c.allowed, err)
		}
		if err := (&guard{off: true}).check(netip.MustParseAddr(c.address)); err != nil {
			t.Errorf("%s with the guard off: %v", c.address, err)
		}
	}
}

// One name, a refused and an allowed address: the allowed one is taken.
func TestGuardPassesOverRefusedAddresses(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("here")) })
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	d := newGuarded(t, Config{AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	hostNames(d, "mixed.example", "10.0.0.1", "::1", "127.0.0.1")
	if got := mustGet(t, d, "http://mixed.example:"+port+"/"); got != "here" {
		t.Errorf("%q", got)
	}
}

func TestPortsOfOtherServicesAreRefused(t *testing.T) {
	t.Parallel()
	d := newGuarded(t, Config{AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	for _, port := range []string{"22", "25", "110", "143", "587", "6000", "6667", "10080", "0", "65536", "-1", "x"} {
		res, err := get(t, d, "http://127.0.0.1:"+port+"/")
		wantKind(t, d, res, err, KindInvalid)
	}
	for _, u := range []string{"file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:70/", "unix:///run/x", "javascript:alert(1)", "data:,x", "//127.0.0.1/", "/x", ""} {
		res, err := get(t, d, u)
		wantKind(t, d, res, err, KindInvalid)
	}
}
