// Package fetch downloads pages over HTTP within limits of time and size.
//
// It sits on net/http's Transport and adds what a crawler needs and net/http has not: a limit on silence, a limit on what a body
// may grow to when it is decoded, a bound on the memory of all bodies, bodies that are whole or an error, and errors sorted by
// what went wrong. It connects to public addresses only unless told otherwise, remembers what the DNS says for as long as that holds, and
// goes through proxies where asked. Redirects are not followed and cookies are not kept.
package fetch

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Config are the limits of a Downloader. The zero value of a field means its default.
type Config struct {
	Timeout        time.Duration // of a whole download; 60 s
	ConnectTimeout time.Duration // of name lookup and connect together, and again of the TLS handshake; 15 s
	HeaderTimeout  time.Duration // from the request sent to the end of the response's header; 30 s
	IdleTimeout    time.Duration // of silence within a body; 30 s
	MaxHeader      int64         // of a response's header, in bytes; 256 KB, as browsers have it
	MaxSize        int64         // of a body after decoding, in bytes, and of what comes over the wire for it; 32 MB
	Memory         *Memory       // for bodies, which several Downloaders may share; one of its own of 256 MB
	UserAgent      string        // when a request has none; "luacrawl"
	Concurrency    int           // downloads at once that connections are kept for; 16

	Header http.Header // sent with every request that has no header of the same name; canonical names
	Auth   BasicAuth

	AllowPrivate   bool                    // connect to any address; else to public ones and those of AllowAddresses
	AllowAddresses []netip.Prefix          // that may be connected to though they are not public
	Resolve        map[string][]netip.Addr // addresses of names (lower case, no dot at the end) that the DNS is not asked for
	Lookup         Lookup                  // asks for the addresses of other names; nil is the system's DNS

	Proxies          []*url.URL                              // of ParseProxy; taken in turn, one that fails rests for a growing time
	EnvironmentProxy func(target *url.URL) (*url.URL, error) // asked when there are no Proxies; httpproxy.Config.ProxyFunc. nil is none
}

func (c Config) withDefaults() Config {
	return Config{
		Timeout:        cmp.Or(max(c.Timeout, 0), 60*time.Second),
		ConnectTimeout: cmp.Or(max(c.ConnectTimeout, 0), 15*time.Second),
		HeaderTimeout:  cmp.Or(max(c.HeaderTimeout, 0), 30*time.Second),
		IdleTimeout:    cmp.Or(max(c.IdleTimeout, 0), 30*time.Second),
		MaxHeader:      cmp.Or(max(c.MaxHeader, 0), 256<<10),
		MaxSize:        cmp.Or(max(c.MaxSize, 0), 32<<20),
		Memory:         cmp.Or(c.Memory, NewMemory(0)),
		UserAgent:      cmp.Or(c.UserAgent, "luacrawl"),
		Concurrency:    cmp.Or(max(c.Concurrency, 0), 16),

		Header: c.Header, Auth: c.Auth,
		AllowPrivate: c.AllowPrivate, AllowAddresses: c.AllowAddresses, Resolve: c.Resolve, Lookup: c.Lookup,
		Proxies: c.Proxies, EnvironmentProxy: c.EnvironmentProxy,
	}
}

// Downloader fetches pages. It is safe for concurrent use.
type Downloader struct {
	cfg       Config
	transport *http.Transport
	dialer    *dialer
	guard     *guard
	proxies   *rotation   // nil without Config.Proxies
	defaults  http.Header // sent as it is with requests that have no header of their own; never written to
	memory    *Memory
}

// New makes a Downloader.
func New(cfg Config) *Downloader {
	cfg = cfg.withDefaults()
	if cfg.Lookup == nil {
		cfg.Lookup = newStub().lookup
	}
	guard := &guard{off: cfg.AllowPrivate, allowed: cfg.AllowAddresses}
	dialer := newDialer(guard, newResolver(cfg.Resolve, cfg.ConnectTimeout, cfg.Lookup), cfg.ConnectTimeout)
	return &Downloader{
		cfg:      cfg,
		dialer:   dialer,
		guard:    guard,
		proxies:  newRotation(cfg.Proxies),
		defaults: defaultHeader(cfg),
		memory:   cfg.Memory,
		transport: &http.Transport{
			DialContext:            dialer.dial,
			Proxy:                  proxyOf,
			OnProxyConnectResponse: checkTunnel,
			TLSHandshakeTimeout:    cfg.ConnectTimeout,
			ResponseHeaderTimeout:  cfg.HeaderTimeout,
			ExpectContinueTimeout:  time.Second,
			MaxResponseHeaderBytes: cfg.MaxHeader,
			DisableCompression:     true, // decode.go undoes more encodings, and within MaxSize
			ForceAttemptHTTP2:      true, // which a DialContext of our own turns off otherwise
			HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second},
			MaxIdleConns:           max(4*cfg.Concurrency, 128),
			MaxIdleConnsPerHost:    cfg.Concurrency,
			IdleConnTimeout:        30 * time.Second,
		},
	}
}

// proxyOf is http.Transport's Proxy.
func proxyOf(r *http.Request) (*url.URL, error) {
	if w, ok := r.Context().Value(watchKey{}).(*watch); ok && w.via != nil {
		return w.via.proxy, nil
	}
	return nil, nil
}

// Fetch downloads one page, whole. Every error is an *Error. The caller releases the response, and does so without waiting
// for other downloads: they may be waiting for the memory.
func (d *Downloader) Fetch(ctx context.Context, r *Request) (*Response, error) {
	req, watch, err := d.newRequest(ctx, r, d.cfg.Timeout)
	if err != nil {
		return nil, invalid(err)
	}
	defer watch.stop()
	start := time.Now()
	res, err := d.roundTrip(watch, req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() // before its end this closes the connection, after it nothing
	out := &Response{
		Status:        res.StatusCode,
		Header:        res.Header,
		Latency:       time.Since(start),
		BytesSent:     requestSize(req),
		BytesReceived: headSize(res),
	}
	if err := d.readBody(watch, res, out, r.Most); err != nil {
		out.Release()
		return nil, classify(watch, err)
	}
	return out, nil
}

// roundTrip sends the request and waits for the response's header. Its error is an *Error.
func (d *Downloader) roundTrip(watch *watch, req *http.Request) (*http.Response, error) {
	if watch.via != nil {
		return d.roundTripVia(watch.via, watch, req)
	}
	res, err := d.transport.RoundTrip(req)
	if err != nil {
		return nil, classify(watch, err)
	}
	return res, nil
}

// Close ends idle connections. Call it when all downloads have returned.
func (d *Downloader) Close() { d.transport.CloseIdleConnections() }
