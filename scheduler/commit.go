package scheduler

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of one commit, so that no single script call holds Redis for long.
const (
	maxOutcomes = 64
	maxChildren = 2000
	maxBytes    = 1 << 20
	maxValues   = 5000    // of one outcome: above this its children go ahead in chunks
	chunkSize   = 1000    // children in such a chunk
	hugeOutcome = 500_000 // values that no commit carries: Redis takes a million arguments at most
)

// commit is the commit script's arguments being built from outcomes.
type commit struct {
	args     []any
	parts    []part
	counters map[string]int64 // of all parts
	cookies  []any            // of all parts
	children int
	bytes    int
}

// part is what a commit carries of one outcome: all that is left of it, or a chunk of its children.
type part struct {
	outcome  int // index
	final    bool
	upto     int       // a chunk: children before this one need not be sent again
	sent     []int     // children, in the order of the arguments
	filtered []int     // children that the cache knows
	counters []counter // a name may come twice
	args     []any
	cookies  []CookieChange
	bytes    int
}

// counter is by how much an outcome raises one of S:stats.
type counter struct {
	name string
	by   int64
}

// sending is the progress of an Exchange.
type sending struct {
	outcomes []*Outcome
	upto     []int // for each outcome: the children that chunks have carried
	acked    []bool
	stored   []bool
}

func newSending(outcomes []*Outcome) *sending {
	n := len(outcomes)
	return &sending{outcomes: outcomes, upto: make([]int, n), acked: make([]bool, n), stored: make([]bool, n)}
}

func (s *sending) done() bool {
	for _, ok := range s.acked {
		if !ok {
			return false
		}
	}
	return true
}

// restart forgets chunks: Redis may have forgotten them.
func (s *sending) restart() { clear(s.upto) }

// next builds a commit from the first outcomes that are not acknowledged; rest reports that others must follow.
func (f *Frontier) next(s *sending) (c commit, rest bool) {
	c.args = make([]any, 10, 1024)
	c.args[5] = f.cfg.ItemStream
	c.counters = map[string]int64{}
	defer func() { c.seal() }()
	for i, o := range s.outcomes {
		if s.acked[i] {
			continue
		}
		p := f.part(i, o, s.upto[i])
		full := len(c.parts) >= maxOutcomes || c.children+len(p.sent) > maxChildren || c.bytes+p.bytes > maxBytes
		if len(c.parts) > 0 && (full || !p.final) {
			return c, true
		}
		c.parts = append(c.parts, p)
		c.args = append(c.args, p.args...)
		c.cookies = f.cookieArgs(c.cookies, &p, len(c.parts))
		for _, n := range p.counters {
			c.counters[n.name] += n.by
		}
		c.children += len(p.sent)
		c.bytes += p.bytes
		if !p.final {
			return c, true
		}
	}
	return c, false
}

// seal ends the arguments with the counters and the cookies of all parts.
func (c *commit) seal() {
	c.args = append(c.args, len(c.counters))
	for name, by := range c.counters {
		c.args = append(c.args, name, by)
	}
	c.args = append(c.args, c.cookies...)
}

// part filters and encodes what is left of an outcome: all of it, or a chunk of its children when that is too much for one script
// call. Children that skip the duplicate check never go ahead in a chunk: if the rest were lost, they would come twice.
func (f *Frontier) part(index int, o *Outcome, from int) part {
	p := part{outcome: index, final: true}
	if n := o.indivisible(); n > hugeOutcome {
		o = f.tooMany(o, n)
	}
	p.takeCookies(o, from)
	unsent, checked := f.unknown(&p, o, from)
	values := len(o.Items) + len(o.Dead) + 2*len(o.Stats) + 4*len(p.cookies) + 5*len(unsent)
	if checked == 0 || values <= maxValues {
		kids, letters := f.children(&p, o, unsent)
		if p.bytes <= maxBytes || checked == 0 {
			f.finishPart(&p, o, kids, letters)
			return p
		}
	}
	return f.chunk(p, o, unsent)
}

// unknown lists the children that have to be sent and counts those of them that go through the duplicate check. The cache is asked
// now, not when the outcome was made: it may have been emptied since.
func (f *Frontier) unknown(p *part, o *Outcome, from int) (unsent []int, checked int) {
	for i := range o.Children {
		child := &o.Children[i]
		switch {
		case child.forced():
		case i < from:
			continue
		case f.seen.has(child.key):
			p.filtered = append(p.filtered, i)
			continue
		default:
			checked++
		}
		unsent = append(unsent, i)
	}
	return unsent, checked
}

// chunk is the first piece of an outcome's children.
func (f *Frontier) chunk(p part, o *Outcome, unsent []int) part {
	p.final, p.sent, p.bytes = false, nil, 0
	p.takeCookies(&Outcome{Cookies: p.cookies}, 0)
	var kids []any
	var letters []DeadLetter
	for _, i := range unsent {
		if o.Children[i].forced() {
			continue
		}
		if n := len(p.sent) + len(letters); n == chunkSize || n > 0 && p.bytes > maxBytes/2 {
			break
		}
		kids, letters = f.child(&p, kids, letters, o, i)
		p.upto = i + 1
	}
	p.filtered = slices.DeleteFunc(p.filtered, func(i int) bool { return i >= p.upto })
	f.finishPart(&p, &Outcome{Lease: o.Lease}, kids, letters)
	return p
}

func (f *Frontier) children(p *part, o *Outcome, unsent []int) (kids []any, letters []DeadLetter) {
	kids = make([]any, 0, 5*len(unsent))
	for _, i := range unsent {
		kids, letters = f.child(p, kids, letters, o, i)
	}
	return kids, letters
}

