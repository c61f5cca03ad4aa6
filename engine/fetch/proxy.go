package fetch

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"
)

// NoProxy as a Request's Proxy means none, whatever Config says.
const NoProxy = "direct"

// ParseProxy reads a proxy's URL: its scheme is http, https, socks5 or socks5h (the last two are the same here: the proxy looks names
// up), user and password may stand in it. Errors do not show it, since it may hold a password.
func ParseProxy(raw string) (*url.URL, error) {
	want := errors.New("want a proxy's URL, as in http://user:password@proxy.example:3128 (or https, socks5, socks5h)")
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.Opaque != "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, want
	}
	u.Scheme = strings.ToLower(u.Scheme)
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
	default:
		return nil, want
	}
	u.Path, u.RawPath = "", ""
	return u, nil
}

// ProxyName is a proxy's URL without user and password, for people to read.
func ProxyName(u *url.URL) string { return u.Scheme + "://" + u.Host }

// via is the proxy of one download. A download without one has none.
type via struct {
	proxy     *url.URL
	named     bool // by the user: its own address may be private
	tunnel    bool // the target hears us, not the proxy: all but plain http through an http proxy
	turn      *turn
	connected chan struct{} // closed once there is a connection to the target
	once      sync.Once
}

// viaFor chooses the way to a target. nil is the straight one.
func (d *Downloader) viaFor(requested string, target *url.URL) (*via, error) {
	v, err := d.chooseProxy(requested, target)
	if v == nil || err != nil {
		return nil, err
	}
	if err := d.guard.checkHost(target.Hostname()); err != nil {
		return nil, err
	}
	v.tunnel = target.Scheme == "https" || strings.HasPrefix(v.proxy.Scheme, "socks")
	v.connected = make(chan struct{})
	return v, nil
}

func (d *Downloader) chooseProxy(requested string, target *url.URL) (*via, error) {
	switch {
	case requested == NoProxy:
		return nil, nil
	case requested != "":
		u, err := ParseProxy(requested)
		if err != nil {
			return nil, fmt.Errorf("proxy of the request: %w", err)
		}
		return &via{proxy: u, named: d.proxies.has(u)}, nil
	case d.proxies != nil:
		t := d.proxies.take()
		return &via{proxy: t.url, named: true, turn: t}, nil
	case d.cfg.EnvironmentProxy != nil:
		u, err := d.cfg.EnvironmentProxy(target)
		if u == nil || err != nil {
			return nil, err
		}
		return &via{proxy: u, named: true}, nil
	}
	return nil, nil
}

// How long a proxy that has failed rests: doubled for each failure in a row.
const (
	leastRest = 5 * time.Second
	mostRest  = 10 * time.Minute
)

// rotation takes proxies in turn, passing over those that rest.
type rotation struct {
	now func() time.Time

	mu   sync.Mutex
	list []*turn // the order is that of the user, the contents are guarded by mu
	next int     // guarded by mu
}

// turn is one proxy of a rotation. The rotation's mu guards what changes.
type turn struct {
	url    *url.URL
	failed int       // times in a row
	until  time.Time // of its rest
}

// newRotation is nil for no proxies.
func newRotation(proxies []*url.URL) *rotation {
	if len(proxies) == 0 {
		return nil
	}
	r := &rotation{now: time.Now}
	for _, u := range proxies {
		r.list = append(r.list, &turn{url: u})
	}
	return r
}

// has reports whether the user has named this proxy.
func (r *rotation) has(u *url.URL) bool {
	if r == nil {
		return false
	}
	for _, t := range r.list {
		if sameProxy(t.url, u) {
			return true
		}
	}
	return false
}

// sameProxy reports whether two URLs reach the same proxy in the same way.
func sameProxy(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && proxyPort(a) == proxyPort(b)
}

// proxyPort is the port, if need be that of the scheme.
func proxyPort(u *url.URL) string {
	defaults := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}
	return cmp.Or(u.Port(), defaults[u.Scheme])
}

// take is the next proxy that does not rest. When all rest it is the one whose rest ends first: waiting would only be a slower failure.
func (r *rotation) take() *turn {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, soonest := r.now(), r.list[r.next]
	for i := range r.list {
		at := (r.next + i) % len(r.list)
		t := r.list[at]
		if !t.until.After(now) {
			r.next = (at + 1) % len(r.list)
			return t
		}
		if t.until.Before(soonest.until) {
			soonest = t
		}
	}
	return soonest
}

// report says how a proxy has done. A failure of a download that began before the proxy's rest says nothing new.
func (r *rotation) report(t *turn, ok bool) {
	if t == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case ok:
		t.failed, t.until = 0, time.Time{}
	case !t.until.After(r.now()):
		t.until = r.now().Add(min(leastRest<<min(t.failed, 10), mostRest))
		t.failed++
	}
}
