package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const showHelp = `A revision is named by its first 4 or more digits, or by a spider of the fleet, whose current one it is then.

Examples:

  luacrawl show hotnews
  luacrawl show 3f9c2a                       that revision
  luacrawl show hotnews --file hotnews.lua   one of its files`

func (p *program) showCommand() *cli.Command {
	return &cli.Command{
		Name:        "show",
		Usage:       "show a revision of a spider: who pushed it, when, and its files",
		UsageText:   "luacrawl show SPIDER|REV [OPTION...]",
		Description: showHelp,
		Flags:       append(registryFlags(), &cli.StringFlag{Name: "file", Usage: "print the content of `FILE`"}, jsonFlag()),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usagef("show takes a spider of the fleet or a revision")
			}
			return p.onFleet(c, func(ctx context.Context, f *fleet) error {
				r, err := f.revision(ctx, c.Args().First(), "")
				if err != nil {
					return err
				}
				return p.show(r, c.String("file"), c.Bool("json"))
			})
		},
	}
}

// shownRevision is a revision as --json prints it.
type shownRevision struct {
	Spider   string         `json:"spider"`
	Revision string         `json:"revision"`
	Main     string         `json:"main"`
	Author   string         `json:"author"`
	Message  string         `json:"message"`
	Time     time.Time      `json:"time"`
	Tool     string         `json:"tool"`
	Files    map[string]int `json:"files"` // sizes in bytes
}

func (p *program) show(r *scheduler.Revision, file string, asJSON bool) error {
	if file != "" {
		text, ok := r.Files[file]
		if !ok {
			return usagef("revision %s of %s has no file %s; it has %q", short(r.ID), r.Spider, file, slices.Sorted(maps.Keys(r.Files)))
		}
		_, err := p.Out.Write(text)
		return enough(err)
	}
	s := shownRevision{r.Spider, r.ID, r.Main, r.Author, r.Message, r.Time, r.Tool, map[string]int{}}
	for name, text := range r.Files {
		s.Files[name] = len(text)
	}
	if asJSON {
		return p.printJSON(s)
	}
	t := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "spider\t%s\nrevision\t%s\npushed\t%s by %s, luacrawl %s\n", s.Spider, s.Revision, s.Time.Local().Format(time.DateTime), s.Author, s.Tool)
	if s.Message != "" {
		fmt.Fprintf(t, "message\t%s\n", oneLine(s.Message, 500))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		mark := ""
		if name == s.Main {
			mark = " (main)"
		}
		fmt.Fprintf(t, "file\t%s, %s bytes%s\n", name, thousands(int64(s.Files[name])), mark)
	}
	return enough(t.Flush())
}
