package scheduler

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"luacrawl/scheduler/weburl"
)

// maxSlot is the longest slot name, in bytes.
const maxSlot = 128

// seedsSlot is where seeds wait and are leased from; its name begins like no slot of a user's.
const seedsSlot = "@seeds"

// noHost is the slot of URLs without a host.
const noHost = "-"

// slotOf returns the unit of politeness that a request belongs to.
func (p Partition) slotOf(r *Request) string {
	if r.Slot != "" {
		return slotName(r.Slot)
	}
	return p.slot(r.URL)
}

// slot returns the unit of politeness that a URL belongs to.
func (p Partition) slot(url string) string {
	var name string
	switch p {
	case PartitionNone:
		return ""
	case PartitionDomain:
		name = weburl.Domain(weburl.Hostname(url))
	default:
		name = weburl.Host(url)
	}
	return slotName(name)
}

// slotName makes a name fit to be part of a Redis key and of our records: a name that is empty, over 128 bytes, begins with @
// or holds control characters becomes its clean start + "~" + 16 hex of its SHA1.
func slotName(name string) string {
	if name == "" {
		return noHost
	}
	bad := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError })
	if bad < 0 && len(name) <= maxSlot && name[0] != '@' {
		return name
	}
	sum := sha1.Sum([]byte(name))
	start := strings.TrimLeft(name[:cut(name, bad)], "@")
	return start + "~" + hex.EncodeToString(sum[:8])
}

// cut is where the clean start of a name ends: before bad (if any), short enough for the rest, not inside a character.
func cut(name string, bad int) int {
	end := min(len(name), maxSlot-17)
	if bad >= 0 {
		end = min(end, bad)
	}
	for end > 0 && end < len(name) && !utf8.RuneStart(name[end]) {
		end--
	}
	return end
}
