package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const statusHelp = `A crawl balances when enqueued = pending + delayed + in flight + done + dead: no request is lost. Without a
spider it shows all that have run on this Redis. Without --redis it asks the luacrawl that runs in the folder, else
the snapshot there.

Examples:

  luacrawl status
  luacrawl status blog --redis redis://10.0.0.5:6379/0
  luacrawl status spiders/blog.lua --json

What people have told a spider (pause, drain, stop, set) stands beside it; "stopped" without such a word means that work is left and nobody is on it.`

func (p *program) statusCommand() *cli.Command {
	return &cli.Command{
		Name:        "status",
		Usage:       "show how far a crawl is",
		UsageText:   "luacrawl status [SPIDER|FILE] [OPTION...]",
		ArgsUsage:   spiderOrFile,
		Description: statusHelp,
		Flags:       slices.Concat(placeFlags(), spiderFlags(), []cli.Flag{jsonFlag()}),
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usagef("status takes one spider, or none for all")
			}
			l, err := newLogs(p.screen, c)
			if err != nil {
				return err
			}
			return p.status(c, l)
		},
	}
}

func (p *program) status(c *cli.Context, l *logs) (err error) {
	name, keys, err := p.named(c, l)
	if err != nil {
		return err
	}
	stop := p.interruptible(l)
	defer stop.end()
	redis, err := p.where(c).look(stop.ctx, l)
	if err != nil {
		return stop.verdict(err, l)
	}
	defer func() { err = stop.verdict(errors.Join(err, redis.close()), l) }()
	all, err := statuses(stop.ctx, redis, name, keys)
	if err != nil {
		return err
	}
	workers, err := redis.client.Workers(stop.ctx)
	if err != nil {
		return err
	}
	waits := sinksDown(workers)
	if c.Bool("json") {
		return p.printJSON(reports(all, waits))
	}
	if len(all) == 0 {
		_, err = fmt.Fprintf(p.Out, "no spider has run on %s\n", redis)
	}
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(p.Out)
		}
		err = errors.Join(err, writeStatus(p.Out, s, waits[s.Spider]))
	}
	return err
}

// named is the spider that the argument names: "" for all.
func (p *program) named(c *cli.Context, l *logs) (string, scheduler.Keys, error) {
	return p.namedBy(c, l, c.Args().First())
}

// namedBy is the spider that one argument names: itself, or what the file calls itself.
func (p *program) namedBy(c *cli.Context, l *logs, arg string) (string, scheduler.Keys, error) {
	if filepath.Ext(arg) != ".lua" {
		return arg, scheduler.Keys{}, nil
	}
	src, err := p.source(c, arg)
	if err != nil {
		return "", scheduler.Keys{}, err
	}
	spider, settings, err := src.load(l)
	if err != nil {
		return "", scheduler.Keys{}, err
	}
	defer spider.Close()
	return spider.Name(), settings.Keys, nil
}

