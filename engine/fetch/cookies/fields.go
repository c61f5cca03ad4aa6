package cookies

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Fields gives the jar as the fields of a hash: Key and Encode of each cookie.
func (j *Jar) Fields() map[string]string {
	fields := make(map[string]string, j.count)
	for key, c := range j.all() {
		fields[key] = c.Encode()
	}
	return fields
}

// FromFields makes a jar of the fields of a hash. What cannot be read is left out, with an error that names its field; changes has
// the deletions that bring the hash in order: those fields, cookies that are over, and what several workers have together put in
// beyond the limits.
func FromFields(fields map[string]string, now time.Time) (j *Jar, changes []Change, unread []error) {
	j = New()
	l := newLedger(j)
	for key, data := range fields {
		c, err := Decode(data)
		if err == nil && c.Key() != key {
			err = fmt.Errorf("the cookie's key is %.80q", c.Key())
		}
		if err != nil {
			unread = append(unread, fmt.Errorf("field %.80q of a cookie jar: %w", key, err))
			l.note(Change{Key: key})
			continue
		}
		j.store(c)
	}
	l.expire(now)
	l.evict(now)
	changes = l.changes()
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Key, b.Key) })
	return j, changes, unread
}
