package scheduler

import (
	"net/http"
	"time"
)

// Outcome is everything that one lease caused. It is committed as a whole or not at all.
type Outcome struct {
	Lease     Lease
	Items     [][]byte // flat JSON
	ItemIDs   []string // of Items, if the frontier streams them (Frontier.StreamsItems)
	Elsewhere [][]byte // items that Redis does not keep: for who made the outcome
	Children  []Child
	Dead      []DeadLetter
	Stats     map[string]int64 // counters to raise, with Scrapy's names
	Hold      time.Duration    // keep off the slot for so long; 0 means no
	HoldWhy   Wait             // WaitRetryAfter or WaitRobots: what Hold is for; "" means the first
	Answer    Answer           // the pace of the slot follows it
	Cookies   []CookieChange
}

// Child is a request that an outcome adds to the frontier.
type Child struct {
	Request *Request
	Headers func(*Request) http.Header // asked when it is sent: those in place of the request's own, or nil; nil means the request's own
	Force   bool                       // add it even if it was seen before (a retry, a handing back); it is recorded all the same
	Delay   time.Duration              // due so long after the commit, by Redis' clock

	key   seenKey
	keyed bool // key is computed
}

// Prepare does what can be done ahead of an Exchange. The goroutine that made the outcome may call it, so that the one that calls
// Exchange, which otherwise does it, is spared. Children must not change afterwards.
func (o *Outcome) Prepare() {
	for i := range o.Children {
		c := &o.Children[i]
		if !c.keyed {
			c.key, c.keyed = c.Request.seenKey(), true
		}
	}
}

// forced reports that the child is added whether it was seen or not.
func (c *Child) forced() bool { return c.Force || c.Request.DontFilter }

// GivenUp reports that the outcome carries the dead letter of its own request or seed.
func (o *Outcome) GivenUp() bool {
	for i := range o.Dead {
		if o.Dead[i].Kind != DeadItem {
			return true
		}
	}
	return false
}

// streamed is an item as scripts/commit.lua takes it for a stream: with its id.
func (o *Outcome) streamed(i int) []byte {
	var id string
	if i < len(o.ItemIDs) {
		id = o.ItemIDs[i]
	}
	return append(append([]byte(id), '\n'), o.Items[i]...)
}

// encode is the wire form of the request with the child's headers.
func (c *Child) encode() ([]byte, error) {
	if c.Headers == nil {
		return c.Request.Encode()
	}
	headers := c.Headers(c.Request)
	if headers == nil {
		return c.Request.Encode()
	}
	own := *c.Request
	own.Headers = headers
	return own.Encode()
}
