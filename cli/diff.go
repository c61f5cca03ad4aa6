package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aymanbagabas/go-udiff"
	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const diffHelp = `Each side is a revision (4 or more digits), a spider of the fleet (its current revision), or a file on disk as a push would
take it. With one side, the other is what the fleet runs of that spider.

Exit codes: 0 they are the same, 1 they differ or it failed, 2 wrong usage.

Examples:

  luacrawl diff spiders/hotnews.lua          what a push would change
  luacrawl diff 3f9c2a 77b01e
  luacrawl diff 3f9c2a hotnews`

func (p *program) diffCommand() *cli.Command {
	return &cli.Command{
		Name:        "diff",
		Usage:       "show what differs between two revisions",
		UsageText:   "luacrawl diff REV [REV] [OPTION...]",
		Description: diffHelp,
		Flags:       append(registryFlags(), jsonFlag()),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 && c.NArg() != 2 {
				return usagef("diff takes one or two revisions, spiders of the fleet, or files")
			}
			return p.onFleet(c, func(ctx context.Context, f *fleet) error {
				before, after, err := f.sides(ctx, c.Args().Slice())
				if err != nil {
					return err
				}
				return p.diff(before, after, c.Bool("json"))
			})
		},
	}
}

// sides are the two revisions to compare, the older first as far as the arguments tell.
func (f *fleet) sides(ctx context.Context, args []string) (before, after *scheduler.Revision, err error) {
	if after, err = f.revision(ctx, args[len(args)-1], ""); err != nil {
		return nil, nil, err
	}
	first := after.Spider
	if len(args) == 2 {
		first = args[0]
	}
	before, err = f.revision(ctx, first, "")
	return before, after, err
}

// fileDiff is what differs in one file, as --json prints it.
type fileDiff struct {
	File   string `json:"file"`
	Change string `json:"change"` // added, removed or changed
	Diff   string `json:"diff"`   // unified
}

func (p *program) diff(before, after *scheduler.Revision, asJSON bool) error {
	list := []fileDiff{} // never null in JSON
	all := maps.Clone(before.Files)
	maps.Copy(all, after.Files)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		was, had := before.Files[name]
		is, has := after.Files[name]
		d := fileDiff{name, "changed", udiff.Unified(short(before.ID)+"/"+name, short(after.ID)+"/"+name, string(was), string(is))}
		switch {
		case had && has && d.Diff == "":
			continue
		case !had:
			d.Change = "added"
		case !has:
			d.Change = "removed"
		}
		list = append(list, d)
	}
	if asJSON {
		if err := p.printJSON(list); err != nil {
			return err
		}
	} else if err := p.writeDiffs(list); err != nil {
		return err
	}
	if len(list) > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

func (p *program) writeDiffs(list []fileDiff) error {
	for _, d := range list {
		text := d.Diff
		if text == "" { // an empty file
			text = fmt.Sprintf("%s: %s\n", d.File, d.Change)
		}
		if _, err := fmt.Fprint(p.Out, text); err != nil {
			return enough(err)
		}
	}
	return nil
}
