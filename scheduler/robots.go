package scheduler

import (
	"context"
	"fmt"
	"math"
	"time"
)

// RobotsState is what a fleet knows of a host's robots.txt.
type RobotsState string

// States of a host's robots.txt.
const (
	RobotsKnown   RobotsState = "POLICY"  // Text is what KeepRobots was given
	RobotsClaimed RobotsState = "CLAIMED" // another lease is asking the host
	RobotsYours   RobotsState = "YOURS"   // the lease has the claim: its holder asks the host, and nobody else until the lease ends
	RobotsLate    RobotsState = "LATE"    // the lease is no longer held
)

// Robots is the answer to LookRobots.
type Robots struct {
	State     RobotsState
	Text      string        // a policy; with a claim the URL to go on with, "" for the host's own robots.txt
	Redirects int           // behind that URL
	Keep      time.Duration // how long a policy holds; how long another lease has been asking
	Delay     time.Duration // of the lease's slot, as it is in effect
}

// LookRobots asks what is known of a host's robots.txt. host names it, and the crawler that the policy is for. With nothing known, or
// nothing fresh, the lease gets the claim to ask the host. again says that the policy that is there cannot be read.
func (f *Frontier) LookRobots(ctx context.Context, lease Lease, host string, again bool) (Robots, error) {
	r, err := f.runRobots(ctx, robotsLookScript, host, redisID(lease.ID), lease.Slot, f.cfg.Delay.Milliseconds(), flag(again), f.cfg.Throttling.start())
	if err != nil {
		return Robots{}, fmt.Errorf("looking for the robots.txt of %s: %w", host, err)
	}
	known := Robots{State: RobotsState(r.text(0)), Keep: milliseconds(r.num(1)), Redirects: int(r.num(2)), Text: r.text(3), Delay: milliseconds(r.num(4))}
	return known, r.err
}

// RobotsAnswer is what the holder of a claim has found out.
type RobotsAnswer struct {
	Text       string        // the policy, or the URL that a redirect leads to
	Redirects  int           // more than 0: Text is a URL; whoever has a page of the host next goes on there
	Keep       time.Duration // from now on
	CrawlDelay time.Duration // the slot's delay becomes at least this
}

// KeepRobots stores an answer for the fleet and ends the claim. Without the claim it stores nothing. delay is that of the lease's slot from now on.
func (f *Frontier) KeepRobots(ctx context.Context, lease Lease, host string, a RobotsAnswer) (delay time.Duration, err error) {
	kind := "P"
	if a.Redirects > 0 {
		kind = "H"
	}
	crawlDelay := int64(math.Ceil(float64(a.CrawlDelay) / float64(time.Millisecond)))
	r, err := f.runRobots(ctx, robotsKeepScript, host, redisID(lease.ID), kind, a.Keep.Milliseconds(), a.Redirects, a.Text,
		lease.Slot, crawlDelay, f.cfg.Delay.Milliseconds(), f.cfg.Throttling.start())
	if err != nil {
		return 0, fmt.Errorf("keeping the robots.txt of %s: %w", host, err)
	}
	delay = milliseconds(r.num(1))
	return delay, r.err
}

// runRobots calls a script that has the key of robots.txt after those of the crawl.
func (f *Frontier) runRobots(ctx context.Context, s *script, args ...any) (answer, error) {
	var v any
	err := f.client.try(ctx, func() (err error) {
		v, err = s.call(ctx, f.client.rdb, append(f.keys.list(), f.keys.robots), args...).Result()
		return err
	})
	return readAnswer(v), f.client.explain(ctx, f.keys, err)
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
