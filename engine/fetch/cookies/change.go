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
	index map[string]int // key -> place in list
	list  []Change
	added map[string]bool // keys that were not there before, whose end is nobody's business
	ended int             // removals of cookies that were not there
}

func newLedger(j *Jar) *ledger {
	return &ledger{jar: j, index: map[string]int{}, added: map[string]bool{}}
}

func (l *ledger) put(c *Cookie) {
	key := c.Key()
	if _, noted := l.index[key]; !noted && l.jar.get(c.Domain, key) == nil {
		l.added[key] = true
	}
	l.jar.store(c)
	l.note(Change{key, c})
}

// remove makes room.
func (l *ledger) remove(c *Cookie) {
	l.jar.drop(c.Key(), c.Domain)
	l.note(Change{c.Key(), nil})
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

func (l *ledger) note(c Change) {
	if at, noted := l.index[c.Key]; noted {
		l.list[at] = c
		return
	}
	l.index[c.Key] = len(l.list)
	l.list = append(l.list, c)
}

// changes leaves out what came and had to make room.
func (l *ledger) changes() []Change {
	return slices.DeleteFunc(l.list, func(c Change) bool { return c.Cookie == nil && l.added[c.Key] })
}
