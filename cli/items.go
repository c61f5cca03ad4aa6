package cli

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"luacrawl/engine/export"
)

const itemsHelp = `Items are printed oldest first, whether Redis keeps them as a list or a stream: as they are stored, one JSON object a line, or as --format
says. What somebody has pushed that is no JSON object is passed on as it is, in one line (as a JSON string if it has several, and with --json
if it is no JSON at all); other formats, --fields and --where leave it out and say so. A terminal gets blanks for control characters.

--where takes FIELD, an operator and a value: = != ~ !~ (a regular expression) > >= < <=. Of two numbers the values are compared, of other
things the texts, so 'seen>2026-11' works. A field that is not there, or null, is the empty text. With several all must hold.
--offset and --tail count items as they are stored, --limit those that are printed. The columns of csv are --fields, else those that
the file of the spider declares in spider.items, else all fields of the items there are.
--follow goes on as items come, until it is interrupted. It counts on a list only growing: with another program that takes items out
of it, some may pass unseen. "luacrawl items consume" takes them out; --count also tells what consumers have in their hands.

Examples:

  luacrawl items blog > posts.jsonl
  luacrawl items blog --tail 10 --follow
  luacrawl items blog --where 'price>100' --where 'title~(?i)lamp' --fields title,price --output lamps.csv.gz
  luacrawl items spiders/blog.lua --count --redis redis://10.0.0.5:6379/0
  luacrawl items consume blog --follow -- ./load.sh`

