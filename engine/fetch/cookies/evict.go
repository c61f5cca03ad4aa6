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

// evict removes, once a limit was passed, what is over and then what was used longest ago.
func (l *ledger) evict(now time.Time) {
	j := l.jar
	if !j.over {
		return
	}
	j.over = false
	l.expire(now)
	for _, cookies := range j.sites {
		if n := len(cookies) - MaxPerSite; n > 0 {
			for _, c := range leastUsed(cookies)[:n] {
				l.remove(c)
			}
		}
	}
	if j.count > MaxPerJar || j.size > MaxSize {
		l.shrink()
	}
}

// shrink makes the whole jar a tenth smaller than it may be, so that a full one is not sorted anew for each cookie.
func (l *ledger) shrink() {
	for _, c := range leastUsed(l.jar.all()) {
		if l.jar.count <= MaxPerJar/10*9 && l.jar.size <= MaxSize/10*9 {
			return
		}
		l.remove(c)
	}
}

func (l *ledger) expire(now time.Time) {
	for _, cookies := range l.jar.sites {
		for _, c := range cookies {
			if c.expired(now) {
				l.remove(c)
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

// leastUsed sorts by use, the longest ago first.
func leastUsed(cookies map[string]*Cookie) []*Cookie {
	list := make([]*Cookie, 0, len(cookies))
	for _, c := range cookies {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *Cookie) int {
		if c := cmp.Or(a.Used.Compare(b.Used), a.Created.Compare(b.Created)); c != 0 {
			return c
		}
		return strings.Compare(a.Key(), b.Key())
	})
	return list
}