// statuses reads one spider's state, or that of all that have run.
func statuses(ctx context.Context, redis *place, name string, keys scheduler.Keys) ([]scheduler.Status, error) {
	known, err := redis.names(ctx)
	if err != nil {
		return nil, err
	}
	names := known
	if name != "" {
		names = []string{name}
	}
	all := make([]scheduler.Status, 0, len(names))
	for _, n := range names {
		fleet, err := redis.client.Fleet(ctx, n, keys)
		if err != nil {
			return nil, err
		}
		s, err := redis.client.Status(ctx, n, fleet.Keys)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(known, n) && s.Enqueued+s.Seeds+s.Items+s.InHand == 0 {
			return nil, unknownSpider(n, redis, known)
		}
		all = append(all, s)
	}
	return all, nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// accounted is where the requests that were enqueued are now.
func accounted(s scheduler.Status) int64 {
	return s.Pending + s.Delayed + s.InFlight + s.Done + s.Dead
}

// state is one word for a person.
func state(s scheduler.Status) string {
	switch {
	case s.Paused || s.Control.State == scheduler.Paused:
		return "paused"
	case s.Control.State == scheduler.Draining || s.Control.State == scheduler.Stopped:
		return string(s.Control.State)
	case s.Finished:
		return "finished"
	case len(s.Workers) > 0:
		return "running"
	case s.Pending+s.Delayed+s.InFlight+s.Seeds > 0:
		return "stopped"
	}
	return "idle"
}

// sinkDown is a sink that takes nothing at the moment, in one process.
type sinkDown struct {
	Sink   string `json:"sink"`
	Worker string `json:"worker"`
}

// sinksDown are what the processes that live say of their sinks, by spider.
func sinksDown(workers []scheduler.WorkerReport) map[string][]sinkDown {
	all := map[string][]sinkDown{}
	for _, w := range workers {
		for _, s := range w.Spiders {
			if w.Alive && s.SinkDown != "" {
				all[s.Spider] = append(all[s.Spider], sinkDown{s.SinkDown, fmt.Sprintf("%s:%d", w.Host, w.PID)})
			}
		}
	}
	return all
}

// waitsForSink is the remark on a worker or a spider whose sink takes nothing.
func waitsForSink(who, sink string) string {
	return fmt.Sprintf("%s waits for %s, which takes no items", oneLine(who, 100), oneLine(sink, 100))
}

func writeStatus(out io.Writer, s scheduler.Status, waits []sinkDown) error {
	fmt.Fprintf(out, "%s: %s\n", s.Spider, state(s))
	for _, name := range slices.Sorted(maps.Keys(s.Control.Live)) {
		fmt.Fprintf(out, "  set live: %s=%s\n", name, oneLine(s.Control.Live[name], 200))
	}
	for _, w := range waits {
		fmt.Fprintln(out, " ", waitsForSink(w.Worker, w.Sink))
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range []struct {
		name string
		n    int64
		note string
	}{
		{"enqueued", s.Enqueued, balance(s)},
		{"pending", s.Pending, slots(s.Slots)},
		{"delayed", s.Delayed, ""},
		{"in flight", s.InFlight, ""},
		{"done", s.Done, ""},
		{"dead", s.Dead, ""},
		{"seeds", s.Seeds, "waiting"},
		{"items", s.Items, inHand(s.InHand)},
		{"seen", s.Seen, "fingerprints"},
		{"dead letters", s.DeadLetters, ""},
		{"workers", int64(len(s.Workers)), strings.Join(s.Workers, " ")},
	} {
		fmt.Fprintf(t, "%s\t%s\t  %s\n", row.name, thousands(row.n), row.note)
	}
	if s.Cookies > 0 {
		fmt.Fprintf(t, "cookies\t%s\t  in all jars\n", thousands(s.Cookies))
	}
	return t.Flush()
}

func slots(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("in %s", plural(int(n), "slot"))
}

// inHand says how many items are off the list and not done; "" for none.
func inHand(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("and %s in the hands of consumers", thousands(n))
}

func balance(s scheduler.Status) string {
	if off := s.Enqueued - accounted(s); off != 0 {
		return fmt.Sprintf("does not balance: off by %s", thousands(off))
	}
	return "= pending + delayed + in flight + done + dead"
}

// report is a status as --json prints it.
type report struct {
	Spider      string           `json:"spider"`
	State       string           `json:"state"`
	Enqueued    int64            `json:"enqueued"`
	Pending     int64            `json:"pending"`
	Delayed     int64            `json:"delayed"`
	InFlight    int64            `json:"in_flight"`
	Done        int64            `json:"done"`
	Dead        int64            `json:"dead"`
	Balances    bool             `json:"balances"`
	Seeds       int64            `json:"seeds"`
	Items       int64            `json:"items"`
	ItemsInHand int64            `json:"items_in_hand"` // that consumers have taken off the list and not done
	Seen        int64            `json:"seen"`
	DeadLetters int64            `json:"dead_letters"`
	Cookies     int64            `json:"cookies"`
	Slots       int64            `json:"slots"`
	Epoch       int64            `json:"epoch"`
	Workers     []string         `json:"workers"`
	Stats       map[string]int64 `json:"stats"`

	Control scheduler.State   `json:"control"` // what people have told it: running, paused, draining or stopped
	Live    map[string]string `json:"live"`    // settings that are set live

	SinksDown []sinkDown `json:"sinks_down"` // that take nothing at the moment: pages wait for them
}

func reports(all []scheduler.Status, waits map[string][]sinkDown) []report {
	list := make([]report, 0, len(all))
	for _, s := range all {
		list = append(list, report{
			Spider: s.Spider, State: state(s), Enqueued: s.Enqueued, Pending: s.Pending, Delayed: s.Delayed, InFlight: s.InFlight,
			Done: s.Done, Dead: s.Dead, Balances: s.Enqueued == accounted(s), Seeds: s.Seeds, Items: s.Items, ItemsInHand: s.InHand, Seen: s.Seen,
			DeadLetters: s.DeadLetters, Cookies: s.Cookies, Slots: s.Slots, Epoch: s.Epoch,
			Workers: append([]string{}, s.Workers...), Stats: s.Stats, Control: s.Control.State, Live: s.Control.Live,
			SinksDown: append([]sinkDown{}, waits[s.Spider]...),
		})
	}
	return list
}