func (p *program) itemsCommand() *cli.Command {
	return &cli.Command{
		Name:        "items",
		Usage:       "print, export or consume the items of a crawl",
		UsageText:   "luacrawl items SPIDER|FILE [OPTION...]\n   luacrawl items consume SPIDER|FILE [OPTION...] [-- COMMAND [ARGUMENT...]]",
		ArgsUsage:   spiderOrFile,
		Description: itemsHelp,
		Subcommands: []*cli.Command{p.consumeCommand()},
		Flags: targetFlags(
			&cli.BoolFlag{Name: "count", Usage: "print only how many there are", DisableDefaultText: true},
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on as items come", DisableDefaultText: true},
			&cli.StringSliceFlag{Name: "where", Usage: "only items that fulfil a `CONDITION`: title=x, title!=x, title~REGEXP, price>10 (repeatable)"},
			&cli.StringFlag{Name: "fields", Usage: "only these fields, in this order, as `NAME,NAME...`"},
			&cli.StringFlag{Name: "format", Usage: "`FORMAT`: jsonl, json (one array) or csv; without it by the ending of --output, else jsonl"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to a `FILE`, which has its name when it is whole; .gz and .zst are compressed"},
			&cli.Int64Flag{Name: "limit", Usage: "at most `N` items"},
			&cli.Int64Flag{Name: "offset", Usage: "leave out the `N` first items"},
			&cli.Int64Flag{Name: "tail", Usage: "begin with the `N` last items"},
			jsonFlag(),
		),
		Action: func(c *cli.Context) error {
			s, err := newSelection(c)
			if err != nil {
				return err
			}
			return p.onTarget(c, where.look, func(ctx context.Context, t *target) error { return p.items(ctx, c, t, s) })
		},
	}
}

// newSelection reads and checks the flags of items.
func newSelection(c *cli.Context) (*itemSelection, error) {
	for _, name := range []string{"limit", "tail", "offset"} {
		if c.IsSet(name) && c.Int64(name) < 1 {
			return nil, usagef("--%s %d: it is 1 or more", name, c.Int64(name))
		}
	}
	format := c.String("format")
	switch {
	case c.NArg() > 1:
		return nil, usagef("items takes one spider")
	case c.IsSet("tail") && c.IsSet("offset"):
		return nil, usagef("--tail and --offset both say where to begin: give one of them")
	case c.IsSet("format") && !slices.Contains([]string{"jsonl", "json", "csv"}, format):
		return nil, usagef("--format %q: it is jsonl, json or csv", format)
	case c.Bool("json") && c.IsSet("format") && format != "jsonl":
		return nil, usagef("--json prints one JSON object a line, and --format %s something else: give one of them", format)
	}
	if c.Bool("count") {
		for _, name := range []string{"follow", "format", "output", "fields"} {
			if c.IsSet(name) {
				return nil, usagef("--count prints a number and goes without --%s", name)
			}
		}
	}
	conditions, err := parseConditions(c.StringSlice("where"))
	if err != nil {
		return nil, err
	}
	s := &itemSelection{conditions: conditions, tail: c.Int64("tail"), offset: c.Int64("offset"), most: math.MaxInt64}
	if limit := c.Int64("limit"); limit > 0 {
		s.most = limit
	}
	return s, nil
}

func (p *program) items(ctx context.Context, c *cli.Context, t *target, s *itemSelection) error {
	s.target, s.reader = t, t.client.ReadItems(t.Fleet)
	if c.Bool("count") {
		return p.countItems(ctx, s, c.Bool("json"))
	}
	config, err := p.itemsConfig(c, t)
	if err != nil {
		return err
	}
	out, err := openItemFile(c.String("output"), onTerminal(p.Out))
	if err != nil {
		return err
	}
	encoder, err := export.NewEncoder(out, config)
	if err != nil {
		return out.close(usageError(err))
	}
	w := &itemWriter{selection: s, encoder: encoder, raw: encoder.Format() == "jsonl" && len(config.Fields) == 0, json: c.Bool("json")}
	err = w.all(ctx, c.Bool("follow"))
	stopped := ctx.Err() != nil && c.Bool("follow") // which is how it ends
	if err == nil || stopped {
		err = encoder.Close()
		s.told()
	}
	if err = out.close(err); err == nil && stopped {
		return ctx.Err()
	}
	return enough(err)
}

func (p *program) countItems(ctx context.Context, s *itemSelection, asJSON bool) error {
	n, err := s.count(ctx)
	if err != nil {
		return err
	}
	held, err := s.client.Status(ctx, s.Spider, s.Keys)
	switch {
	case err != nil:
		return err
	case asJSON:
		return p.printJSON(map[string]any{"spider": s.Spider, "items": n, "items_in_hand": held.InHand})
	}
	if held.InHand > 0 {
		s.logs.notice(fmt.Sprintf("%s more in the hands of consumers; what killed ones held goes to the next one", plural(int(held.InHand), "item")))
	}
	_, err = fmt.Fprintln(p.Out, n)
	return err
}

// itemsConfig is how the output looks.
func (p *program) itemsConfig(c *cli.Context, t *target) (export.FeedConfig, error) {
	config := export.FeedConfig{URI: c.String("output"), Format: c.String("format"), Log: t.logs.Logger}
	if c.Bool("json") {
		config.Format = "jsonl"
	}
	if c.IsSet("fields") {
		for name := range strings.SplitSeq(c.String("fields"), ",") {
			if name = strings.TrimSpace(name); name == "" {
				return config, usagef("--fields %q: it is names with commas between them", c.String("fields"))
			}
			if slices.Contains(config.Fields, export.FeedField{Name: name}) {
				return config, usagef("--fields: %s is there twice", name)
			}
			config.Fields = append(config.Fields, export.FeedField{Name: name})
		}
	}
	file := c.Args().First()
	if filepath.Ext(file) != ".lua" || len(config.Fields) > 0 {
		return config, nil
	}
	src, err := p.source(c, file)
	if err != nil {
		return config, err
	}
	spider, _, err := src.load(t.logs)
	if err != nil {
		return config, err
	}
	defer spider.Close()
	schemas := spider.Schemas()
	for _, kind := range slices.Sorted(maps.Keys(schemas)) {
		config.Schemas = append(config.Schemas, schemas[kind])
	}
	return config, nil
}
