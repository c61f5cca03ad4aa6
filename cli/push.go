package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const pushHelp = `A push changes what every worker of the fleet runs, within a second: no host is logged in to, nothing is restarted, no request is lost.
The spider is compiled, loaded and checked first; one with a mistake is refused with file and line. A folder pushes each of
its spiders that has changed, a module those spiders that require it. Requests that are queued already go on under the new
revision, or with --policy finish-old under the one that made them.

Exit codes: 0 pushed (with --wait: and confirmed by every host), 1 failed, 2 wrong usage or spider.

Examples:

  luacrawl push spiders/hotnews.lua --redis redis://10.0.0.5:6379/0 -m "titles without tags"
  luacrawl push spiders/ --wait                    with $LUACRAWL_REDIS set: all that has changed
  luacrawl push spiders/hotnews.lua --watch        on every save, until Ctrl-C`

func (p *program) pushCommand() *cli.Command {
	return &cli.Command{
		Name:        "push",
		Usage:       "make every worker of the fleet run a spider as it is now",
		UsageText:   "luacrawl push FILE|FOLDER [OPTION...]",
		Description: pushHelp,
		Flags: append(registryFlags(),
			&cli.StringFlag{Name: "m", Aliases: []string{"message"}, Usage: "`TEXT` for the history"},
			authorFlag(),
			&cli.StringFlag{Name: "policy", Value: string(scheduler.Adopt), Usage: "`HOW` queued requests of older revisions are finished: adopt (by the new one) or finish-old (by the one that made them)"},
			&cli.BoolFlag{Name: "replace", Usage: "even if the fleet's spider of this name comes from another file", DisableDefaultText: true},
			&cli.BoolFlag{Name: "wait", Usage: "until every host has confirmed it; fails when one cannot", DisableDefaultText: true},
			&cli.DurationFlag{Name: "wait-timeout", Value: 10 * time.Second, Usage: "how long --wait waits, as `TIME`"},
			&cli.BoolFlag{Name: "watch", Usage: "push again on every save, until Ctrl-C", DisableDefaultText: true},
			jsonFlag(),
		),
		Action: p.push,
	}
}

// pushing is how pushes are made.
type pushing struct {
	*fleet
	program *program
	author  string
	message string
	policy  scheduler.Policy
	replace bool
	wait    time.Duration // 0: do not
	json    bool
}

func (p *program) push(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("push takes one spider or folder, as in \"luacrawl push spiders/blog.lua\"")
	}
	arg := c.Args().First()
	all, err := pushables(arg)
	if err != nil {
		return err
	}
	if policy := scheduler.Policy(c.String("policy")); policy != scheduler.Adopt && policy != scheduler.FinishOld {
		return usagef("--policy %q: use %s or %s", policy, scheduler.Adopt, scheduler.FinishOld)
	}
	return p.onFleet(c, func(ctx context.Context, f *fleet) error {
		how := &pushing{
			fleet: f, program: p, author: p.author(c), message: c.String("m"), policy: scheduler.Policy(c.String("policy")),
			replace: c.Bool("replace"), json: c.Bool("json"),
		}
		if c.Bool("wait") {
			how.wait = c.Duration("wait-timeout")
		}
		err := how.all(ctx, all)
		if !c.Bool("watch") || ctx.Err() != nil {
			return err
		}
		if err != nil {
			f.logs.alarm(explain(err))
		}
		return how.watch(ctx, all)
	})
}

// all pushes some spiders; a failure of one is no reason not to push the others.
func (p *pushing) all(ctx context.Context, all []pushable) error {
	var failures []error
	results := []pushResult{} // never null in JSON
	for _, one := range all {
		r, err := p.one(ctx, one)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", one.file, err))
			continue
		}
		results = append(results, r)
	}
	if p.json {
		failures = append(failures, p.program.printJSON(results))
	}
	return errors.Join(failures...)
}

// pushResult is what became of a push.
type pushResult struct {
	Spider   string `json:"spider"`
	Revision string `json:"revision"`
	Before   string `json:"before,omitempty"`
	Version  int64  `json:"version"`
	Changed  bool   `json:"changed"`
	Sent     int    `json:"bytes_sent"`
}

// one pushes one spider: the revision first, then the pointer to it, which must still be what it was.
func (p *pushing) one(ctx context.Context, one pushable) (pushResult, error) {
	r := one.revision
	r.Author, r.Message, r.Time, r.Tool = p.author, p.message, time.Now().UTC(), readVersion().Version
	was, err := p.RegistryEntry(ctx, r.Spider)
	damaged := (*scheduler.DamagedEntryError)(nil)
	if errors.As(err, &damaged) { // it is mended
		was.Version = damaged.Version
	} else if err != nil && !errors.Is(err, scheduler.ErrNoEntry) {
		return pushResult{}, err
	}
	if was.Main != "" && was.Main != r.Main && !p.replace {
		return pushResult{}, usagef("the fleet's spider %s comes from a file %s, not %s; if it is to come from this one, give --replace", r.Spider, was.Main, r.Main)
	}
	result := pushResult{Spider: r.Spider, Revision: r.ID, Before: was.Revision, Version: was.Version}
	if result.Sent, err = p.PutRevision(ctx, r); err != nil { // also when it is not new: what is damaged is mended
		return result, err
	}
	if was.Revision == r.ID && was.Policy == p.policy && was.Main == r.Main {
		p.logs.notice(fmt.Sprintf("%s: unchanged, the fleet has revision %s", r.Spider, short(r.ID)))
		return result, p.confirmed(ctx, r.Spider, r.ID, was.Version)
	}
	entry := scheduler.Entry{Spider: r.Spider, Revision: r.ID, Main: r.Main, Policy: p.policy, Author: p.author, Message: p.message, Time: r.Time}
	if result.Version, err = p.Flip(ctx, entry, was.Version, "push"); err != nil {
		return result, err
	}
	result.Changed = true
	p.logs.notice(fmt.Sprintf("%s: pushed revision %s%s", r.Spider, short(r.ID), after(was, r.Spider, p.state(ctx, was, r.Spider))))
	return result, p.confirmed(ctx, r.Spider, r.ID, result.Version)
}

// state is the spider's after a push: one that was pushed for the first time may have been stopped or paused before.
func (p *pushing) state(ctx context.Context, was scheduler.Entry, spider string) scheduler.State {
	if now, err := p.RegistryEntry(ctx, spider); err == nil {
		return now.State
	}
	return was.State
}

// after says what a push has replaced, and what a person may not expect.
func after(was scheduler.Entry, spider string, state scheduler.State) string {
	text := " after " + short(was.Revision)
	switch {
	case was.Revision == "" && was.Version == 0:
		text = ", the first"
	case was.Revision == "":
		text = " in place of a damaged entry"
	}
	if state == scheduler.Stopped || state == scheduler.Paused {
		text += fmt.Sprintf("; the spider is %s: luacrawl resume %s", state, spider)
	}
	return text
}

// confirmed waits for the hosts, if that was asked for.
func (p *pushing) confirmed(ctx context.Context, spider, revision string, version int64) error {
	if p.wait == 0 {
		return nil
	}
	w := &confirmation{fleet: p.fleet, spider: spider, revision: revision, version: version}
	return w.wait(ctx, p.wait)
}

// names are the spiders of some pushables, sorted.
func names(all []pushable) []string {
	var list []string
	for _, p := range all {
		list = append(list, p.revision.Spider)
	}
	slices.Sort(list)
	return list
}
