package scheduler

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Exchanged is the answer to an Exchange.
type Exchanged struct {
	Stored   []bool // for each outcome: false means that its lease had expired and nothing of it was stored
	Leases   []Lease
	Wait     time.Duration // with fewer leases than asked for: when to ask again
	Refilled int           // seeds that were taken in
	Seeds    error         // why seeds were asked for and cannot be taken in (ErrWrongType); all else was done
	Paused   bool
	State    State // with the answer to a lease; else ""
	Cookies  bool  // with the answer to a lease: NewCookies has something to tell, which the leased pages may need
	Control  int64 // version of the crawl's Control, with the answer to a lease
	Pending  int64
	Filtered int       // children that were duplicates
	Now      time.Time // Redis' clock when it leased
	Spent    []string  // slots that have had all their pages (Config.PagesPerSlot); of each, one Exchange of the fleet tells
}

// Exchange commits outcomes and asks for up to want leases (after taking in up to seeds seeds), in one round trip where it can.
// It goes on until Redis has answered or ctx ends; it is safe whatever happens to a reply. Outcomes beyond what one
// commit may carry go out in several. At most 256 leases are handed out. With an error, Stored still holds what was answered before it.
func (f *Frontier) Exchange(ctx context.Context, outcomes []*Outcome, want, seeds int) (Exchanged, error) {
	for _, o := range outcomes {
		o.Prepare()
		f.held.remove(o.Lease.ID) // Redis hears that before the question
	}
	s := newSending(outcomes)
	x := Exchanged{Stored: s.stored}
	a := ask{want: min(want, maxLeases), seeds: seeds, nonce: nonce()}
	a.needed = a.want > 0 || seeds > 0 || len(outcomes) == 0
	for !s.done() {
		c, rest := f.next(s)
		if err := f.commit(ctx, s, &c, &x, &a, !rest); err != nil {
			f.renew() // a commit that was given up may yet have been stored: its number is used up
			return x, err
		}
	}
	if !a.needed {
		return x, nil
	}
	err := f.client.try(ctx, func() error { return f.ask(ctx, &x, &a, nil, nil) })
	if err != nil {
		return x, fmt.Errorf("asking for leases: %w", f.client.explain(ctx, f.keys, err))
	}
	return x, nil
}

// commit sends one commit until it is answered; the last of an Exchange carries its question for leases.
func (f *Frontier) commit(ctx context.Context, s *sending, c *commit, x *Exchanged, a *ask, last bool) error {
	number := f.number + 1
	c.args[0], c.args[1], c.args[2] = f.processID(), number, flag(f.cfg.Queue == QueueLIFO)
	c.args[3], c.args[4] = flag(f.cfg.DupefilterDebug || !f.reported), len(c.parts)
	c.args[6], c.args[7], c.args[8] = f.cfg.Throttling.MaxDelay.Milliseconds(), f.cfg.Throttling.aimed(), f.cfg.Throttling.start()
	c.args[9] = flag(f.cfg.ThrottleDebug)
	var r answer
	var asked error // what became of the question for leases
	err := f.client.try(ctx, func() error {
		r, asked = answer{}, nil
		if !last || !a.needed {
			return f.read(&r, commitScript.call(ctx, f.client.rdb, f.keyList, c.args...))
		}
		err := f.ask(ctx, x, a, c.args, &r)
		if r.values != nil {
			asked, err = err, nil
		}
		return err
	})
	if err == nil {
		err = f.answered(s, c, &r, x, number)
	}
	if err == nil && asked != nil && !passes(asked) && !noScript(asked) {
		err = asked
	}
	if err != nil {
		return fmt.Errorf("committing: %w", f.client.explain(ctx, f.keys, err))
	}
	return nil
}

// answered takes in the reply to a commit.
func (f *Frontier) answered(s *sending, c *commit, r *answer, x *Exchanged, number int64) error {
	kind, epoch, flags := r.text(0), r.text(2), r.text(5)
	switch kind {
	case "OK", "DUP":
	case "ROLLBACK":
		f.logger.Warn("redis has forgotten commits of this worker (restored from an older state?): starting over as a new one", "redis", f.client.name)
		f.renew()
		f.forgetCookies()
		s.restart()
		return nil
	default:
		return fmt.Errorf("redis answered %q to number %d", kind, number)
	}
	if len(flags) != len(c.parts) || r.err != nil {
		return fmt.Errorf("redis answered flags %q to %d outcomes", flags, len(c.parts))
	}
	f.number = number
	same := f.seen.observe(epoch)
	for i, p := range c.parts {
		stored := flags[i] == '1'
		if p.final || !stored {
			s.acked[p.outcome], s.stored[p.outcome] = true, stored
			delete(f.suspects, s.outcomes[p.outcome].Lease.ID)
		} else {
			s.upto[p.outcome] = p.upto
		}
		x.Filtered += len(p.filtered)
		if stored && same {
			for _, k := range p.sent {
				f.seen.add(s.outcomes[p.outcome].Children[k].key)
			}
		}
	}
	x.Paused, x.Pending = r.text(3) == "1", r.num(4)
	if kind == "OK" {
		x.Filtered += int(r.num(7))
	}
	f.logDuplicates(s, c, r.text(6))
	f.logDelays(s, c, r.texts(8))
	return nil
}

// renew makes this worker a new process to Redis, with nothing remembered.
func (f *Frontier) renew() {
	f.process++
	f.number = 0
	f.seen.clear()
}

