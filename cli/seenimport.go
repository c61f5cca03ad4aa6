package cli

import (
	"context"
	"fmt"
	"iter"
	"os"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const (
	importBatch = 1000 // fingerprints that go to Redis at a time
	namedLines  = 10   // bad lines that are named; the rest is counted
)

func (p *program) seenImport(c *cli.Context) func(context.Context, *target) error {
	return func(ctx context.Context, t *target) error {
		if c.NArg() > 2 {
			return usagef("seen import takes a spider and one file of lines, or - for standard input")
		}
		name, lines := "standard input", linesOf(p.In, "standard input")
		if file := c.Args().Get(1); file != "" && file != "-" {
			f, err := os.Open(file)
			if err != nil {
				return usageError(err)
			}
			defer f.Close()
			name, lines = file, linesOf(f, file)
		}
		i := &seenImporter{target: t, name: name, filter: t.client.Dupefilter(t.Fleet)}
		err := i.run(ctx, lines)
		t.logs.notice(fmt.Sprintf("%s to %s, %s known before", plural(int(i.added), "fingerprint"), t, thousands(i.read-i.added)))
		if err == nil && i.bad > 0 {
			err = fmt.Errorf("%s of %s left out: neither an http(s) URL nor 40 hex digits", plural(i.bad, "line"), name)
		}
		return err
	}
}

// seenImporter adds lines to a filter.
type seenImporter struct {
	*target
	name   string
	filter *scheduler.Dupefilter
	batch  []scheduler.Fingerprint

	read, added int64 // of good lines
	bad         int
}

func (i *seenImporter) run(ctx context.Context, lines iter.Seq2[line, error]) error {
	for l, err := range lines {
		if err != nil {
			return firstError(i.send(ctx), err)
		}
		f, err := readFingerprint(string(l.text))
		if err != nil {
			i.refuse(l, err)
			continue
		}
		if i.batch = append(i.batch, f); len(i.batch) == importBatch {
			if err := i.send(ctx); err != nil {
				return err
			}
		}
	}
	return i.send(ctx)
}

func (i *seenImporter) send(ctx context.Context) error {
	n, err := i.filter.Add(ctx, i.batch)
	if err == nil {
		i.read, i.added = i.read+int64(len(i.batch)), i.added+n
	}
	i.batch = i.batch[:0]
	return err
}

func (i *seenImporter) refuse(l line, err error) {
	if i.bad++; i.bad <= namedLines {
		i.logs.Warn(fmt.Sprintf("%s, line %d: %v", i.name, l.number, err))
	}
}
