package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const seenHelp = `The filter of a crawl is a set of fingerprints, scrapy-redis' own: the SHA1 of method, canonical URL and body as 40 hex digits. A URL stands for
the GET request of it.

Examples:

  luacrawl seen has blog https://blog.example/2024/05/post
  luacrawl seen del blog https://blog.example/2024/05/post    so that it is fetched again
  luacrawl seen export blog > seen.txt
  luacrawl seen import spiders/blog.lua seen.txt              lines of 40 hex digits, or URLs`

func (p *program) seenCommand() *cli.Command {
	return &cli.Command{
		Name:        "seen",
		Usage:       "look into the filter of known pages, or change it",
		UsageText:   "luacrawl seen has|del|export|import SPIDER|FILE [URL...] [OPTION...]",
		Description: seenHelp,
		Subcommands: []*cli.Command{
			{
				Name: "has", Usage: "tell which URLs were seen", ArgsUsage: spiderOrFile,
				UsageText:   "luacrawl seen has SPIDER|FILE URL... [OPTION...]",
				Description: "Example:\n\n  luacrawl seen has blog https://blog.example/ --json",
				Flags:       targetFlags(jsonFlag()),
				Action:      func(c *cli.Context) error { return p.onTarget(c, where.look, p.seenHas(c)) },
			},
			{
				Name: "del", Usage: "forget URLs, so that they are fetched again when a link or a seed leads there", ArgsUsage: spiderOrFile,
				UsageText:   "luacrawl seen del SPIDER|FILE URL... [OPTION...]",
				Description: "It holds for running workers at once.\n\nExample:\n\n  luacrawl seen del blog https://blog.example/",
				Flags:       targetFlags(),
				Action:      func(c *cli.Context) error { return p.onTarget(c, where.change, p.seenDel(c)) },
			},
			{
				Name: "export", Usage: "print all fingerprints, one a line", ArgsUsage: spiderOrFile,
				UsageText:   "luacrawl seen export SPIDER|FILE [OPTION...]",
				Description: "Example:\n\n  luacrawl seen export blog > seen.txt",
				Flags:       targetFlags(jsonFlag()),
				Action:      func(c *cli.Context) error { return p.onTarget(c, where.look, p.seenExport(c)) },
			},
			{
				Name: "import", Usage: "add fingerprints and URLs from the lines of a file, or of standard input", ArgsUsage: spiderOrFile,
				UsageText:   "luacrawl seen import SPIDER|FILE [LINES|-] [OPTION...]",
				Description: "A line that is neither is named and left out; the others are added.\n\nExample:\n\n  luacrawl seen import spiders/blog.lua seen.txt",
				Flags:       targetFlags(),
				Action:      func(c *cli.Context) error { return p.onTarget(c, where.open, p.seenImport(c)) },
			},
		},
	}
}

// readFingerprint reads 40 hex digits, or a URL.
func readFingerprint(s string) (scheduler.Fingerprint, error) {
	if f, ok := scheduler.ParseFingerprint(s); ok {
		return f, nil
	}
	f, err := scheduler.FingerprintURL(s)
	if err != nil {
		return f, fmt.Errorf("%q is neither an http(s) URL nor 40 hex digits", oneLine(s, 100))
	}
	return f, nil
}

// fingerprints are those of the arguments behind the spider.
func fingerprints(c *cli.Context) (list []scheduler.Fingerprint, err error) {
	if c.NArg() < 2 {
		return nil, usagef("%s takes a spider and URLs", commandPath(c))
	}
	for _, arg := range c.Args().Tail() {
		f, err := readFingerprint(arg)
		if err != nil {
			return nil, usageError(err)
		}
		list = append(list, f)
	}
	return list, nil
}

// seenURL is an answer of seen has as --json prints it.
type seenURL struct {
	URL         string `json:"url"`
	Fingerprint string `json:"fingerprint"`
	Seen        bool   `json:"seen"`
}

func (p *program) seenHas(c *cli.Context) func(context.Context, *target) error {
	return func(ctx context.Context, t *target) error {
		list, err := fingerprints(c)
		if err != nil {
			return err
		}
		has, err := t.client.Dupefilter(t.Fleet).Has(ctx, list)
		if err != nil {
			return err
		}
		out := p.listing(c.Bool("json"))
		for i, url := range c.Args().Tail() {
			word := "new"
			if has[i] {
				word = "seen"
			}
			if err = out.add(seenURL{url, list[i].String(), has[i]}, func(w io.Writer) { fmt.Fprintf(w, "%-4s  %s\n", word, url) }); err != nil {
				break
			}
		}
		return out.end(err)
	}
}

func (p *program) seenDel(c *cli.Context) func(context.Context, *target) error {
	return func(ctx context.Context, t *target) error {
		list, err := fingerprints(c)
		if err != nil {
			return err
		}
		n, err := t.client.Dupefilter(t.Fleet).Remove(ctx, list)
		if err == nil {
			t.logs.notice(fmt.Sprintf("%d of %s forgotten by %s", n, plural(len(list), "page"), t))
		}
		return err
	}
}

func (p *program) seenExport(c *cli.Context) func(context.Context, *target) error {
	return func(ctx context.Context, t *target) (err error) {
		if c.NArg() > 1 {
			return usagef("seen export takes one spider, and prints to standard output")
		}
		out, foreign := p.listing(c.Bool("json")), 0
		filter := t.client.Dupefilter(t.Fleet)
		for member, failed := range filter.All(ctx) {
			if err = failed; err != nil {
				break
			}
			if _, ok := scheduler.ParseFingerprint(member); !ok {
				foreign++
				continue
			}
			if err = out.add(member, func(w io.Writer) { fmt.Fprintln(w, member) }); err != nil {
				break
			}
		}
		if foreign > 0 {
			t.logs.notice(fmt.Sprintf("%s of %s left out: not fingerprints", plural(foreign, "member"), filter.Key()))
		}
		return out.end(err)
	}
}
