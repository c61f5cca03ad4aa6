package cookies

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Limits of a jar. What browsers keep of one site is what sites count on; the rest keeps a hostile one from filling Redis.
const (
	MaxPerSite = 180       // cookies of one registrable domain
	MaxPerJar  = 3000      // cookies
	MaxSize    = 256 << 10 // bytes of names, values, domains and paths, and 64 a cookie
)

// evict removes, once a limit was passed, what is over and then what was used longest ago. Of one site Secure cookies go last, and an answer over
// http makes room for its own among those that are not Secure: it must not be able to flood the others out (RFC 6265bis, 5.7).
func (l *ledger) evict(now time.Time) {
	j := l.jar
	if !j.over {
		return
	}
	j.over = false
	l.expire(now)
	for _, cookies := range j.sites {
		if n := len(cookies) - MaxPerSite; n > 0 {
			for _, c := range leastUsed(cookies, true)[:n] {
				l.makeRoom(c)
			}
		}
	}
	if j.count > MaxPerJar || j.size > MaxSize {
		l.shrink()
	}
}

// shrink makes the whole jar a tenth smaller than it may be, so that a full one is not sorted anew for each cookie.
func (l *ledger) shrink() {
	for _, c := range leastUsed(l.jar.all(), l.plain) {
		enough := 9
		if l.plain && c.Secure {
			enough = 10
		}
		if 10*l.jar.count <= MaxPerJar*enough && 10*l.jar.size <= MaxSize*enough {
			return
		}
		l.makeRoom(c)
	}
}

func (l *ledger) expire(now time.Time) {
	for _, cookies := range l.jar.sites {
		for _, c := range cookies {
			if c.expired(now) {
				l.makeRoom(c)
			}
		}
	}
}

func (j *Jar) all() map[string]*Cookie {
	all := make(map[string]*Cookie, j.count)
	for _, cookies := range j.sites {
		for key, c := range cookies {
			all[key] = c
		}
	}
	return all
}

// leastUsed sorts by use, the longest ago first; with secureLast the Secure ones after the others.
func leastUsed(cookies map[string]*Cookie, secureLast bool) []*Cookie {
	list := make([]*Cookie, 0, len(cookies))
	for _, c := range cookies {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *Cookie) int {
		if secureLast && a.Secure != b.Secure {
			if b.Secure {
				return -1
			}
			return 1
		}
		if c := cmp.Or(a.Used.Compare(b.Used), a.Created.Compare(b.Created)); c != 0 {
			return c
		}
		return strings.Compare(a.Key(), b.Key())
	})
	return list
}