func (f *Frontier) processID() string { return f.worker + "." + strconv.Itoa(f.process) }

// ask is a question for leases. The same nonce is asked until it is answered.
type ask struct {
	want, seeds int
	nonce       string
	needed      bool
	refilled    bool
	asked       bool // the nonce was sent before, and the reply may be lost
}

// ask sends, in one pipeline, a commit (when args are given), a refill and a lease. The lease hands out nothing unless the commit before it is
// stored, so that leases never wait for a commit that Redis refuses. r has the commit's reply, if any; the error is the first one.
func (f *Frontier) ask(ctx context.Context, x *Exchanged, a *ask, args []any, r *answer) error {
	var commit, refill, lease *redis.Cmd
	beat := f.beat()
	sent := time.Now()
	_, err := f.client.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		number := f.number
		if args != nil {
			number++
			commit = commitScript.call(ctx, p, f.keyList, args...)
		}
		if a.seeds > 0 && !a.refilled {
			refill = refillScript.call(ctx, p, f.keyList, a.seeds, f.cfg.MaxPending)
		}
		lease = leaseScript.call(ctx, p, f.keyList, a.nonce, a.want, f.cfg.Lease.Milliseconds(), f.cfg.Delay.Milliseconds(),
			f.cfg.Concurrency, f.cfg.LeaseAttempts, f.cfg.Worker, f.worker, beat.Milliseconds(), f.processID(), number, f.mayTakeSuspects(), flag(a.asked), flag(args != nil), f.cfg.Throttling.start(), f.held.len())
		return nil
	})
	a.asked = true
	if commit != nil {
		if e := f.read(r, commit); e != nil {
			return e
		}
		if kind := r.text(0); kind != "OK" && kind != "DUP" {
			return nil
		}
	}
	if refill != nil && refill.Err() == nil {
		n, _ := refill.Int()
		x.Refilled, a.refilled = n, true
	}
	if refill != nil && wrongType(refill.Err()) {
		var key *wrongTypeError
		if e := f.client.explain(ctx, f.keys, refill.Err()); !errors.As(e, &key) || key.key != f.keys.startURLs {
			return e // not of the seeds alone
		}
		x.Seeds, a.refilled, err = key, true, nil
	}
	var l answer
	if e := f.read(&l, lease); e != nil {
		return e
	}
	if beat > 0 {
		f.beaten = time.Now()
	}
	if refill != nil && !a.refilled {
		err = refill.Err()
	}
	if e := f.leased(x, &l, sent); e != nil {
		return e
	}
	a.needed = err != nil && len(x.Leases) == 0
	if !a.needed {
		return nil
	}
	return err
}

// mayTakeSuspects is how many requests that may be deadly the worker takes now: one at a time, so that those which are not
// survive those which are.
func (f *Frontier) mayTakeSuspects() int { return max(0, 1-len(f.suspects)) }

// beat is the heartbeat to send with a lease: none when the last one is recent.
func (f *Frontier) beat() time.Duration {
	if time.Since(f.beaten) < f.heartbeat()/8 {
		return 0
	}
	return f.heartbeat()
}

func (f *Frontier) read(into *answer, cmd *redis.Cmd) error {
	v, err := cmd.Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	*into = readAnswer(v)
	return nil
}

// leased takes in the reply to a lease that was asked for at a time.
func (f *Frontier) leased(x *Exchanged, r *answer, asked time.Time) error {
	x.Wait = time.Duration(r.num(0)) * time.Millisecond
	x.Now = time.UnixMilli(r.num(1))
	f.seen.observe(r.text(2))
	control, spent, told := strings.Cut(r.text(3), "\n")
	if told {
		x.Spent = strings.Split(spent, "\n")
	}
	state, versions, _ := strings.Cut(control, " ")
	version, cookies, _ := strings.Cut(versions, " ")
	x.State, x.Pending = readState(state), r.num(4)
	x.Paused = x.State == Paused
	x.Control, _ = strconv.ParseInt(version, 10, 64)
	change, _ := strconv.ParseInt(cookies, 10, 64)
	x.Cookies = change != f.cookies.number
	for i := 5; i+2 < len(r.values); i += 3 {
		l := newLease(r.text(i), r.text(i+1), r.text(i+2))
		l.At, l.Asked = x.Now, asked
		if l.Attempts >= f.cfg.suspicious() {
			f.suspects[l.ID] = true
		}
		f.held.add(l)
		x.Leases = append(x.Leases, l)
	}
	if r.err != nil {
		return fmt.Errorf("leasing: %w", r.err)
	}
	return nil
}

// logDuplicates logs children that were not added: all with DupefilterDebug, else the first.
func (f *Frontier) logDuplicates(s *sending, c *commit, added string) {
	if f.reported && !f.cfg.DupefilterDebug {
		return
	}
	at := 0
	for _, p := range c.parts {
		children := s.outcomes[p.outcome].Children
		for _, i := range p.filtered {
			f.logDuplicate(&children[i])
		}
		for _, i := range p.sent {
			if at < len(added) && added[at] == '0' {
				f.logDuplicate(&children[i])
			}
			at++
		}
	}
}

func (f *Frontier) logDuplicate(c *Child) {
	switch {
	case f.cfg.DupefilterDebug:
		f.logger.Info("filtered duplicate request", "url", start(c.Request.URL))
	case !f.reported:
		f.logger.Info("filtered duplicate request; no more will be shown (set dupefilter_debug to see all)", "url", start(c.Request.URL))
	}
	f.reported = true
}
