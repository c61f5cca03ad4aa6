package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

const setHelp = `A setting that is set so goes before all others, on every host, until it is taken back by NAME= without a value. Those that Redis itself
keeps (download_delay, randomize_download_delay, concurrent_requests_per_domain, concurrent_requests_total,
closespider_pagecount_per_slot) hold for the whole fleet as one crawler from the next lease on. The others reach the workers within a second. Without settings it lists those that are set.
"luacrawl slots set" is for single sites.

Examples:

  luacrawl set blog download_delay=2
  luacrawl set blog log_level=debug retry_times=5 --redis redis://10.0.0.5:6379/0
  luacrawl set blog download_delay=
  luacrawl set blog --json

Can be set live: `

func (p *program) setCommand() *cli.Command {
	return &cli.Command{
		Name:        "set",
		Usage:       "change settings of a spider in the whole fleet while it runs, or list those that are",
		UsageText:   "luacrawl set SPIDER|FILE [NAME=VALUE...] [OPTION...]",
		ArgsUsage:   spiderOrFile,
		Description: setHelp + strings.Join(engine.LiveSettings(), ", "),
		Flags:       targetFlags(authorFlag(), jsonFlag()),
		Action: func(c *cli.Context) error {
			if c.NArg() < 2 {
				return p.onTarget(c, where.look, func(ctx context.Context, t *target) error { return p.listLive(ctx, t, c.Bool("json")) })
			}
			values, err := pairs("set "+c.Args().First(), c.Args().Tail())
			if err != nil {
				return err
			}
			return p.onTarget(c, where.change, func(ctx context.Context, t *target) error { return p.setLive(ctx, c, t, values) })
		},
	}
}

// setLive puts settings into effect in the whole fleet; all of them or, when one is wrong, none.
func (p *program) setLive(ctx context.Context, c *cli.Context, t *target, values map[string]string) error {
	before, err := t.client.Control(ctx, t.Spider, t.Keys)
	if err != nil {
		return err
	}
	change, err := liveChange(values, before.Live)
	if err != nil {
		return err
	}
	change.Author = p.author(c)
	if _, err := t.client.SetControl(ctx, t.Spider, t.Keys, change); err != nil {
		return err
	}
	if c.Bool("json") {
		return p.listLive(ctx, t, true)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		t.logs.notice(fmt.Sprintf("%s: %s", t.Spider, toldSetting(name, values[name], before.Live)))
	}
	return nil
}

// liveChange checks settings and makes the change of them. before are those that are set.
func liveChange(values, before map[string]string) (scheduler.Change, error) {
	settings := engine.DefaultSettings()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		if _, set := before[name]; value == "" && set {
			continue // whatever it is, it can be taken back
		}
		if value == "" {
			if err := engine.CheckLive(name, nil); err != nil {
				return scheduler.Change{}, usageError(err)
			}
			continue
		}
		if err := engine.CheckLive(name, value); err != nil {
			return scheduler.Change{}, usageError(err)
		}
		if err := settings.Apply("set", map[string]any{name: value}); err != nil {
			return scheduler.Change{}, usageError(err)
		}
	}
	return scheduler.Change{
		Live: values, Delay: settings.DownloadDelay, Concurrency: settings.ConcurrentRequestsPerDomain, Total: settings.ConcurrentRequestsTotal,
		RandomizeDelay: settings.RandomizeDownloadDelay, PagesPerSlot: settings.CloseSpiderPageCountPerSlot,
	}, nil
}

func toldSetting(name, value string, before map[string]string) string {
	was, set := before[name]
	switch {
	case value == "" && set:
		return fmt.Sprintf("%s is taken back (it was set to %s): the spider's own holds again", name, was)
	case value == "":
		return name + " was not set"
	case scheduler.KeepsLive(name):
		return fmt.Sprintf("%s=%s for all hosts as one crawler, from the next lease on", name, value)
	}
	return fmt.Sprintf("%s=%s for all hosts, within a second", name, value)
}

// liveSetting is a setting that is set live, as --json prints it.
type liveSetting struct {
	Name   string     `json:"name"`
	Value  string     `json:"value"`
	Author string     `json:"author,omitempty"`
	Time   *time.Time `json:"time,omitempty"` // when it was set; nil when the history no longer knows
}

func (p *program) listLive(ctx context.Context, t *target, asJSON bool) error {
	ctl, err := t.client.Control(ctx, t.Spider, t.Keys)
	if err != nil {
		return err
	}
	events, err := t.client.History(ctx, t.Spider)
	if err != nil {
		return err
	}
	out := p.listing(asJSON)
	for _, s := range liveSettingsOf(ctl, events) {
		if err := out.add(s, func(w io.Writer) { fmt.Fprintf(w, "%s=%s%s\n", s.Name, s.Value, by(s)) }); err != nil {
			return out.end(err)
		}
	}
	if out.n == 0 && !asJSON {
		t.logs.notice("nothing is set live for " + t.String())
	}
	return out.end(nil)
}

// liveSettingsOf are the settings that are set, by name, with who has set them last.
func liveSettingsOf(ctl scheduler.Control, events []scheduler.Event) []liveSetting {
	list := make([]liveSetting, 0, len(ctl.Live))
	for _, name := range slices.Sorted(maps.Keys(ctl.Live)) {
		s := liveSetting{Name: name, Value: ctl.Live[name]}
		for _, e := range events {
			if e.Slot == "" && e.Settings[name] == s.Value {
				s.Author, s.Time = e.Author, &e.Time
			}
		}
		list = append(list, s)
	}
	return list
}

func by(s liveSetting) string {
	if s.Time == nil {
		return ""
	}
	text := "   set " + s.Time.Format(time.RFC3339)
	if s.Author != "" {
		text += " by " + oneLine(s.Author, 64)
	}
	return text
}
