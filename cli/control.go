package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

// control is one of the commands that put spiders into another state in the whole fleet.
type control struct {
	name  string
	state scheduler.State
	usage string
	means string // what a person has to know once it is done
	back  string // how it is undone, "" when there is no need to say
}

var controls = []control{
	{"pause", scheduler.Paused, "stop starting requests, in the whole fleet",
		"no host starts a request from its next lease on; what is in flight is finished", "luacrawl resume"},
	{"resume", scheduler.Running, "let paused, draining or stopped spiders run again, in the whole fleet",
		"every host that runs it leases again within a second", ""},
	{"drain", scheduler.Draining, "take in no more seeds and finish what is pending, in the whole fleet",
		"no host takes in a seed from its next lease on; what is pending is finished", "luacrawl resume"},
	{"stop", scheduler.Stopped, "end spiders on every host; queue and filter stay",
		"every host hands back what it has not begun, ends what runs, and leases nothing; queue, filter and items stay", "luacrawl resume"},
}

const controlHelp = `It holds for all hosts at once, workers and runs alike, and for those that come later: the state is kept in Redis and every lease reads it.

Examples:

  luacrawl %[1]s blog
  luacrawl %[1]s blog shop --redis redis://10.0.0.5:6379/0
  luacrawl %[1]s --all --json`

func (p *program) controlCommands() []*cli.Command {
	commands := make([]*cli.Command, len(controls))
	for i, to := range controls {
		commands[i] = &cli.Command{
			Name:        to.name,
			Usage:       to.usage,
			UsageText:   fmt.Sprintf("luacrawl %s SPIDER|FILE... [OPTION...]", to.name),
			ArgsUsage:   spidersOrFiles,
			Description: fmt.Sprintf(controlHelp, to.name),
			Flags:       targetFlags(allFlag(), authorFlag(), jsonFlag()),
			Action: func(c *cli.Context) error {
				if err := someSpiders(c); err != nil {
					return err
				}
				return p.onSpiders(c, where.change, func(ctx context.Context, redis *place, l *logs, fleets []scheduler.Fleet) error {
					return p.control(ctx, c, redis, l, fleets, to)
				})
			},
		}
	}
	return commands
}

// controlled is a change of state as --json prints it.
type controlled struct {
	Spider   string          `json:"spider"`
	Before   scheduler.State `json:"before"`
	State    scheduler.State `json:"state"`
	Version  int64           `json:"version"` // of the change; 0 when there was none to make
	Pending  int64           `json:"pending"`
	InFlight int64           `json:"in_flight"`
	Workers  int             `json:"workers"` // alive on the crawl
}

func (p *program) control(ctx context.Context, c *cli.Context, redis *place, l *logs, fleets []scheduler.Fleet, to control) error {
	asJSON := c.Bool("json")
	done := make([]controlled, 0, len(fleets))
	for _, f := range fleets {
		one, err := putInto(ctx, redis.client, f, to.state, p.author(c))
		if err != nil {
			return err
		}
		done = append(done, one)
		if !asJSON {
			l.notice(to.tell(one))
		}
	}
	if asJSON {
		return p.printJSON(done)
	}
	if len(done) == 0 {
		l.notice("no spider has run on " + redis.String() + " or was pushed there")
	}
	return nil
}

// putInto changes the state of one spider, unless it has it.
func putInto(ctx context.Context, client *scheduler.Client, f scheduler.Fleet, to scheduler.State, author string) (controlled, error) {
	view, err := client.Observe().Look(ctx, []string{f.Spider}, "")
	if err != nil {
		return controlled{}, err
	}
	s := view.Spiders[0]
	if s.Err != nil {
		return controlled{}, s.Err
	}
	one := controlled{Spider: f.Spider, Before: s.State(), State: to, Pending: s.Pending + s.Delayed, InFlight: s.InFlight, Workers: len(s.Workers)}
	agreed := s.Entry == nil || s.Entry.State == s.Control.State
	if one.Before == to && agreed {
		return one, nil
	}
	one.Version, err = client.SetControl(ctx, f.Spider, f.Keys, scheduler.Change{State: to, Author: author})
	return one, err
}

// tell is what a person reads once it is done.
func (to control) tell(c controlled) string {
	if c.Version == 0 {
		return fmt.Sprintf("%s: it is %s already", c.Spider, c.State)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s -> %s: %s\n  %s pending, %s in flight, %s on it", c.Spider, c.Before, c.State, to.means,
		thousands(c.Pending), thousands(c.InFlight), plural(c.Workers, "worker"))
	if to.back != "" {
		fmt.Fprintf(&b, "; \"%s %s\" undoes it", to.back, c.Spider)
	}
	return b.String()
}