// child encodes one child; one that cannot be encoded becomes a dead letter of its own.
func (f *Frontier) child(p *part, kids []any, letters []DeadLetter, o *Outcome, i int) ([]any, []DeadLetter) {
	c := &o.Children[i]
	json, err := c.encode()
	if err != nil {
		f.logger.Warn("a request could not be queued and went to dead", "url", start(c.Request.URL), "error", err)
		return kids, append(letters, DeadLetter{
			Kind: DeadRequest, Reason: ReasonTooLarge, Error: err.Error(), URL: start(c.Request.URL), Callback: c.Request.Callback, Revision: c.Request.Revision,
		})
	}
	print := c.Request.Fingerprint().String()
	if c.forced() {
		print = "!" + print
	}
	p.sent = append(p.sent, i)
	p.bytes += len(json) + 80
	return append(kids, print, f.cfg.Partition.slotOf(c.Request), f.cfg.Queue.score(c.Request), when(c), json), letters
}

// noLease is the lease of children that no lease caused.
const noLease = "/"

// OnceLease stands for a start URL, which is not leased. An outcome with it is stored unless one of the same seed was stored since the
// last flush; that is recorded in the duplicate filter.
func OnceLease(seed []byte) Lease {
	sum := sha1.Sum(append([]byte("luacrawl start\n"), seed...))
	return Lease{ID: noLease + hex.EncodeToString(sum[:]), Seed: seed}
}

// finishPart lays out the arguments as scripts/commit.lua reads them.
func (f *Frontier) finishPart(p *part, o *Outcome, kids []any, letters []DeadLetter) {
	args := make([]any, 0, 9+len(o.Items)+len(o.Dead)+2*len(o.Stats)+len(kids)+2*len(letters)+6)
	args = append(args, cmp.Or(o.Lease.ID, noLease), flag(p.final), flag(o.GivenUp()), o.hold(), o.Answer.text(o.Lease.At), len(o.Items))
	for i, item := range o.Items {
		if f.StreamsItems() {
			item = o.streamed(i)
		}
		args = append(args, item)
		p.bytes += len(item)
	}
	args = append(args, len(o.Dead)+len(letters))
	for _, d := range append(o.Dead[:len(o.Dead):len(o.Dead)], letters...) {
		b := d.encode(f.cfg.Worker, f.cfg.Revision)
		args = append(args, b)
		p.bytes += len(b)
	}
	args = append(args, p.count(o.Stats, len(letters)), len(kids)/5)
	p.args = append(args, kids...)
}

// hold is what keeps the slot from its next start, as scripts/commit.lua reads it.
func (o *Outcome) hold() string {
	if o.Hold <= 0 {
		return "0"
	}
	ms := int64(math.Ceil(float64(o.Hold) / float64(time.Millisecond)))
	return strconv.FormatInt(ms, 10) + " " + string(cmp.Or(o.HoldWhy, WaitRetryAfter))
}

// count returns the outcome's counters as scripts/commit.lua reads them when the outcome is stale, and notes them for the sums.
func (p *part) count(stats map[string]int64, tooLarge int) string {
	text := make([]byte, 0, 512)
	p.counters = make([]counter, 0, len(stats)+1)
	add := func(name string, by int64) {
		if by == 0 {
			return
		}
		p.counters = append(p.counters, counter{name, by})
		text = append(append(append(strconv.AppendInt(text, by, 10), ' '), name...), '\n')
	}
	for name, by := range stats {
		add(strings.Map(printable, name), by)
	}
	add("dupefilter/filtered", int64(len(p.filtered)))
	add("scheduler/enqueued", int64(tooLarge))
	add("scheduler/dead", int64(tooLarge))
	return string(text)
}

// printable keeps control characters, which end a counter's name in the script, out of it.
func printable(r rune) rune {
	if isControl(r) {
		return ' '
	}
	return r
}

// indivisible is how many values must ride in one commit: all but the children that the duplicate filter makes safe to repeat.
func (o *Outcome) indivisible() int {
	n := len(o.Items) + len(o.Dead) + 2*len(o.Stats) + 4*len(o.Cookies)
	for i := range o.Children {
		if o.Children[i].forced() {
			n += 5
		}
	}
	return n
}

// tooMany is what becomes of an outcome that no commit can carry.
func (f *Frontier) tooMany(o *Outcome, n int) *Outcome {
	d := DeadLetter{Kind: DeadRequest, Reason: ReasonTooLarge, Attempts: o.Lease.Attempts,
		Error: fmt.Sprintf("one page gave %d values; at most %d fit in a commit", n, hugeOutcome)}
	if o.Lease.Seed != nil {
		d.Kind = DeadSeed
	}
	d.Describe(o.Lease)
	return &Outcome{Lease: o.Lease, Dead: []DeadLetter{d}, Cookies: o.Cookies}
}

// when is a child's start as scripts/commit.lua reads it.
func when(c *Child) string {
	var s string
	if c.Delay > 0 {
		s = strconv.FormatInt(int64(math.Ceil(float64(c.Delay)/float64(time.Millisecond))), 10)
	}
	if t := c.Request.NotBefore; !t.IsZero() && t.UnixMilli() > 0 {
		s += "@" + strconv.FormatInt(t.UnixMilli(), 10)
	}
	if s == "" {
		return "0"
	}
	return s
}

// start is a piece of a URL that fits in a letter or a log line.
func start(url string) string {
	if len(url) > 2000 {
		return url[:2000] + "..."
	}
	return url
}
