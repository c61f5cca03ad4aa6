package engine

import (
	"crypto/sha1"
	"encoding/hex"

	"luacrawl/scheduler"
)

// A site may send a crawler from a page to itself, or over others and back, to hand it a cookie: "come again with this". The filter knows the
// page by then. So redirects bring along a trail: of each page behind them its fingerprint and the cookies that it was asked for with.

const (
	trailPart = 8   // hex digits
	mostTrail = 100 // pages; a longer way round is none that browsers would go
)

// step is a page of a trail.
func step(r *scheduler.Request, cookie string) string {
	page, with := r.Fingerprint(), sha1.Sum([]byte(cookie))
	return hex.EncodeToString(page[:])[:trailPart] + hex.EncodeToString(with[:])[:trailPart]
}

// comesBack gives next, to which the page redirects, its trail. It reports whether next is a page of it that has other cookies now.
func (p *page) comesBack(next *scheduler.Request) bool {
	if !p.keepsCookies {
		return false
	}
	trail := p.req.Trail + step(p.req, p.cookie)
	next.Trail = trail[max(0, len(trail)-mostTrail*2*trailPart):]
	now, back := step(next, p.jars.header(p.jar, next.URL)), false
	for rest := next.Trail; len(rest) >= len(now); rest = rest[len(now):] {
		if rest[:len(now)] == now {
			return false
		}
		back = back || rest[:trailPart] == now[:trailPart]
	}
	return back
}
