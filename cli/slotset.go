package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

const slotSetHelp = `What is set so holds for the site in the whole fleet from the next lease on, before what the spider's file says (download_slots) and before the
settings for all sites; NAME= without a value takes it back. It is kept when the queue is flushed. A crawl-delay of robots.txt that is longer
is kept all the same.

  delay            seconds between two starts, or 500ms, 2m
  concurrency      requests in flight
  randomize_delay  true: each delay is up to half as much again

Examples:

  luacrawl slots set blog www.example.com delay=2 concurrency=1
  luacrawl slots set blog www.example.com:8080 randomize_delay=true --redis redis://10.0.0.5:6379/0
  luacrawl slots set blog www.example.com delay=`

func (p *program) slotSetCommand() *cli.Command {
	return &cli.Command{
		Name: "set", Usage: "set delay and concurrency of one site in the whole fleet while it runs", ArgsUsage: spiderOrFile,
		UsageText:   "luacrawl slots set [SPIDER|FILE] SITE NAME=VALUE... [OPTION...]",
		Description: slotSetHelp,
		Flags:       targetFlags(authorFlag(), jsonFlag()),
		Action: func(c *cli.Context) error {
			values, err := pairs("slots set", slices.DeleteFunc(c.Args().Slice(), func(arg string) bool { return !strings.Contains(arg, "=") }))
			if err != nil {
				return err
			}
			if len(values) == 0 {
				return usagef("slots set takes a site and what is to hold for it: luacrawl slots set SPIDER www.example.com delay=2")
			}
			return p.changeSlot(c, values)
		},
	}
}

func (p *program) slotUnsetCommand() *cli.Command {
	return &cli.Command{
		Name: "unset", Usage: "take back what was set for one site", ArgsUsage: spiderOrFile,
		UsageText:   "luacrawl slots unset [SPIDER|FILE] SITE [OPTION...]",
		Description: "What the spider's file says holds again, and else the settings for all sites.\n\nExample:\n\n  luacrawl slots unset blog www.example.com",
		Flags:       targetFlags(authorFlag(), jsonFlag()),
		Action: func(c *cli.Context) error {
			for _, arg := range c.Args().Slice() {
				if strings.Contains(arg, "=") {
					return usagef("slots unset %s: it takes back all that is set for a site; \"luacrawl slots set SPIDER SITE %s=\" takes back one thing",
						arg, strings.SplitN(arg, "=", 2)[0])
				}
			}
			values := map[string]string{}
			for _, name := range engine.SlotOptions() {
				values[name] = ""
			}
			return p.changeSlot(c, values)
		},
	}
}

// changeSlot puts values of a site into effect: all of them or, when one is wrong, none.
func (p *program) changeSlot(c *cli.Context, values map[string]string) error {
	change := scheduler.SlotChange{Values: values, Author: p.author(c)}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := checkSlotValue(&change.Rule, name, values[name]); err != nil {
			return usagef("%s: %w", commandPath(c), err)
		}
	}
	spider, site, err := slotArguments(c)
	if err != nil {
		return err
	}
	return p.onSpider(c, where.change, spider, func(ctx context.Context, t *target) (err error) {
		if change.Slot, err = t.slotOf(site); err != nil {
			return err
		}
		done, err := t.client.SetSlot(ctx, t.Spider, t.Keys, change)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			view, err := t.client.Slot(ctx, t.Spider, t.Keys, change.Slot)
			if err != nil {
				return err
			}
			return p.printJSON(shownSlot(view.First[0], view.Time))
		}
		t.tellSlot(change, done)
		return nil
	})
}

// checkSlotValue takes one value in; "" takes it back, whatever it is.
func checkSlotValue(r *scheduler.SlotRule, name, value string) error {
	if value == "" && slices.Contains(engine.SlotOptions(), name) {
		return nil
	}
	return engine.SetSlotOption(r, name, value)
}

// slotArguments are the spider, "" for the only one, and the site.
func slotArguments(c *cli.Context) (spider, site string, err error) {
	words := slices.DeleteFunc(c.Args().Slice(), func(arg string) bool { return strings.Contains(arg, "=") })
	switch len(words) {
	case 1:
		return "", words[0], nil
	case 2:
		return words[0], words[1], nil
	}
	return "", "", usagef("%s takes a spider and one site. See \"luacrawl %s --help\"", commandPath(c), commandPath(c))
}

func (t *target) tellSlot(change scheduler.SlotChange, done scheduler.SlotChanged) {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(change.Values)) {
		if value := change.Values[name]; value != "" {
			parts = append(parts, name+"="+value)
		}
	}
	text := strings.Join(parts, " ") + " for all hosts as one crawler, from the next lease on"
	switch {
	case len(parts) == 0 && !done.Changed:
		text = "nothing was set for it"
	case len(parts) == 0:
		text = "taken back: the spider's own holds again"
	case !done.Changed:
		text = "it is set so already"
	}
	site := change.Slot
	t.logs.notice(fmt.Sprintf("%s: %s: %s", t.Spider, site, text))
	if d := change.Rule.Delay; d != nil && done.Robots > *d {
		t.logs.notice(fmt.Sprintf("  its robots.txt asks for a crawl-delay of %s, which is kept", done.Robots.Round(time.Millisecond)))
	}
	if len(parts) > 0 && !done.Known {
		t.logs.notice(fmt.Sprintf("  no request of %s waits; slots of %s are %s", site, t.Spider, slotKind(t.Partition)))
	}
}

// slotKind says how a crawl's slots are called.
func slotKind(p scheduler.Partition) string {
	switch p {
	case scheduler.PartitionDomain:
		return "registrable domains, as in example.com (partition = \"domain\")"
	case scheduler.PartitionNone:
		return "one for all sites (partition = \"none\"), which \"luacrawl set\" is for"
	}
	return "hosts, as in www.example.com or www.example.com:8080"
}
