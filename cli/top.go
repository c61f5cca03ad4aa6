package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"luacrawl/cli/host"
	"luacrawl/scheduler"
)

const topHelp = `Spiders with state, revision, pages a second, pending, delayed and leased requests, seeds, items, dead and errors; the processes of the fleet; of
the spider that is chosen, errors by kind and the slots that wait, and why. It asks Redis a few commands a refresh, the same whatever is pending.

Keys: up and down or tab choose a spider, p pauses or resumes it (it asks), s sorts, q quits.

Examples:

  luacrawl top --redis redis://10.0.0.5:6379/0
  luacrawl top blog shop --interval 5s
  luacrawl top --once                                      one picture as text
  luacrawl top --json | jq '.spiders[].rate'`

// Bounds of --interval.
const (
	leastInterval = 200 * time.Millisecond
	mostInterval  = time.Hour
)

func (p *program) topCommand() *cli.Command {
	return &cli.Command{
		Name:        "top",
		Usage:       "watch the fleet: spiders, hosts, rates, the slots that wait and why",
		UsageText:   "luacrawl top [SPIDER|FILE...] [OPTION...]",
		ArgsUsage:   spidersOrFiles,
		Description: topHelp,
		Flags: targetFlags(
			&cli.DurationFlag{Name: "interval", Value: time.Second, Usage: "`TIME` between two looks; with --once and --json, what rates are taken over"},
			&cli.BoolFlag{Name: "once", Usage: "print one picture as text", DisableDefaultText: true},
			authorFlag(), jsonFlag(),
		),
		Action: func(c *cli.Context) error {
			every := c.Duration("interval")
			if every < leastInterval || every > mostInterval {
				return usagef("--interval %s: it is %s to %s", every, leastInterval, mostInterval)
			}
			still := c.Bool("once") || c.Bool("json")
			if !still && !p.interactive() {
				return usagef("top draws on a terminal, and this is none: --once prints one picture as text, --json one document")
			}
			return p.onSpiders(c, where.look, func(ctx context.Context, redis *place, l *logs, fleets []scheduler.Fleet) error {
				w := &watcher{observer: redis.client.Observe(), client: redis.client, author: p.author(c), rates: map[string]*host.Rates{}}
				if c.NArg() > 0 {
					for _, f := range fleets {
						w.names = append(w.names, f.Spider)
					}
				}
				if still {
					return p.topOnce(ctx, redis, w, every, c.Bool("json"))
				}
				l.level.Set(slog.LevelError + 1) // a log line would spoil the picture, which says itself what is wrong
				return p.topLive(ctx, newTopModel(redis.String(), every, w.look(ctx), w.put(ctx)))
			})
		},
	}
}

// interactive reports whether a full-screen view can be shown and controlled.
func (p *program) interactive() bool {
	in, isIn := p.In.(*os.File)
	out, isOut := p.Out.(*os.File)
	return isIn && isOut && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd())) && p.getenv("TERM") != "dumb"
}

// topLive shows the view until a person quits or ctx ends.
func (p *program) topLive(ctx context.Context, m *topModel, more ...tea.ProgramOption) error {
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(p.In), tea.WithOutput(p.Out), tea.WithEnvironment(p.Environ), tea.WithoutSignalHandler(),
	}
	_, err := tea.NewProgram(m, append(options, more...)...).Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// topOnce takes two looks, so that there are rates, and prints the second.
func (p *program) topOnce(ctx context.Context, redis *place, w *watcher, every time.Duration, asJSON bool) error {
	m := newTopModel(redis.String(), every, nil, nil)
	for i := range 2 {
		if i > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(every):
			}
		}
		view, err := w.watch(ctx, m.chosen)
		if err != nil {
			return err
		}
		m.take(view)
	}
	if asJSON {
		return p.printJSON(topReport(m.view))
	}
	m.still = true
	m.width, m.height = cmp.Or(p.screen.columns(), 120), 1000
	_, err := io.WriteString(p.Out, m.text())
	return enough(err)
}

// watcher looks at the fleet for the view. It is used by one look at a time.
type watcher struct {
	observer *scheduler.Observer
	client   *scheduler.Client
	names    []string // of the spiders to show; none means all
	author   string
	rates    map[string]*host.Rates
}

// fleetView is what the view shows.
type fleetView struct {
	scheduler.Overview
	Rates  map[string]float64 // pages a second of a spider, over the last few seconds
	Chosen string             // whose slots are in it
}

func (w *watcher) watch(ctx context.Context, chosen string) (fleetView, error) {
	o, err := w.observer.Look(ctx, w.names, chosen)
	if err != nil {
		return fleetView{}, err
	}
	if chosen == "" && len(o.Spiders) > 0 { // the first look does not know yet whom to choose
		return w.watch(ctx, o.Spiders[0].Spider)
	}
	view := fleetView{Overview: o, Rates: map[string]float64{}, Chosen: chosen}
	for _, s := range o.Spiders {
		if s.Err != nil {
			continue
		}
		r := w.rates[s.Spider]
		if r == nil {
			r = &host.Rates{}
			w.rates[s.Spider] = r
		}
		view.Rates[s.Spider] = max(0, r.Add(o.Time, s.Stats["response_received_count"])) // a flush sets it back
	}
	return view, nil
}

// look is a look as the view's program runs it.
func (w *watcher) look(ctx context.Context) func(chosen string) tea.Cmd {
	return func(chosen string) tea.Cmd {
		return func() tea.Msg {
			view, err := w.watch(ctx, chosen)
			return lookedMsg{view, err}
		}
	}
}

// put is a change of state as the view's program runs it.
func (w *watcher) put(ctx context.Context) func(spider string, to scheduler.State) tea.Cmd {
	return func(spider string, to scheduler.State) tea.Cmd {
		return func() tea.Msg {
			_, err := w.client.SetControl(ctx, spider, scheduler.Keys{}, scheduler.Change{State: to, Author: w.author})
			if err != nil {
				return doneMsg(fmt.Sprintf("%s: %v", spider, err))
			}
			return doneMsg(fmt.Sprintf("%s: %s in the whole fleet from the next lease on", spider, to))
		}
	}
}
