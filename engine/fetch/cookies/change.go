package cookies

import (
	"slices"
	"strings"
)

// Change is one cookie that was set, or is gone. Written as one field of a hash each, the changes of several workers do not undo
// each other: of two that set the same cookie the later one stays, as with two tabs of a browser.
type Change struct {
	Key    string  // names the cookie in the jar: the field of the hash
	Cookie *Cookie // nil: the field is to be deleted

	// Plain: the change came over http. Where others keep cookies that this jar does not know yet, it must neither replace, remove nor hide a
	// Secure one.
	Plain bool
	// Yields: the change notes only that the cookie was sent, or that it had to make room for others. It must not undo what others have made of
	// the cookie meanwhile.
	Yields bool
}

// Apply takes the changes of another worker. It checks no limits: the worker that made the changes did.
func (j *Jar) Apply(changes []Change) {
	for _, c := range changes {
		if c.Cookie != nil {
			j.store(c.Cookie)
			continue
		}
		domain, _, _ := strings.Cut(c.Key, ";")
		j.drop(c.Key, strings.TrimPrefix(domain, "."))
	}
}

// ledger changes a jar and remembers what it has changed, and what it was told, each cookie once.
type ledger struct {
	jar   *Jar
	plain bool
	index map[string]int // key -> place in list
	list  []Change
	added map[string]bool // keys that were not there before, whose end is nobody's business
	ended int             // removals of cookies that were not there
}

// newLedger begins the changes of one call; plain says that those which concern no Secure cookie are Plain.
func newLedger(j *Jar, plain bool) *ledger {
	return &ledger{jar: j, plain: plain, index: map[string]int{}, added: map[string]bool{}}
}

func (l *ledger) put(c *Cookie) {
	key := c.Key()
	if _, noted := l.index[key]; !noted && l.jar.get(c.Domain, key) == nil {
		l.added[key] = true
	}
	l.jar.store(c)
	l.note(key, c, l.plain && !c.Secure)
}

// makeRoom removes what is over, or one too many. Another worker may have been told of the cookie since.
func (l *ledger) makeRoom(c *Cookie) {
	l.remove(c)
	l.list[l.index[c.Key()]].Yields = true
}

func (l *ledger) remove(c *Cookie) {
	l.jar.drop(c.Key(), c.Domain)
	l.note(c.Key(), nil, l.plain && !c.Secure)
}

// end removes what a site wants removed, of which other jars may know more than this one. A site has no more cookies than MaxPerSite anywhere.
func (l *ledger) end(c *Cookie) {
	key := c.Key()
	if _, noted := l.index[key]; l.added[key] || !noted && l.jar.get(c.Domain, key) == nil {
		l.ended++
		l.added[key] = l.ended > MaxPerSite
	}
	l.remove(c)
}

func (l *ledger) note(key string, c *Cookie, plain bool) {
	at, noted := l.index[key]
	if !noted {
		at = len(l.list)
		l.index[key] = at
		l.list = append(l.list, Change{})
	}
	l.list[at] = Change{Key: key, Cookie: c, Plain: plain}
}

// changes leaves out what came and had to make room.
func (l *ledger) changes() []Change {
	return slices.DeleteFunc(l.list, func(c Change) bool { return c.Cookie == nil && l.added[c.Key] })
}
